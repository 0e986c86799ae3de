"""The two places where replicas live: processes forked by the zygote, or tasks of this one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Protocol

import anyio
import msgspec
from anyio import to_thread
from anyio.abc import TaskGroup

from actors.actor import Actor
from actors.runtime import zygote
from actors.runtime.replica import ReplicaSpec, live
from actors.runtime.withheld import Withheld, pipe_with
from protocol.faults import Code, FaultError, fault

FORK_TIMEOUT_S = 30.0


class Child(Protocol):
    """Something that was started."""

    @property
    def pid(self) -> int:
        """Its process."""
        ...

    async def ended(self) -> int:
        """Wait for its end: an exit status, or minus a signal."""
        ...

    async def stop(self) -> None:
        """Ask it to finish."""
        ...

    async def kill(self) -> None:
        """End it at once."""
        ...


class Spawner(Protocol):
    """Starts programs and replicas."""

    async def program(self, name: str, argv: tuple[str, ...]) -> Child:
        """Start a program."""
        ...

    async def replica(self, spec: ReplicaSpec, listener: socket.socket | None) -> Child:
        """Start a replica, which accepts from `listener` if it is given one."""
        ...

    def kill_all(self) -> None:
        """End everything that was started, at once and without a word."""
        ...


class ZygoteDiedError(FaultError):
    """The zygote is gone, and with it every process that it started."""


# -- processes, by the zygote --------------------------------------------------------------------------------------


@contextmanager
def zygote_process(replica_main: zygote.ReplicaMain, withheld: Withheld, *, fork: bool) -> Generator[socket.socket]:
    """Fork the zygote, and give the launcher's end of its socket; enter before any loop or thread exists.

    At the end of the block the zygote ends whatever it has started, and is waited for.
    """
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        withheld.close()
        zygote.run(theirs, replica_main, fork=fork)
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        os.waitpid(pid, 0)  # it takes 2 x ORPHAN_GRACE_S at most


@asynccontextmanager
async def processes(control: socket.socket) -> AsyncGenerator[Processes]:
    """Yield the spawner that commands the zygote over `control`."""
    control.setblocking(False)  # noqa: FBT003 - the standard library has it so
    async with anyio.create_task_group() as tasks:
        spawner = Processes(control)
        tasks.start_soon(spawner.listen)
        yield spawner
        tasks.cancel_scope.cancel()


class Processes:
    """Every child is a process of its own."""

    def __init__(self, control: socket.socket) -> None:
        """Command the zygote at the other end of `control`."""
        self._control = control
        self._children: dict[int, ChildProcess] = {}
        self._count = 0
        self._speaking = anyio.Lock()

    async def program(self, name: str, argv: tuple[str, ...]) -> ChildProcess:
        """Start a program."""
        return await self._start(zygote.StartCommand(number=self._next(), name=name, argv=argv))

    async def replica(self, spec: ReplicaSpec, listener: socket.socket | None) -> ChildProcess:
        """Start a replica."""
        command = zygote.StartCommand(number=self._next(), name=spec.actor, listens=listener is not None)
        pipe = pipe_with(msgspec.json.encode(spec, enc_hook=str))
        try:
            with listener.dup() if listener else nullcontext() as own:  # the system may close its own meanwhile
                return await self._start(command, [pipe, *([own.fileno()] if own else [])])
        finally:
            os.close(pipe)

    async def signal(self, number: int, sent: signal.Signals) -> None:
        """Signal a child, unless it has ended."""
        if number in self._children:
            await self._send(zygote.SignalCommand(number=number, signal=sent))

    def kill_all(self) -> None:
        """Have the zygote kill every child."""
        self._control.setblocking(True)  # noqa: FBT003 - the standard library has it so
        for number in self._children:
            self._control.sendall(_line(zygote.SignalCommand(number=number, signal=signal.SIGKILL)))

    async def listen(self) -> None:
        """Hear the zygote's reports until it is gone, which is an end for everything.

        Raises:
            ZygoteDiedError: it is gone.
        """
        read = msgspec.json.Decoder(zygote.Report).decode
        buffer = b""
        while data := await self._receive():
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                self._heard(read(line))
        message = "The process that starts all others was killed, and every actor with it; start Weft again"
        raise ZygoteDiedError(fault(Code.INTERNAL_ERROR, message))

    def _heard(self, report: zygote.Report) -> None:
        child = self._children[report.number]
        if isinstance(report, zygote.StartedReport):
            child.pid = report.pid
        else:
            child.status = report.status
            child.has_ended.set()
            del self._children[report.number]
        child.has_started.set()

    async def _start(self, command: zygote.StartCommand, descriptors: Sequence[int] = ()) -> ChildProcess:
        child = ChildProcess(self, command.number)
        self._children[command.number] = child
        await self._send(command, descriptors)
        with anyio.fail_after(FORK_TIMEOUT_S):
            await child.has_started.wait()
        return child

    async def _send(self, command: zygote.Command, descriptors: Sequence[int] = ()) -> None:
        """Send the zygote a command; once it is gone, `listen` raises."""
        data = memoryview(_line(command))
        async with self._speaking:
            while data:
                try:
                    if descriptors:
                        data = data[socket.send_fds(self._control, [data], descriptors) :]
                        descriptors = ()
                    else:
                        data = data[self._control.send(data) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._control)
                except ConnectionError:
                    return

    async def _receive(self) -> bytes:
        await anyio.wait_readable(self._control)
        try:
            return self._control.recv(zygote.COMMAND_BYTES)
        except ConnectionError:
            return b""

    def _next(self) -> int:
        self._count += 1
        return self._count


def _line(command: zygote.Command) -> bytes:
    return msgspec.json.encode(command) + b"\n"


class ChildProcess:
    """A process that the zygote started."""

    def __init__(self, home: Processes, number: int) -> None:
        """Be known to the zygote as `number`."""
        self._home = home
        self._number = number
        self.pid = 0
        self.status = 0
        self.has_started = anyio.Event()
        self.has_ended = anyio.Event()

    async def ended(self) -> int:
        """Wait for its end."""
        await self.has_ended.wait()
        return self.status

    async def stop(self) -> None:
        """Send SIGTERM."""
        await self._home.signal(self._number, signal.SIGTERM)

    async def kill(self) -> None:
        """Send SIGKILL."""
        await self._home.signal(self._number, signal.SIGKILL)


# -- tasks of this process -----------------------------------------------------------------------------------------


@asynccontextmanager
async def tasks(kinds: Mapping[str, type[Actor]]) -> AsyncGenerator[Tasks]:
    """Yield the spawner that runs every replica as a task of this loop; programs are still processes."""
    async with anyio.create_task_group() as group:
        spawner = Tasks(kinds, group)
        try:
            yield spawner
        finally:
            group.cancel_scope.cancel()
            spawner.kill_all()


class Tasks:
    """Every replica is a task."""

    def __init__(self, kinds: Mapping[str, type[Actor]], group: TaskGroup) -> None:
        """Run `kinds` in `group`."""
        self._kinds = kinds
        self._group = group
        self._programs: list[subprocess.Popen[bytes]] = []

    async def program(self, name: str, argv: tuple[str, ...]) -> ProgramProcess:  # noqa: ARG002 - a process of this one shows no name
        """Start a program."""
        popen = zygote.start_program(argv)
        self._programs.append(popen)
        return ProgramProcess(popen)

    async def replica(self, spec: ReplicaSpec, listener: socket.socket | None) -> ReplicaTask:
        """Start a replica."""
        child = ReplicaTask()
        self._group.start_soon(child.run, self._kinds[spec.actor], spec, listener.dup() if listener else None)
        return child

    def kill_all(self) -> None:
        """Kill the programs; the replicas end with this process."""
        for popen in self._programs:
            if popen.poll() is None:
                popen.kill()
                popen.wait()


class ReplicaTask:
    """A replica that lives in this loop."""

    def __init__(self) -> None:
        """Be ready to run."""
        self.pid = os.getpid()
        self._stop = anyio.Event()
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._status = 1

    async def run(self, kind: type[Actor], spec: ReplicaSpec, listener: socket.socket | None) -> None:
        """Live until the end."""
        try:
            with self._scope:
                self._status = await live(kind, spec, self._stop, listener)
        finally:
            self._ended.set()

    async def ended(self) -> int:
        """Wait for its end."""
        await self._ended.wait()
        return self._status

    async def stop(self) -> None:
        """Ask it to finish."""
        self._stop.set()

    async def kill(self) -> None:
        """End it at once."""
        self._scope.cancel()


class ProgramProcess:
    """A program that this process started."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        """Watch over `popen`."""
        self._popen = popen
        self.pid = popen.pid

    async def ended(self) -> int:
        """Wait for its end."""
        return await to_thread.run_sync(self._popen.wait, abandon_on_cancel=True)

    async def stop(self) -> None:
        """Send SIGTERM."""
        self._popen.terminate()

    async def kill(self) -> None:
        """Send SIGKILL."""
        self._popen.kill()
