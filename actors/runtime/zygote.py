"""The zygote: a small process without loop or threads that starts all others and reports their deaths.

It is forked from the launcher when everything is imported, so an actor process costs a fork and shares its memory.
It obeys one socket; when that closes, the launcher is gone, and it ends whatever it has started.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import NoReturn

import msgspec
from msgspec import Struct

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15

COMMAND_BYTES = 65_536
DESCRIPTORS_AT_ONCE = 32

ORPHAN_GRACE_S = 5.0
"""What the processes get to finish once the launcher is gone, before they are killed; then again, to be buried."""

ReplicaMain = Callable[[bytes, int | None], int]
"""Lives as the replica of a spec, with the listening socket of that number if any; returns the exit status."""


class StartCommand(Struct, frozen=True, kw_only=True, tag="start"):
    """Start a program, or (without `argv`) an actor replica.

    Beside the command of a replica travels a pipe with its spec, so that no secret of it passes through this process
    and whatever is forked from it later; with `listens` also the socket that it accepts from.
    """

    number: int
    name: str
    argv: tuple[str, ...] = ()
    listens: bool = False


class SignalCommand(Struct, frozen=True, kw_only=True, tag="signal"):
    """Send a signal to what was started under that number."""

    number: int
    signal: int


class StartedReport(Struct, frozen=True, kw_only=True, tag="started"):
    """It runs, as this process."""

    number: int
    pid: int


class EndedReport(Struct, frozen=True, kw_only=True, tag="ended"):
    """It has ended, or could not be started: an exit status, or minus the signal."""

    number: int
    status: int


Command = StartCommand | SignalCommand
Report = StartedReport | EndedReport

_read = msgspec.json.Decoder(Command).decode
_write = msgspec.json.Encoder().encode


def run(control: socket.socket, replica_main: ReplicaMain, *, fork: bool) -> NoReturn:
    """Obey `control` until it closes, then end everything and exit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    name_process("weft:zygote")
    zygote = Zygote(control, replica_main, fork=fork)
    status = 1
    try:
        zygote.obey()
        status = 0
    except BaseException:
        traceback.print_exc()  # os._exit would keep it to itself
        raise
    finally:
        zygote.end_all()
        os._exit(status)


class Zygote:
    """Starts processes and knows which of them live."""

    def __init__(self, control: socket.socket, replica_main: ReplicaMain, *, fork: bool) -> None:
        """Obey `control`; an actor replica is a fork that runs `replica_main`, or a new interpreter."""
        self._control = control
        self._main = replica_main
        self._fork = fork
        self._numbers: dict[int, int] = {}
        self._descriptors: deque[int] = deque()
        self._buffer = b""
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._waker, False)
        signal.signal(signal.SIGCHLD, _ignored)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)

    def obey(self) -> None:
        """Do what is asked until the launcher is gone."""
        control = self._control.fileno()
        while True:
            readable, _, _ = select.select([control, self._wake], [], [])
            if self._wake in readable:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, COMMAND_BYTES)
                self._bury()
            if control in readable and not self._obey_commands():
                return

    def end_all(self) -> None:
        """Ask everything to stop, wait a little, and kill what is left."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._numbers:
                os.kill(pid, sent)  # until it is buried, it is at least a zombie
            ends = time.monotonic() + ORPHAN_GRACE_S
            while self._numbers and time.monotonic() < ends:
                self._bury()
                time.sleep(0.01)

    def _obey_commands(self) -> bool:
        """Obey the commands that the launcher has just sent; False when it is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, COMMAND_BYTES, DESCRIPTORS_AT_ONCE)
        self._descriptors += descriptors
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._do(_read(line))
        return bool(data)

    def _do(self, command: Command) -> None:
        if isinstance(command, SignalCommand):
            for pid, number in self._numbers.items():
                if number == command.number:
                    os.kill(pid, command.signal)
            return
        spec = None if command.argv else self._descriptors.popleft()
        listener = self._descriptors.popleft() if command.listens else None
        try:
            pid = start_program(command.argv).pid if spec is None else self._replica(command, spec, listener)
        except OSError as error:
            self._report(EndedReport(number=command.number, status=error.errno or 1))
            return
        finally:
            for one in (spec, listener):
                if one is not None:
                    os.close(one)  # whoever holds the listener keeps the port open
        self._numbers[pid] = command.number
        self._report(StartedReport(number=command.number, pid=pid))

    def _replica(self, command: StartCommand, spec: int, listener: int | None) -> int:
        return self._forked(command, spec, listener) if self._fork else _spawned(spec, listener)

    def _forked(self, command: StartCommand, spec: int, listener: int | None) -> int:
        zygote = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            self._forget()
            die_with(zygote)
            name_process(f"weft:{command.name}")
            with os.fdopen(spec, "rb") as pipe:
                payload = pipe.read()
            status = self._main(payload, listener)
        except BaseException:
            traceback.print_exc()  # os._exit would keep it to itself
            raise
        finally:
            os._exit(status)

    def _forget(self) -> None:
        """Be an ordinary process again, in the fork."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._control.close()
        os.close(self._wake)
        os.close(self._waker)
        for other in self._descriptors:
            os.close(other)  # the specs of others

    def _bury(self) -> None:
        while self._numbers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._report(EndedReport(number=self._numbers.pop(pid), status=os.waitstatus_to_exitcode(status)))

    def _report(self, report: Report) -> None:
        with contextlib.suppress(OSError):
            self._control.sendall(_write(report) + b"\n")


def _ignored(_number: int, _frame: object) -> None:
    """Let a signal do no more than write to the wake-up pipe."""


def _spawned(spec: int, listener: int | None) -> int:
    """Start a new interpreter that reads its spec from its standard input."""
    fds = () if listener is None else (listener,)
    # -P: not from the folder we happen to be in
    argv = [sys.executable, "-P", "-m", "actors.runtime.replica", *map(str, fds)]
    return start_program(argv, stdin=spec, pass_fds=fds).pid


def start_program(
    argv: Sequence[str], *, stdin: int = subprocess.DEVNULL, pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a program that ends with this process and does not hear the terminal's Ctrl-C."""
    prepare = None if sys.platform == "win32" else _before_exec(os.getpid())
    return subprocess.Popen(argv, stdin=stdin, pass_fds=pass_fds, preexec_fn=prepare)  # noqa: S603, PLW1509 - our own argv; what it runs needs no lock


def _before_exec(parent: int) -> Callable[[], None]:
    """Return what restores the signals of a program, but for the terminal's Ctrl-C: it is stopped in order."""
    _libc()  # nothing may be loaded between fork and exec

    def prepare() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        die_with(parent)

    return prepare


def die_with(parent: int) -> None:
    """Have the kernel end this process with `parent` (Linux; elsewhere the zygote does what it can)."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # it was gone before we asked


def name_process(name: str) -> None:
    """Show `name` in ps and top (Linux; 15 characters)."""
    if sys.platform == "linux":
        _libc().prctl(PR_SET_NAME, name.encode()[:15], 0, 0, 0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
