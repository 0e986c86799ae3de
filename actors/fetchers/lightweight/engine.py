"""Gives pages room in processes of the engine, and replaces the processes that pages have harmed."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import anyio
import structlog
from anyio import Event, get_cancelled_exc_class
from anyio.abc import TaskGroup

from actors.fetchers.lightweight import binary
from actors.fetchers.lightweight.cdp import Connection, connect
from actors.fetchers.lightweight.process import EngineProcess, StartError

PAGES_AT_ONCE: Final = 2
PAGES_IN_A_LIFE: Final = 200
FULL_BYTES: Final = 250_000_000
"""A process that holds more when a page is done is replaced: what a page leaves behind is not all freed."""

IDLE_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 10.0
"""What the neighbours of a page that ended ill get to finish, before the process that may still be busy is killed."""

_NOTICE_SECONDS = 0.25
"""By when an end is noticed: the sockets of a process close before it is gone."""

ENGINE_ENDED = "engine_ended"
ENGINE_NOT_STARTED = "engine_not_started"

log = structlog.stdlib.get_logger(__name__)


class Choice(binary.Choice, Protocol):
    """What the operator decides."""

    @property
    def light_processes(self) -> int:
        """How many processes there may be at once."""
        ...


@dataclass(eq=False)
class Place:
    """Room for one page: a fresh connection in a process that only one tenant uses."""

    connection: Connection
    _seat: _Seat
    _process: EngineProcess

    @property
    def alone(self) -> bool:
        """Tell whether no other page was in the process at any time."""
        return not self._seat.company

    @property
    def alive(self) -> bool:
        """Tell whether the process lives, as far as is known by now."""
        return not self._process.ended.is_set()

    async def outlived(self) -> bool:
        """Tell whether the process lives after the connection has closed; that is known a moment later."""
        with anyio.move_on_after(_NOTICE_SECONDS):
            await self._process.ended.wait()
        return self.alive

    def ended_ill(self) -> None:
        """Have the process replaced when its other pages are done: this page may have left it busy or full."""
        self._seat.ill = True


@dataclass(eq=False)
class _Seat:
    """A page's claim: waits until it has a process."""

    tenant: str
    alone: bool
    given: Event = field(default_factory=Event)
    host: _Host | None = None
    company: bool = False
    ill: bool = False


@dataclass(eq=False)
class _Host:
    """A process and who uses it."""

    process: EngineProcess
    tenant: str
    ready: Event = field(default_factory=Event)
    why: StartError | None = None
    seats: set[_Seat] = field(default_factory=set[_Seat])
    served: int = 0
    retired: bool = False
    idle_since: float = 0.0

    def open_to(self, seat: _Seat) -> bool:
        """Tell whether it takes another page of that tenant."""
        most = 1 if seat.alone or any(other.alone for other in self.seats) else PAGES_AT_ONCE
        return (
            self.tenant == seat.tenant and not self.retired and self.served < PAGES_IN_A_LIFE and len(self.seats) < most
        )

    def take(self, seat: _Seat) -> None:
        """Give a page its place."""
        for other in self.seats:
            seat.company = other.company = True
        self.seats.add(seat)
        self.served += 1
        seat.host = self
        seat.given.set()


class Engine:
    """The processes of one replica; open it by `async with`, and no process or folder is left afterwards."""

    def __init__(self, settings: Choice) -> None:
        """Start nothing: a process starts with the first page."""
        self._settings = settings
        self._stack = AsyncExitStack()
        self._hosts: list[_Host] = []
        self._waiting: deque[_Seat] = deque()

    async def __aenter__(self) -> Self:
        self._tasks: TaskGroup = await self._stack.enter_async_context(anyio.create_task_group())
        self._tasks.start_soon(self._end_idle)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        for host in self._hosts:
            self._retire(host)
            host.process.kill()
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
        """Give the numbers of the processes there are."""
        return tuple(host.process.pid for host in self._hosts)

    @asynccontextmanager
    async def page(self, tenant: str, *, alone: bool = False) -> AsyncGenerator[Place]:
        """Hold room for one page of a tenant, who shares no process with another, ever; waits until there is some.

        With `alone` no other page gets into the process meanwhile.

        Raises:
            StartError: if no process can be started.
            ClosedError: if the process died just now.
        """
        async with self._claim(tenant, alone=alone) as (seat, process), connect(process.socket) as connection:
            try:
                yield Place(connection, seat, process)
            except get_cancelled_exc_class():
                seat.ill = True
                raise
            finally:
                seat.ill |= connection.closed.is_set()

    @asynccontextmanager
    async def _claim(self, tenant: str, *, alone: bool) -> AsyncGenerator[tuple[_Seat, EngineProcess]]:
        seat = _Seat(tenant, alone)
        self._waiting.append(seat)
        try:
            self._grant()
            await seat.given.wait()
            host = seat.host
            if host is None:
                raise StartError("the engine is closed")
            await host.ready.wait()
            if host.why is not None:
                raise host.why
            yield seat, host.process
        finally:
            self._leave(seat)

    def _leave(self, seat: _Seat) -> None:
        if seat.host is None:
            self._waiting.remove(seat)
        else:
            self._release(seat, seat.host)
        self._grant()

    def _release(self, seat: _Seat, host: _Host) -> None:
        host.seats.discard(seat)
        host.idle_since = anyio.current_time()
        spent = host.served >= PAGES_IN_A_LIFE and not host.seats
        if seat.ill or spent or host.process.resident_bytes > FULL_BYTES:
            self._retire(host)
        if host.retired and not host.seats:
            host.process.kill()

    def _grant(self) -> None:
        """Give room to those who wait, in their order: nobody is overtaken, so nobody starves."""
        while self._waiting:
            seat = self._waiting[0]
            host = self._choose(seat)
            if host is None:
                return
            self._waiting.popleft()
            host.take(seat)

    def _choose(self, seat: _Seat) -> _Host | None:
        """Find a process: an idle one of the tenant, a new one, one to share; else have an idle stranger make room."""
        own = [host for host in self._hosts if host.open_to(seat)]
        idle = [host for host in own if not host.seats]
        if idle:
            return idle[0]
        if len(self._hosts) < self._settings.light_processes:
            return self._begin(seat.tenant)
        if own:
            return own[0]
        stranger = next((host for host in self._hosts if not host.seats), None)
        if stranger is not None:
            self._retire(stranger)
            stranger.process.kill()
        return None

    def _begin(self, tenant: str) -> _Host:
        program = binary.find() or Path(binary.PACKAGE)
        host = _Host(EngineProcess(program, lenient=self._settings.light_without_walls), tenant)
        self._hosts.append(host)
        self._tasks.start_soon(self._live, host)
        return host

    async def _live(self, host: _Host) -> None:
        try:
            report = host.process.launch()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(host.process.watch)
                await self._await_start(host, report)
        except OSError as error:
            host.why = StartError(str(error))
        finally:
            host.process.discard()
            host.retired = True
            host.ready.set()
            self._hosts.remove(host)
        log.debug(ENGINE_ENDED, served=host.served)
        self._grant()

    async def _await_start(self, host: _Host, report: int) -> None:
        try:
            await host.process.answer(report)
        except StartError as error:
            log.warning(ENGINE_NOT_STARTED, reason=str(error))
            host.why = error
            self._retire(host)
            host.process.kill()
        host.ready.set()

    def _retire(self, host: _Host) -> None:
        if not host.retired:
            host.retired = True
            self._tasks.start_soon(self._expire, host)

    async def _expire(self, host: _Host) -> None:
        with anyio.move_on_after(GRACE_SECONDS):
            await host.process.ended.wait()
        host.process.kill()

    async def _end_idle(self) -> None:
        while True:
            await anyio.sleep(IDLE_SECONDS / 4)
            for host in self._hosts:
                if not host.seats and anyio.current_time() - host.idle_since >= IDLE_SECONDS:
                    self._retire(host)
                    host.process.kill()
