"""What a running system leaves in its data folder, so that the command line finds it and a second one keeps out."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.faults import Code, FaultError, fault

FOLDER_CLOSED = "data_folder_closed"


class Ready(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a system that serves is to be found; `key_file` holds the API key."""

    rest: str
    mcp: str
    nats: str
    key_file: str
    pid: int


def ready_path(data_dir: Path) -> Path:
    """Return the file that exists while a system of this data folder serves."""
    return data_dir / "run" / "ready.json"


def read_ready(data_dir: Path) -> Ready | None:
    """Return the system that runs in this data folder, if its process lives."""
    try:
        ready = msgspec.json.decode(ready_path(data_dir).read_bytes(), type=Ready)
    except (OSError, msgspec.MsgspecError):
        return None
    return ready if _lives(ready.pid) else None


def write_ready(path: Path, ready: Ready) -> None:
    """Write the file whole or not at all.

    Raises:
        FaultError: CONFIG_INVALID, when there is no room, or it may not be written.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(ready)) + b"\n")
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        message = f"{path} cannot be written ({error.strerror}); make room on that disk, or choose another place"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="data_dir")) from None


@contextmanager
def claimed(data_dir: Path) -> Generator[Path]:
    """Hold the data folder for one system; yields its run folder, and removes the ready file in the end.

    Raises:
        FaultError: CONFIG_INVALID, when another system holds it or it cannot be written.
    """
    folder = data_dir / "run"
    try:
        data_dir.parent.mkdir(parents=True, exist_ok=True)
        for each in (data_dir, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        for each in (data_dir, folder):
            _close_to_others(each)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        message = f"data_dir: {data_dir} cannot be written ({error.strerror}); choose another with --data-dir"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="data_dir")) from None
    try:
        if not _locked(lock):
            message = f"data_dir: a Weft already runs in {data_dir}; stop it, or choose another folder with --data-dir"
            raise FaultError(fault(Code.CONFIG_INVALID, message, field="data_dir"))
        ready_path(data_dir).unlink(missing_ok=True)
        try:
            yield folder
        finally:
            ready_path(data_dir).unlink(missing_ok=True)
    finally:
        os.close(lock)


def _close_to_others(folder: Path) -> None:
    """Leave a folder to its owner alone.

    Raises:
        FaultError: CONFIG_INVALID for one that others may write to, and that is not ours to close.
    """
    mode = folder.stat().st_mode
    if os.name != "posix" or not mode & 0o077:
        return
    if mode & stat.S_ISVTX:
        message = f"data_dir: {folder} is a folder for everybody; choose one of your own with --data-dir"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field="data_dir"))
    try:
        folder.chmod(0o700)
    except PermissionError:
        if mode & stat.S_IWOTH:
            message = f"data_dir: others may write to {folder}, which is not yours: have its owner close it (chmod o-w)"
            raise FaultError(fault(Code.CONFIG_INVALID, message, field="data_dir")) from None
    else:
        import structlog  # noqa: PLC0415 - every command of the command line would wait for it

        with suppress(OSError):  # nobody reads what is printed
            structlog.stdlib.get_logger().warning(FOLDER_CLOSED, folder=str(folder), mode=oct(stat.S_IMODE(mode)))


def _locked(lock: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # signal 0 is no question there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
