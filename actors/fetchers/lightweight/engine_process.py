"""Runs the engine's program in its sandbox: whether this machine can, and one process from its start to its end."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio import CancelScope, CapacityLimiter, Event
from msgspec import Struct

from actors.fetchers import sandbox, system_calls
from actors.fetchers.lightweight.cdp import MAX_MESSAGE_BYTES
from actors.settings import Settings
from protocol.replicas import Absence

PACKAGE: Final = "lightpanda"
"""The optional extra `light` installs it; the program lies inside."""

WATCHDOG_MS: Final = 2_000
"""How long a page's scripts may keep the engine busy; then it closes that page's connection."""

HEAP_MB: Final = 128
MAX_CONNECTIONS: Final = 16

START_SECONDS: Final = 10.0
"""A start takes 60 ms; on a machine that is busy with much else it may take seconds."""

OPTIONS: Final = (
    *("--disable-metrics", "--log-level", "fatal"),
    *("--watchdog-ms", str(WATCHDOG_MS), "--v8-max-heap-mb", str(HEAP_MB)),
    *("--cdp-max-message-size", str(MAX_MESSAGE_BYTES), "--cdp-max-connections", str(MAX_CONNECTIONS)),
    *("--load-resources", "worker", "--load-resources", "iframe", "--load-resources", "stylesheet"),
)

_TRY_SECONDS: Final = 10.0
_POLL_SECONDS = 0.002
_SOCKET = "s"
_PREFIX: Final = "weft-light-"
_SHORT: Final = 80
"""The path of a socket has room for 108 bytes."""

_YOUNG_SECONDS: Final = 60.0
"""By then, whoever made a folder has locked it."""


class StartError(Exception):
    """No process of the engine could be started: why, for the log."""


class SandboxLayer(Struct, frozen=True, kw_only=True):
    """A layer of the sandbox, and whether this machine has it; `detail` is for people."""

    name: str
    present: bool
    detail: str


def _requirement() -> str:
    """Return the package in the version that was tried, as pip is told it."""
    required = metadata.requires("weft") or []
    return next((one.partition(";")[0].strip() for one in required if one.startswith(PACKAGE)), PACKAGE)


def unavailability(settings: Settings) -> Absence | None:
    """Return why the engine cannot work here, if it cannot; runs its program once, so it takes some 50 ms."""
    if sys.platform != "linux":
        return Absence(reason="The sandbox of the light engine needs Linux.")
    program = find_program()
    if program is None:
        cure = f"In a checkout ./scripts/run installs it; where pipx did: pipx inject weft {_requirement()}"
        return Absence(reason=f"The package {PACKAGE} is not installed.", cure=cure)
    lacking = [layer.detail for layer in sandbox_layers() if not layer.present]
    if lacking and not settings.light_without_walls:
        return Absence(
            reason=f"The sandbox lacks a wall: {'; '.join(lacking)}.",
            cure="Run on Linux 5.13 or later with Landlock and seccomp, or accept pages without that wall: "
            "light_without_walls = true.",
        )
    why = _trial(program, lenient=settings.light_without_walls)
    if why is None:
        return None
    return Absence(
        reason=f"The program of {PACKAGE} does not run in its sandbox: {why}.",
        cure="It needs glibc 2.35 or later, and where Weft runs as root, the right to become another user.",
    )


@cache
def find_program() -> Path | None:
    """Return the path of the program, without importing its package."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        program = Path(folder) / PACKAGE
        if os.access(program, os.X_OK):
            return program
    return None


def sandbox_layers() -> tuple[SandboxLayer, ...]:
    """Return the layers of the sandbox, and which of them this kernel has."""
    version = sandbox.landlock_version()
    filters = system_calls.available()
    return (
        SandboxLayer(
            name="landlock",
            present=version > 0,
            detail=f"Landlock, version {version}" if version else "the kernel has no Landlock",
        ),
        SandboxLayer(
            name="seccomp",
            present=filters,
            detail="seccomp filters" if filters else "the kernel does not filter system calls on this machine",
        ),
    )


class EngineProcess:
    """One process, which lives while `serve` runs in a task."""

    def __init__(self, program: Path, *, lenient: bool) -> None:
        """Start nothing."""
        self.ended = Event()
        self._program = program
        self._lenient = lenient
        self._folder: Folder | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False

    @property
    def pid(self) -> int:
        """Its number; 0 before it is started."""
        return self._process.pid if self._process else 0

    @property
    def socket(self) -> Path:
        """The socket that it listens on."""
        if self._folder is None:
            raise StartError("not started")
        return self._folder.path / _SOCKET

    @property
    def resident_bytes(self) -> int:
        """The bytes that it holds in memory; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()
        except OSError:
            return 0
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def cpu_s(self) -> float:
        """The seconds that it has computed; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def give_way(self) -> None:
        """Let it compute when nobody else does: all its threads, which are a group of their own."""
        with suppress(OSError):
            os.setpriority(os.PRIO_PGRP, self.pid, _LOW_PRIORITY)

    async def serve(self, ready: Event) -> None:
        """Start it, set `ready` when it listens, and return when it has ended; being cancelled ends it.

        Raises:
            StartError: if it never listened.
        """
        try:
            await self._answer(self._launch())
            ready.set()
            await anyio.to_thread.run_sync(_await_end, self.pid, limiter=_one(), abandon_on_cancel=True)
        except OSError as error:
            raise StartError(str(error)) from error
        finally:
            self.kill()
            self._over = True
            with CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._clear, limiter=_one())
            self.ended.set()

    def kill(self) -> None:
        """End it at once, whatever it does, without waiting: its number stays its own until it is reaped."""
        if self._process is not None and not self._over:
            os.kill(self.pid, signal.SIGKILL)

    def _launch(self) -> int:
        """Start the launcher and return the descriptor on which it reports.

        In the thread of the event loop, for the process dies with the thread that made it.
        """
        self._folder = Folder()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        program = str(self._program)
        order = sandbox.LaunchOrder(
            folder=str(self._folder.path),
            parent=os.getpid(),
            report=writing,
            lenient=self._lenient,
            program=program,
        )
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own launcher and the program of a package that we name
                sandbox.arguments(order, ("serve", "--unix-socket", f"{sandbox.HOME}/{_SOCKET}", *OPTIONS)),
                pass_fds=(writing,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # a file that grows to the limit would end the process
                env={},
                start_new_session=True,  # an interrupt of the terminal is not for it
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return reading

    async def _answer(self, report: int) -> None:
        try:
            with anyio.fail_after(START_SECONDS):
                await anyio.wait_readable(report)
                if why := os.read(report, 1000):
                    raise StartError(why.decode(errors="replace"))
                while not listens(self.socket):
                    if _has_ended(self.pid):
                        raise StartError("it ended at once")
                    await anyio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise StartError(f"it did not listen within {START_SECONDS:.0f} s") from error
        finally:
            os.close(report)

    def _clear(self) -> None:
        if self._process is not None:
            self._process.wait()
        if self._folder is not None:
            self._folder.remove()


_LOW_PRIORITY = 15
"""As nice(2) counts: a thirtieth of what others get, where they want it."""


class Folder:
    """The private folder of a process, locked while its maker lives."""

    def __init__(self) -> None:
        """Create it; only this user gets in."""
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove it with all that is in it; a second time does nothing."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove the folders of replicas that were killed."""
    for path in _parent().glob(f"{_PREFIX}*"):
        try:
            _remove_if_deserted(path)
        except OSError:  # another user's, or another replica removes it just now
            continue


def listens(path: Path) -> bool:
    """Return whether somebody listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(0)
        return probe.connect_ex(str(path)) == 0


def _trial(program: Path, *, lenient: bool) -> str | None:
    """Run the program for its version in the sandbox; return why that failed, if it did."""
    with tempfile.TemporaryDirectory(prefix="weft-light-") as folder:
        reading, writing = os.pipe()
        try:
            order = sandbox.LaunchOrder(
                folder=folder,
                parent=os.getpid(),
                report=writing,
                lenient=lenient,
                program=str(program),
            )
            result = subprocess.run(  # noqa: S603 - our own launcher and the program of a package that we name
                sandbox.arguments(order, ("version",)),
                pass_fds=(writing,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                timeout=_TRY_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            os.close(writing)
            why = _report(reading)
        return why or (f"it ended with {result.returncode}" if result.returncode else None)


def _report(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as pipe:
        return pipe.read(1000).decode(errors="replace")


def _await_end(pid: int) -> None:
    with suppress(ChildProcessError):  # abandoned, and reaped meanwhile
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie, so that its number stays its own


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _one() -> CapacityLimiter:
    return CapacityLimiter(1)  # a wait for an end must never wait for a thread


def _remove_if_deserted(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if time.time() - os.fstat(descriptor).st_mtime > _YOUNG_SECONDS:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _parent() -> Path:
    usual = tempfile.gettempdir()
    return Path(usual if len(usual) <= _SHORT else "/tmp")  # noqa: S108 - mkdtemp makes a folder of our own there
