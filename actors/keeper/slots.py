"""The file that a replica keeps its database in: its own, as long as it lives."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex

import anyio
from anyio import to_thread

MAX_SLOTS = 1_000


@asynccontextmanager
async def claimed(folder: Path) -> AsyncGenerator[Path]:
    """Hold the first file of the folder that no other replica holds, as long as the block lasts.

    Raises:
        OSError: the folder cannot be written, or has no file to spare.
    """
    path, lock = await to_thread.run_sync(_claim, folder)
    try:
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_let_go, path, lock)


def removed(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _claim(folder: Path) -> tuple[Path, int]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return folder / f"keeper-{token_hex(8)}.sqlite", -1  # nothing tells which of the others are still in use
    for number in range(MAX_SLOTS):
        lock = os.open(folder / f"keeper-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _locked(lock):
            return folder / f"keeper-{number}.sqlite", lock
        os.close(lock)
    raise OSError(f"all {MAX_SLOTS} databases of {folder} are in use")


def _locked(lock: int) -> bool:
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go(path: Path, lock: int) -> None:
    if lock == -1:
        removed(path)
        return
    os.close(lock)
