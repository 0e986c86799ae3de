"""A browser session in the replica that it lives in: its context, its tabs, and what it would be restored from."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace
from playwright.async_api import Error

from actors.fetchers.playwright.browser import MAX_TABS_OF_SESSION, Browser, Context
from actors.fetchers.playwright.tab import Tab, tab
from actors.fetchers.sessions import Loan, Session
from actors.fetchers.sessions.merging import fitting
from protocol.browsers.sessions import BrowserRecord
from protocol.browsers.tabs import BrowserTab
from protocol.faults import Code, FaultError, fault

NOWHERE = "about:blank"
"""Where a tab is that was never sent anywhere."""


@dataclass(eq=False)
class Held:
    """A session with its context; a tab is opened in it when it is first needed.

    `record` and `revision` are what was written of it last. Whoever uses it holds the `lock`.
    """

    record: BrowserRecord
    revision: int
    context: Context
    loan: Loan | None
    _close: AsyncExitStack
    _awake: dict[int, Tab] = field(default_factory=dict[int, Tab])
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def lives(self) -> bool:
        """Whether the browser is still there that it has its context in."""
        browser = self.context.raw.browser
        return browser is not None and browser.is_connected()

    @property
    def tabs(self) -> tuple[BrowserTab, ...]:
        """The tabs, awake or not."""
        return self.record.tabs

    def url(self, number: int) -> str:
        """Tell where a tab is, or was when it was noted last."""
        return next(one.url for one in self.record.tabs if one.tab == number)

    def is_awake(self, number: int) -> bool:
        """Whether a tab is open in the browser."""
        return number in self._awake

    def number(self, wanted: int | None) -> int:
        """Find a tab by its number, or the newest.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST where there is no such tab.
        """
        numbers = [one.tab for one in self.record.tabs]
        if not numbers or (wanted is not None and wanted not in numbers):
            message = f"tab: the session has no tab {wanted}" if numbers else "tab: the session has no tab open"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="tab"))
        return max(numbers) if wanted is None else wanted

    def add(self) -> int:
        """Give the number of a new tab.

        Raises:
            FaultError: INTERNAL_BUSY where there are as many as there may be (002 §8.5).
        """
        if len(self.record.tabs) >= MAX_TABS_OF_SESSION:
            message = f"A session has {MAX_TABS_OF_SESSION} tabs at most: close one first."
            raise FaultError(fault(Code.INTERNAL_BUSY, message))
        number = self.record.last_tab + 1
        tabs = (*self.record.tabs, BrowserTab(tab=number, url=NOWHERE))
        self.record = replace(self.record, tabs=tabs, last_tab=number)
        return number

    async def open(self, number: int) -> Tab:
        """Give a tab as it is in the browser; one that was not open there is empty."""
        if number not in self._awake:
            self._awake[number] = await self._close.enter_async_context(tab(self.context))
        return self._awake[number]

    async def shut(self, number: int) -> None:
        """Close a tab for good."""
        awake = self._awake.pop(number, None)
        self.record = replace(self.record, tabs=tuple(one for one in self.record.tabs if one.tab != number))
        if awake is not None:
            try:
                await awake.page.close()
            except Error as error:
                raise awake.fault(error) from error

    async def look(self) -> BrowserRecord:
        """Note how the session stands: cookies, storage, and where its tabs are."""
        await self.context.keep()
        urls = {number: awake.page.url for number, awake in self._awake.items() if awake.page.url.startswith("http")}
        tabs = tuple(replace(one, url=urls.get(one.tab, one.url)) for one in self.record.tabs)
        self.record = replace(self.record, state=fitting(self.context.session.state), tabs=tabs, used=now_ms())
        return self.record

    def entitle(self, number: int, title: str) -> None:
        """Note the title of a tab."""
        tabs = tuple(replace(one, title=title) if one.tab == number else one for one in self.record.tabs)
        self.record = replace(self.record, tabs=tabs)

    async def drop(self) -> None:
        """Close its context, and nothing else: what was written of it stays."""
        await self._close.aclose()


async def hold(browser: Browser, record: BrowserRecord, revision: int, loan: Loan | None) -> Held:
    """Open a context for a session as it was written last; its tabs stay closed until they are needed."""
    session = loan.session if loan else Session()
    session.take(record.state)
    if loan is not None:
        loan.before = session.state
    close = AsyncExitStack()
    context = await close.enter_async_context(browser.context(session))
    return Held(record, revision, context, loan, close)


def now_ms() -> int:
    """Tell the time in ms since the epoch."""
    return time.time_ns() // 1_000_000
