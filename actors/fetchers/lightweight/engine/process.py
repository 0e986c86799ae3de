"""Holds one process of the engine inside its walls, from its start to its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from anyio import CancelScope, CapacityLimiter, Event

from actors.fetchers.lightweight.engine import jail
from actors.fetchers.lightweight.engine.cdp import MAX_MESSAGE_BYTES
from actors.fetchers.lightweight.engine.folders import Folder

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

_POLL_SECONDS = 0.002
_SOCKET = "s"


class StartError(Exception):
    """No process of the engine could be started: why, for the log."""


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
        """Return its number; 0 before it is started."""
        return self._process.pid if self._process else 0

    @property
    def socket(self) -> Path:
        """Name the socket that it listens on."""
        if self._folder is None:
            raise StartError("not started")
        return self._folder.path / _SOCKET

    @property
    def resident_bytes(self) -> int:
        """Return what it holds in memory; 0 when it has ended."""
        try:
            fields = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()
        except OSError:
            return 0
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

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
        """Start the launcher and give the descriptor on which it reports.

        In the thread of the event loop, for the process dies with the thread that made it.
        """
        self._folder = Folder()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        program = str(self._program)
        order = jail.Order(
            folder=str(self._folder.path),
            parent=os.getpid(),
            report=writing,
            lenient=self._lenient,
            program=program,
        )
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own launcher and the program of a package that we name
                jail.arguments(order, ("serve", "--unix-socket", f"{jail.HOME}/{_SOCKET}", *OPTIONS)),
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


def _await_end(pid: int) -> None:
    with suppress(ChildProcessError):  # abandoned, and reaped meanwhile
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie, so that its number stays its own


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def listens(path: Path) -> bool:
    """Return whether somebody listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(0)
        return probe.connect_ex(str(path)) == 0


def _one() -> CapacityLimiter:
    return CapacityLimiter(1)  # a wait for an end must never wait for a thread
