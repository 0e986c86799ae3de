"""What a step works with: pages by the ladder, and the browser session of its run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

import anyio
from msgspec.structs import replace

from bus import Bus, remaining_ms
from protocol.browse import BrowseOptions
from protocol.browsers.operations import CloseSession, CloseTab, CreateSession, ListTabs, Operation
from protocol.browsers.results import Done, Tabs
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.runs.events import RunCreated
from protocol.runs.states import MAX_TABS_PER_SESSION
from protocol.subjects import BROWSE, BROWSER

FIRST_PAUSE_S: Final = 0.05
MAX_PAUSE_S: Final = 2.0

CLOSE_MS: Final = 10_000
"""How long the end of a session may take."""

WAITED_OUT: Final = frozenset({Code.INTERNAL_BUSY, Code.INTERNAL_DISCONNECTED})
"""What says nothing of the page or the site: there is no room, or the bus is away."""

T = TypeVar("T")


class StoppedError(Exception):
    """The run is canceled, so that what was still waited for is not begun."""


@dataclass(eq=False)
class BrowserSession:
    """The browser session of a run, opened when it is first needed; `canceled` ends every wait for room in it."""

    bus: Bus
    run: RunCreated
    grace_ms: int
    canceled: anyio.Event
    _opened: bool = False
    _opening: anyio.Lock = field(default_factory=anyio.Lock)

    async def do(self, operation: Operation, order: str) -> Done:
        """Do something in it, as soon as there is room; a session of the caller is not created, but looked at instead.

        Raises:
            FaultError: why it was not done.
            StoppedError: the run was canceled while it waited for room.
        """
        if isinstance(operation, CreateSession):
            return await self._open(operation) if self.run.own_session else await self.do(ListTabs(), order)
        if self.run.own_session:
            await self._open_once()
        return await self._ask(replace(operation, session_id=self.run.session_id or None), order)

    async def room(self, wanted: int, *, anew: bool) -> int:
        """Say how many tabs may be used at once (002 §8.6); `anew`: those are closed first that a dead replica left.

        Raises:
            StoppedError: the run was canceled meanwhile.
        """
        try:
            told = await self.do(ListTabs(), "")
            tabs = told.tabs if isinstance(told, Tabs) else ()
            if anew and self.run.own_session:
                for one in tabs:
                    await self.do(CloseTab(tab_id=one.tab), "")
                tabs = ()
        except FaultError:
            return 1  # the steps will say what is wrong
        return max(1, min(wanted, MAX_TABS_PER_SESSION - len(tabs)))

    async def close(self) -> None:
        """End it, if it is the run's own and nobody goes on with it (002 §8.5).

        Raises:
            FaultError: why it could not be ended.
        """
        if self.run.own_session and not self.run.preserved:
            asked = self._asked(CloseSession(session_id=self.run.session_id, force=True), "")
            await self.bus.call(BROWSER, asked, timeout_ms=CLOSE_MS)

    async def _open_once(self) -> None:
        async with self._opening:
            if not self._opened:
                await self._open(CreateSession())

    async def _open(self, how: CreateSession) -> Done:
        done = await self._ask(replace(how, session_id=self.run.session_id), "")
        self._opened = True
        return done

    async def _ask(self, operation: Operation, order: str) -> Done:
        asked = self._asked(operation, order)

        async def ask() -> Done:
            return (await self.bus.call(BROWSER, asked, wait_ms=self.grace_ms)).done

        return await waited_out(ask, self.canceled)

    def _asked(self, operation: Operation, order: str) -> AskBrowser:
        return AskBrowser(do=operation, caller=self.run.caller, local=self.run.local, order=order)


@dataclass(eq=False)
class StepHands:
    """The hands of one try of one step."""

    session: BrowserSession
    place: str
    """Names the try among all of all runs."""

    failed_at: str = ""
    _acts: int = 0
    _failure: FaultError | None = None

    @property
    def run_id(self) -> str:
        """The run."""
        return self.session.run.run_id

    @property
    def session_id(self) -> str | None:
        """The browser session of the run."""
        return self.session.run.session_id or None

    @property
    def local(self) -> bool:
        """The trust level of whoever asked for the run (002 §9)."""
        return self.session.run.local

    def remaining_ms(self) -> int:
        """Milliseconds that the run has left."""
        return remaining_ms() or 0

    @contextmanager
    def part(self, name: str) -> Generator[None]:
        """Name what is being done in the block; of two that are nested the inner one counts."""
        try:
            yield
        except FaultError as error:
            if self._failure is not error:
                self._failure, self.failed_at = error, name
            raise

    def named(self, failure: FaultError) -> str:
        """Tell in which part the step has failed, if in one."""
        return self.failed_at if self._failure is failure else ""

    async def browse(self, url: str, options: BrowseOptions) -> Browsed:
        """Get a page by the ladder of tiers."""

        async def ask() -> Browsed:
            # The deadline of the run shrinks down to every fetch (002 §10).
            left_ms = max(min(options.max_latency_ms, self.remaining_ms()), 1)
            bounded = replace(options, max_latency_ms=left_ms)
            # The run tries an item again by itself, which is not to multiply with what the fetchers do.
            page = BrowsePage(url=url, options=bounded, obey_robots=True, single_shot=True)
            return await self.session.bus.call(BROWSE, page, timeout_ms=left_ms, wait_ms=self.session.grace_ms)

        return await waited_out(ask, self.session.canceled)

    def seal(self, text: str, place: str) -> bytes:
        """Encrypt what is secret for the one place where it is needed."""
        seal = self.session.bus.seal
        if seal is None:
            raise FaultError(fault(Code.INTERNAL_ERROR))
        return seal.seal(text.encode(), place)

    async def browser(self, operation: Operation) -> Done:
        """Do something in the run's browser session: the same act of the same try is done once, whoever repeats it."""
        self._acts += 1
        return await self.session.do(operation, order_of(f"{self.place}.{self._acts}"))


def order_of(place: str) -> str:
    """Name an act, in few enough characters."""
    return base64.urlsafe_b64encode(hashlib.sha256(place.encode()).digest()).decode().rstrip("=")


async def waited_out(ask: Callable[[], Awaitable[T]], canceled: anyio.Event) -> T:
    """Ask, and again until the deadline of the run while there is no room; a cancel ends that, as no retry loop does.

    Raises:
        FaultError: anything else.
        StoppedError: the run was canceled meanwhile.
    """
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            return await ask()
        except FaultError as error:
            if error.fault.code not in WAITED_OUT:
                raise
        with anyio.move_on_after(pause_s):
            await canceled.wait()
        if canceled.is_set():
            raise StoppedError
        pause_s = min(pause_s * 2, MAX_PAUSE_S)
