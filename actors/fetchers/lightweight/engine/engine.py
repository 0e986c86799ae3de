"""Gives pages room in processes of the engine, and replaces the processes that pages have harmed."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import anyio
import anyio.to_thread
import structlog
from anyio import Event, get_cancelled_exc_class
from anyio.abc import TaskGroup

from actors.fetchers.lightweight.engine import binary, folders
from actors.fetchers.lightweight.engine.cdp import ClosedError, Connection, connect
from actors.fetchers.lightweight.engine.process import EngineProcess, StartError
from actors.fetchers.lightweight.engine.seats import Begin, Room, Seat, Take, choose

FULL_BYTES: Final = 250_000_000
"""A process that holds more when a page is done is replaced: what a page leaves behind is not all freed."""

IDLE_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 10.0
"""What the neighbours of a page that ended ill get to finish, before the process that may still be busy is killed."""

ENGINE_ENDED: Final = "engine_ended"
ENGINE_NOT_STARTED: Final = "engine_not_started"

_NOTICE_SECONDS = 0.25
"""By when an end is noticed: the sockets of a process close before it is gone."""

log = structlog.stdlib.get_logger(__name__)


class Choice(binary.Choice, Protocol):
    """What the operator decides."""

    @property
    def light_processes(self) -> int:
        """How many processes there may be at once."""
        ...


class Process(Protocol):
    """What the engine needs of a process: see EngineProcess."""

    ended: Event

    @property
    def pid(self) -> int: ...  # noqa: D102 - see EngineProcess
    @property
    def socket(self) -> Path: ...  # noqa: D102 - see EngineProcess
    @property
    def resident_bytes(self) -> int: ...  # noqa: D102 - see EngineProcess
    async def serve(self, ready: Event) -> None: ...  # noqa: D102 - see EngineProcess
    def kill(self) -> None: ...  # noqa: D102 - see EngineProcess


@dataclass(eq=False)
class Place:
    """Room for one page: a fresh connection in a process that only one tenant uses."""

    connection: Connection
    _seat: Seat
    _process: Process

    @property
    def alone(self) -> bool:
        """Return whether no other page was in the process at any time."""
        return not self._seat.company

    @property
    def alive(self) -> bool:
        """Return whether the process lives, as far as is known by now."""
        return not self._process.ended.is_set()

    async def outlived(self) -> bool:
        """Return whether the process lives after the connection has closed; that is known a moment later."""
        with anyio.move_on_after(_NOTICE_SECONDS):
            await self._process.ended.wait()
        return self.alive

    def ended_ill(self) -> None:
        """Have the process replaced when its other pages are done: this page may have left it busy or full."""
        self._seat.ill = True


@dataclass(eq=False)
class _Claim(Seat):
    """A page that waits for room."""

    host: _Host | None = None
    given: Event = field(default_factory=Event)


@dataclass(eq=False, kw_only=True)
class _Host(Room):
    """The room that a process gives; `ready` when it listens, or never will."""

    process: Process
    ready: Event = field(default_factory=Event)
    why: StartError | None = None
    idle_since: float = 0.0


class Engine:
    """The processes of one replica; open it by `async with`, and no process or folder is left afterwards."""

    def __init__(self, settings: Choice, make: Callable[[], Process] | None = None) -> None:
        """Start nothing: a process starts with the first page. `make` gives another kind of process."""
        self._settings = settings
        self._make = make or self._process
        self._stack = AsyncExitStack()
        self._hosts: list[_Host] = []
        self._waiting: deque[_Claim] = deque()

    async def __aenter__(self) -> Self:
        self._tasks: TaskGroup = await self._stack.enter_async_context(anyio.create_task_group())
        self._tasks.start_soon(self._end_idle)
        self._tasks.start_soon(anyio.to_thread.run_sync, folders.sweep)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._tasks.cancel_scope.cancel()
        try:
            return await self._stack.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            first, *more = group.exceptions
            if more:
                raise
            raise first from None  # the task group here is nobody's concern

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the numbers of the processes there are."""
        return tuple(host.process.pid for host in self._hosts)

    @asynccontextmanager
    async def page(self, tenant: str, *, alone: bool = False) -> AsyncGenerator[Place]:
        """Hold room for one page of a tenant, who shares no process with another, ever.

        Waits until there is some: the page's deadline holds for that too. With `alone` no other page gets into the
        process meanwhile.

        Raises:
            StartError: if no process can be started.
            ClosedError: if the process died just now.
        """
        async with self._claim(_Claim(tenant, alone)) as (seat, process):
            try:
                async with _checked(process, seat) as connection:
                    yield Place(connection, seat, process)
            except (get_cancelled_exc_class(), ClosedError):
                seat.ill = True
                raise

    @asynccontextmanager
    async def _claim(self, claim: _Claim) -> AsyncGenerator[tuple[Seat, Process]]:
        self._waiting.append(claim)
        try:
            self._grant()
            await claim.given.wait()
            if claim.host is None:
                raise StartError("the engine is closed")
            await claim.host.ready.wait()
            if claim.host.why is not None:
                raise claim.host.why
            yield claim, claim.host.process
        finally:
            if claim.host is None:
                self._waiting.remove(claim)
            else:
                self._release(claim, claim.host)
            self._grant()

    def _release(self, claim: _Claim, host: _Host) -> None:
        host.release(claim, full=host.process.resident_bytes > FULL_BYTES)
        host.idle_since = anyio.current_time()
        if not host.retired:
            return
        if host.seats:
            self._tasks.start_soon(self._expire, host)
        else:
            host.process.kill()

    def _grant(self) -> None:
        """Return room to those who wait, in their order: nobody is overtaken, so nobody starves."""
        while self._waiting:
            claim = self._waiting[0]
            found = choose(self._hosts, claim, self._settings.light_processes)
            if isinstance(found, Take):
                host = found.room
            elif isinstance(found, Begin):
                host = self._begin(claim.tenant)
            else:
                if found.evicted is not None:
                    self._end(found.evicted)
                return
            self._waiting.popleft()
            host.take(claim)
            claim.host = host
            claim.given.set()

    def _begin(self, tenant: str) -> _Host:
        host = _Host(tenant, process=self._make())
        self._hosts.append(host)
        self._tasks.start_soon(self._live, host)
        return host

    def _process(self) -> Process:
        program = binary.find() or Path(binary.PACKAGE)
        return EngineProcess(program, lenient=self._settings.light_without_walls)

    async def _live(self, host: _Host) -> None:
        try:
            await host.process.serve(host.ready)
        except StartError as error:
            log.warning(ENGINE_NOT_STARTED, reason=str(error))
            host.why = error
        finally:
            host.retired = True
            host.ready.set()
            self._hosts.remove(host)
        log.debug(ENGINE_ENDED, served=host.served)
        self._grant()

    def _end(self, host: _Host) -> None:
        host.retired = True
        host.process.kill()

    async def _expire(self, host: _Host) -> None:
        with anyio.move_on_after(GRACE_SECONDS):
            await host.process.ended.wait()
        host.process.kill()

    async def _end_idle(self) -> None:
        while True:
            await anyio.sleep(IDLE_SECONDS / 4)
            for host in self._hosts:
                if not host.seats and anyio.current_time() - host.idle_since >= IDLE_SECONDS:
                    self._end(host)


@asynccontextmanager
async def _checked(process: Process, seat: Seat) -> AsyncGenerator[Connection]:
    """Hold a connection; a page that lost it, or leaves the engine without an answer, has ended ill."""
    connection = None
    try:
        async with connect(process.socket) as connection:
            try:
                yield connection
            finally:
                seat.ill |= connection.closed.is_set()
    finally:
        seat.ill |= connection is not None and connection.stuck
