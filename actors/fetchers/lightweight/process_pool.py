"""Pools processes of the engine: hands out connections to pages, and replaces processes that pages have harmed."""

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

from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.cdp import CdpConnection, ClosedError, connect
from actors.fetchers.lightweight.engine_process import EngineProcess, StartError
from actors.fetchers.lightweight.placement import JoinProcess, PageSlot, StartProcess, TenantProcess, place
from actors.settings import Settings
from actors.ungrouped import ungrouped

FULL_BYTES: Final = 250_000_000
"""A process that holds more when a page is done is replaced: what a page leaves behind is not all freed."""

IDLE_SECONDS: Final = 60.0
GRACE_SECONDS: Final = 10.0
"""What the neighbours of a failed page get to finish, before the process that may still be busy is killed."""

ENGINE_ENDED: Final = "engine_ended"
ENGINE_NOT_STARTED: Final = "engine_not_started"

_PATIENCE_SECONDS = 1.0
_BUSY_SHARE = 0.7
"""A page that computes for more than this share of its first second is one that may do so without end."""

_NOTICE_SECONDS = 0.25
"""By when an end is noticed: the sockets of a process close before it is gone."""

log = structlog.stdlib.get_logger(__name__)


class Process(Protocol):
    """What the pool uses of a process: see EngineProcess."""

    ended: Event

    @property
    def pid(self) -> int: ...  # noqa: D102 - see EngineProcess
    @property
    def socket(self) -> Path: ...  # noqa: D102 - see EngineProcess
    @property
    def resident_bytes(self) -> int: ...  # noqa: D102 - see EngineProcess
    @property
    def cpu_s(self) -> float: ...  # noqa: D102 - see EngineProcess
    def give_way(self) -> None: ...  # noqa: D102 - see EngineProcess
    async def serve(self, ready: Event) -> None: ...  # noqa: D102 - see EngineProcess
    def kill(self) -> None: ...  # noqa: D102 - see EngineProcess


@dataclass(eq=False)
class PooledPage:
    """A fresh connection for one page, in a process that only one tenant uses."""

    connection: CdpConnection
    _slot: PageSlot
    _process: Process

    @property
    def alone(self) -> bool:
        """Whether no other page was in the process at any time."""
        return not self._slot.shared

    @property
    def alive(self) -> bool:
        """Whether the process lives, as far as is known by now."""
        return not self._process.ended.is_set()

    async def outlived(self) -> bool:
        """Return whether the process lives after the connection has closed; that is known a moment later."""
        with anyio.move_on_after(_NOTICE_SECONDS):
            await self._process.ended.wait()
        return self.alive

    def mark_failed(self) -> None:
        """Have the process replaced when its other pages are done: this page may have left it busy or full."""
        self._slot.failed = True


@dataclass(eq=False)
class _Claim(PageSlot):
    """A page that waits for its process."""

    account: str = ""
    pooled: _PooledProcess | None = None
    placed: Event = field(default_factory=Event)


@dataclass(eq=False, kw_only=True)
class _PooledProcess(TenantProcess):
    """A process of the pool; `ready` is set when it listens, or never will."""

    process: Process
    ready: Event = field(default_factory=Event)
    why: StartError | None = None
    idle_since: float = 0.0


class ProcessPool:
    """The processes of one replica; open it by `async with`, and no process or folder is left afterwards."""

    def __init__(self, settings: Settings, make: Callable[[], Process] | None = None) -> None:
        """Start nothing: a process starts with the first page. `make` makes another kind of process."""
        self._settings = settings
        self._make = make or self._process
        self._stack = AsyncExitStack()
        self._processes: list[_PooledProcess] = []
        self._waiting: deque[_Claim] = deque()

    async def __aenter__(self) -> Self:
        self._tasks: TaskGroup = await self._stack.enter_async_context(anyio.create_task_group())
        self._tasks.start_soon(self._end_idle)
        self._tasks.start_soon(anyio.to_thread.run_sync, engine_process.sweep)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._tasks.cancel_scope.cancel()
        with ungrouped():
            return await self._stack.__aexit__(kind, error, trace)

    @property
    def pids(self) -> tuple[int, ...]:
        """The numbers of the processes there are."""
        return tuple(pooled.process.pid for pooled in self._processes)

    @asynccontextmanager
    async def page(self, tenant: str, *, alone: bool = False, account: str = "") -> AsyncGenerator[PooledPage]:
        """Hold a connection for one page of a tenant, who never shares a process with another.

        Waits until a process has room, within the page's deadline: of those who wait, the page of the account goes
        first that has the fewest here, and one that has none need not wait for others to end. With `alone` no other
        page is loaded in the process meanwhile.

        Raises:
            StartError: if no process can be started.
            ClosedError: if the process died just now.
        """
        async with self._claim(_Claim(f"{account}\n{tenant}", alone, account=account)) as (slot, process):
            try:
                async with _checked(process, slot) as connection:
                    yield PooledPage(connection, slot, process)
            except (get_cancelled_exc_class(), ClosedError):
                slot.failed = True
                raise

    @asynccontextmanager
    async def _claim(self, claim: _Claim) -> AsyncGenerator[tuple[PageSlot, Process]]:
        self._waiting.append(claim)
        try:
            self._grant()
            await claim.placed.wait()
            if claim.pooled is None:
                raise StartError("the engine is closed")
            await claim.pooled.ready.wait()
            if claim.pooled.why is not None:
                raise claim.pooled.why
            self._tasks.start_soon(self._give_way, claim, claim.pooled)
            yield claim, claim.pooled.process
        finally:
            if claim.pooled is None:
                self._waiting.remove(claim)
            else:
                self._release(claim, claim.pooled)
            self._grant()

    def _release(self, claim: _Claim, pooled: _PooledProcess) -> None:
        pooled.release(claim, full=pooled.process.resident_bytes > FULL_BYTES)
        pooled.idle_since = anyio.current_time()
        if not pooled.retired:
            return
        if pooled.slots:
            self._tasks.start_soon(self._expire, pooled)
        else:
            pooled.process.kill()

    async def _give_way(self, claim: _Claim, pooled: _PooledProcess) -> None:
        """Have a page that computes without end give way to others; its process serves no other page afterwards."""
        before_s = pooled.process.cpu_s
        await anyio.sleep(_PATIENCE_SECONDS)
        if claim in pooled.slots and pooled.process.cpu_s - before_s > _BUSY_SHARE * _PATIENCE_SECONDS:
            claim.failed = True
            pooled.process.give_way()

    def _pages_of(self, account: str) -> int:
        slots = (slot for pooled in self._processes for slot in pooled.slots)
        return sum(isinstance(slot, _Claim) and slot.account == account for slot in slots)

    def _grant(self) -> None:
        """Place the pages that wait, in their order within an account: none overtakes another, so none starves."""
        while self._waiting:
            claim = min(self._waiting, key=lambda waiting: self._pages_of(waiting.account))
            # One process more than usual is for an account that has none, while others have them all.
            spare = 0 if not claim.account or self._pages_of(claim.account) else 1
            placed = place(self._processes, claim, self._settings.light_processes + spare)
            if isinstance(placed, JoinProcess):
                pooled = placed.process
            elif isinstance(placed, StartProcess):
                pooled = self._begin(claim.tenant)
            else:
                # Who has pages at work already takes no warm process from others.
                if placed.evicted is not None and (
                    not self._pages_of(claim.account) or placed.evicted.tenant.startswith(f"{claim.account}\n")
                ):
                    self._end(placed.evicted)
                return
            self._waiting.remove(claim)
            pooled.take(claim)
            claim.pooled = pooled
            claim.placed.set()

    def _begin(self, tenant: str) -> _PooledProcess:
        pooled = _PooledProcess(tenant, process=self._make())
        self._processes.append(pooled)
        self._tasks.start_soon(self._live, pooled)
        return pooled

    def _process(self) -> Process:
        program = engine_process.find_program() or Path(engine_process.PACKAGE)
        return EngineProcess(program, lenient=self._settings.light_without_walls)

    async def _live(self, pooled: _PooledProcess) -> None:
        try:
            await pooled.process.serve(pooled.ready)
        except StartError as error:
            log.warning(ENGINE_NOT_STARTED, reason=str(error))
            pooled.why = error
        finally:
            pooled.retired = True
            pooled.ready.set()
            self._processes.remove(pooled)
        log.debug(ENGINE_ENDED, served=pooled.served)
        self._grant()

    def _end(self, pooled: _PooledProcess) -> None:
        pooled.retired = True
        pooled.process.kill()

    async def _expire(self, pooled: _PooledProcess) -> None:
        with anyio.move_on_after(GRACE_SECONDS):
            await pooled.process.ended.wait()
        pooled.process.kill()

    async def _end_idle(self) -> None:
        while True:
            await anyio.sleep(IDLE_SECONDS / 4)
            for pooled in self._processes:
                if not pooled.slots and anyio.current_time() - pooled.idle_since >= IDLE_SECONDS:
                    self._end(pooled)


@asynccontextmanager
async def _checked(process: Process, slot: PageSlot) -> AsyncGenerator[CdpConnection]:
    """Hold a connection; a page that loses it, or leaves the engine without an answer, has failed."""
    connection = None
    try:
        async with connect(process.socket) as connection:
            try:
                yield connection
            finally:
                slot.failed |= connection.closed.is_set()
    finally:
        slot.failed |= connection is not None and connection.stuck
