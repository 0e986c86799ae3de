"""A browser session in the replica that it lives in: its context, its tabs, and what it would be restored from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace
from playwright.async_api import Download, Error, Page

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.awake import Awake
from actors.fetchers.playwright.browser import MAX_TABS_OF_SESSION, Browser, Context
from actors.fetchers.sessions import Loan, Session
from actors.fetchers.sessions.merging import fitting
from bus.clock import now_ms
from protocol.browsers.results import BrowserTab
from protocol.browsers.sessions import MAX_DOWNLOADS, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.pages import Captured

NOWHERE = "about:blank"
"""Where a tab is that was never sent anywhere."""

MAX_TITLE_CHARS = 200

_STATE_S = 2.0
"""What cookies and storage may take to read; a page that does not answer keeps them from nobody."""

_ANSWER_S = 2.0
_MAX_ARRIVING = 5

KeepFile = Callable[[Download], Awaitable[tuple[Captured, ...]]]


@dataclass(eq=False)
class Held:
    """A session with its context; a tab is opened in it when it is first needed.

    `record` and `revision` are what was written of it last, `users` counts what is being done in it.
    """

    record: BrowserRecord
    revision: int
    context: Context
    loan: Loan | None
    keep_file: KeepFile
    _close: AsyncExitStack
    users: int = 0
    done: int = 0
    kept: int = 0
    """How much of what was done is written."""

    arriving: int = 0
    """Downloads under way."""

    _awake: dict[int, Awake] = field(default_factory=dict[int, Awake])
    _turns: dict[int, anyio.Lock] = field(default_factory=dict[int, anyio.Lock])
    _dropped: bool = False

    @property
    def lives(self) -> bool:
        """Whether the browser is still there that it has its context in."""
        return not self._dropped and self.context.lives

    async def answers(self) -> bool:
        """Whether the browser answers, and not only a page of it is gone."""
        with anyio.move_on_after(_ANSWER_S):
            try:
                await self.context.raw.cookies()
            except Exception:  # noqa: BLE001 - Playwright raises Exception itself where its driver dies
                return False
            return self.lives
        return False

    @property
    def tabs(self) -> tuple[BrowserTab, ...]:
        """The tabs, awake or not, as they are now."""
        return tuple(replace(one, url=self._url(one)) for one in self.record.tabs)

    def url(self, number: int) -> str:
        """Return where a tab is, or was when it was noted last."""
        return next((self._url(one) for one in self.record.tabs if one.tab == number), NOWHERE)

    def title(self, number: int) -> str:
        """Tell the title of a tab, as it was noted last."""
        return next((one.title for one in self.record.tabs if one.tab == number), "")

    def awake(self, number: int) -> Awake | None:
        """Return a tab that is open in the browser."""
        return self._awake.get(number)

    def number(self, wanted: int | None) -> int:
        """Find a tab by its number, or the active one, which is opened where there is none.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST where there is no such tab; INTERNAL_BUSY.
        """
        numbers = [one.tab for one in self.record.tabs]
        if wanted is not None and wanted not in numbers:
            message = f"tabId: the session has no tab {wanted}; list_tabs tells which it has"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="tabId"))
        if wanted is not None:
            return wanted
        if not numbers:
            return self.add()
        active = self.record.active_tab
        return active if active in numbers else max(numbers)

    def add(self) -> int:
        """Return the number of a new tab, which is active.

        Raises:
            FaultError: INTERNAL_BUSY where there are as many as there may be (002 §8.5).
        """
        if len(self.record.tabs) >= MAX_TABS_OF_SESSION:
            raise FaultError(faults.no_room(f"A session has {MAX_TABS_OF_SESSION} tabs at most: close one first."))
        number = self._next()
        self.activate(number)
        return number

    def has(self, number: int) -> bool:
        """Whether there is such a tab."""
        return any(one.tab == number for one in self.record.tabs)

    def activate(self, number: int) -> None:
        """Make a tab the active one."""
        self.record = replace(self.record, active_tab=number)

    @asynccontextmanager
    async def turn(self, number: int) -> AsyncGenerator[None]:
        """Wait until nothing else is done in a tab."""
        async with self._turns.setdefault(number, anyio.Lock()):
            yield

    async def open(self, number: int) -> tuple[Awake, bool]:
        """Return a tab as it is in the browser, and whether it had to be opened: then it is empty."""
        known = self._awake.get(number)
        if known is not None and not known.page.is_closed() and not known.seen.crashed:
            return known, False
        await self.lay_down(number)
        fresh = Awake(self.context, await self.context.page(), self)
        self._awake[number] = fresh
        return fresh, True

    async def shut(self, number: int) -> None:
        """Close a tab for good; the one before it becomes active where it was."""
        awake = self._awake.pop(number, None)
        self._forget(number)
        if awake is not None:
            await awake.close()

    async def lay_down(self, number: int) -> None:
        """Close what a tab has in the browser; it is opened again when it is next needed."""
        awake = self._awake.pop(number, None)
        if awake is not None:
            self.record = replace(self.record, tabs=self.tabs)
            await awake.close()

    async def tidy(self) -> None:
        """Forget the tabs that their pages have closed; those of a browser that is gone are opened again."""
        closed = [number for number, awake in self._awake.items() if awake.is_closed]
        if closed and await self.answers():
            for number in closed:
                self._awake.pop(number, None)
                self._forget(number)

    async def look(self) -> BrowserRecord:
        """Note how the session stands: cookies, storage, and where its tabs are."""
        reads = [awake.page for awake in self._awake.values() if awake.reads]
        whole = len(reads) == len(self._awake)
        with anyio.move_on_after(_STATE_S) as patience, suppress(Error):
            await self.context.keep(reads, whole=whole)
        if patience.cancelled_caught:
            for awake in self._awake.values():
                await awake.probe()
        await self.tidy()
        state = fitting(self.context.session.state)
        self.record = replace(self.record, state=state, tabs=self.tabs, used=now_ms())
        return self.record

    def entitle(self, number: int, title: str) -> None:
        """Note the title of a tab."""
        tabs = tuple(
            replace(one, title=title[:MAX_TITLE_CHARS]) if one.tab == number else one for one in self.record.tabs
        )
        self.record = replace(self.record, tabs=tabs)

    async def drop(self) -> None:
        """Close its context, and nothing else: what was written of it stays."""
        self._dropped = True
        await self._close.aclose()

    # -- what its pages call for ---------------------------------------------------------------------------------------

    async def popup(self, page: Page) -> None:
        """Take a window that a page opened as a tab; one too many is closed."""
        if len(self.record.tabs) >= MAX_TABS_OF_SESSION or self.context.crowded:
            with suppress(Error):
                await page.close()
            return
        number = self._next()
        self._awake[number] = Awake(self.context, page, self)

    async def download(self, download: Download) -> None:
        """Keep a file that a page had the browser download."""
        if self.arriving >= _MAX_ARRIVING:
            with suppress(Error):
                await download.cancel()
            return
        self.arriving += 1
        try:
            taken = await self.keep_file(download)
        finally:
            self.arriving -= 1
        self.record = replace(self.record, downloads=(*self.record.downloads, *taken)[-MAX_DOWNLOADS:])

    def _next(self) -> int:
        number = self.record.last_tab + 1
        tabs = (*self.record.tabs, BrowserTab(tab=number, url=NOWHERE))
        self.record = replace(self.record, tabs=tabs, last_tab=number)
        return number

    def _forget(self, number: int) -> None:
        numbers = [one.tab for one in self.record.tabs]
        left = [one for one in numbers if one != number]
        active = self.record.active_tab
        if active == number:
            active = max((one for one in left if one < number), default=min(left, default=None))
        tabs = tuple(one for one in self.record.tabs if one.tab != number)
        self.record = replace(self.record, tabs=tabs, active_tab=active)
        self._turns.pop(number, None)

    def _url(self, one: BrowserTab) -> str:
        awake = self._awake.get(one.tab)
        here = awake.page.url if awake is not None else ""
        return here if here.startswith("http") else one.url


async def hold(
    browser: Browser, record: BrowserRecord, revision: int, loan: Loan | None, keep_file: KeepFile | None = None
) -> Held:
    """Open a context for a session as it was written last; its tabs stay closed until they are needed."""
    session = loan.session if loan else Session()
    session.take(record.state)
    if loan is not None:
        loan.before = session.state
    close = AsyncExitStack()
    context = await close.enter_async_context(browser.context(session))
    return Held(record, revision, context, loan, keep_file or _nothing, close)


async def _nothing(_: Download) -> tuple[Captured, ...]:
    return ()
