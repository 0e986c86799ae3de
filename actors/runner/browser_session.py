"""The browser session of a run, and how its calls wait for room."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import anyio
from msgspec.structs import replace

from actors.logins import BROWSER_MS, login_pass
from bus import Bus
from bus.clock import now_ms
from protocol.browsers.operations import CloseSession, CloseTab, CreateSession, ListTabs, Operation
from protocol.browsers.results import Done, Tabs
from protocol.browsers.sessions import FULL_SESSION, AskBrowser
from protocol.faults import Code, FaultError
from protocol.runs.events import RunCreated
from protocol.runs.states import MAX_TABS_PER_SESSION
from protocol.subjects import BROWSER

FIRST_PAUSE_S: Final = 0.05
MAX_PAUSE_S: Final = 2.0

CLOSE_MS: Final = 10_000
"""How long the end of a session may take."""

NO_ROOM: Final = frozenset({Code.INTERNAL_BUSY, Code.INTERNAL_DISCONNECTED})
"""Codes that say nothing of the page or the site: there is no room, or the bus is away."""

FULL_S: Final = 15.0
"""How long a run waits for a tab of its caller's session to be closed, in seconds."""

T = TypeVar("T")


class StoppedError(Exception):
    """The run was canceled while a call waited for room, so that the call is not made."""


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
        """Do an operation as soon as there is room; for a session of the caller, CreateSession only lists its tabs.

        Raises:
            FaultError: why it was not done.
            StoppedError: the run was canceled while it waited for room.
        """
        if isinstance(operation, CreateSession):
            return await self._open(operation) if self.run.own_session else await self.do(ListTabs(), order)
        if self.run.own_session:
            await self._open_once()
        return await self._call(replace(operation, session_id=self.run.session_id or None), order)

    async def tabs_at_once(self, wanted: int, *, resumed: bool) -> int:
        """Return how many tabs may be used at once (002 §8.6); `resumed`: those of a dead replica are closed first.

        Raises:
            StoppedError: the run was canceled meanwhile.
        """
        try:
            listed = await self.do(ListTabs(), "")
            tabs = listed.tabs if isinstance(listed, Tabs) else ()
            if resumed and self.run.own_session:
                for tab in tabs:
                    await self.do(CloseTab(tab_id=tab.tab), "")
                tabs = ()
        except FaultError:
            return 1  # the steps will say what is wrong
        return max(1, min(wanted, MAX_TABS_PER_SESSION - len(tabs)))

    async def close(self) -> None:
        """Close it if it is the run's own and the caller does not go on with it (002 §8.5).

        Raises:
            FaultError: why it could not be closed.
        """
        if self.run.own_session and not self.run.preserved:
            request = self._request(CloseSession(session_id=self.run.session_id, force=True), "")
            await self.bus.call(BROWSER, request, timeout_ms=CLOSE_MS)

    async def _open_once(self) -> None:
        async with self._opening:
            if not self._opened:
                await self._open(CreateSession())

    async def _open(self, how: CreateSession) -> Done:
        result = await self._call(replace(how, session_id=self.run.session_id), "")
        self._opened = True
        return result

    async def _call(self, operation: Operation, order: str) -> Done:
        request = self._request(operation, order)

        async def call() -> Done:
            return (await self.bus.call(BROWSER, request, wait_ms=self.grace_ms)).done

        return await call_with_room(call, self.canceled)

    def _request(self, operation: Operation, order: str) -> AskBrowser:
        run, login = self.run, b""
        if isinstance(operation, CreateSession) and operation.profile is not None and operation.url is not None:
            until = now_ms() + BROWSER_MS
            login = login_pass(self.bus.seal, run.caller, operation.profile, operation.url, until)
        return AskBrowser(do=operation, caller=run.caller, local=run.local, order=order, login=login)


async def call_with_room(call: Callable[[], Awaitable[T]], canceled: anyio.Event) -> T:
    """Call, and again while there is no room, until the deadline of the run or its cancel: no retry loop heeds both.

    A session of the caller's that is full is waited for `FULL_S`: nobody but the caller makes room there.

    Raises:
        FaultError: anything else.
        StoppedError: the run was canceled meanwhile.
    """
    pause_s, until = FIRST_PAUSE_S, anyio.current_time() + FULL_S
    while True:
        try:
            return await call()
        except FaultError as error:
            full = error.fault.field == FULL_SESSION and anyio.current_time() >= until
            if full or error.fault.code not in NO_ROOM:
                raise
        with anyio.move_on_after(pause_s):
            await canceled.wait()
        if canceled.is_set():
            raise StoppedError
        pause_s = min(pause_s * 2, MAX_PAUSE_S)
