"""A browser session that is open in this replica: its context, its tabs, and the record it is restored from."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from msgspec.structs import replace
from playwright.async_api import Download, Error, Page

from actors.extraction.parse.text import clean
from actors.fetchers.logins import Login, LoginLease
from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import MAX_TABS_OF_SESSION, Browser, SessionContext, close_page
from actors.fetchers.playwright.open_tab import OpenTab
from actors.login_merge import fitting
from bus.clock import now_ms
from protocol.browsers.results import BrowserTab
from protocol.browsers.sessions import FULL_SESSION, MAX_DOWNLOADS, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.pages import Captured

NOWHERE = "about:blank"
"""The address of a tab that never navigated."""

MAX_TITLE_CHARS = 200

_STATE_S = 2.0
"""How long cookies and storage may take to read, where a page does not respond."""

_PAUSE_S = 60.0
"""How long only cookies are read after the storage took longer: a page may have frames of hundreds of origins."""

_RESPONSE_S = 2.0
_POLL_S = 0.05
_MAX_DOWNLOADING = 5

SaveDownload = Callable[[Download], Awaitable[tuple[Captured, ...]]]


@dataclass(eq=False)
class OpenSession:
    """A session with its context; its tabs are opened when they are first needed.

    `record` and `revision` are those written last, `users` counts the operations in flight.
    """

    record: BrowserRecord
    revision: int
    context: SessionContext
    loan: LoginLease | None
    save_download: SaveDownload
    _close: AsyncExitStack
    users: int = 0
    performed: int = 0
    """Operations that are complete."""

    written: int = 0
    """How many of them the record includes."""

    secrets: frozenset[str] | None = None
    """What was typed in confidence while it was recorded, for what is recorded after it; None where that is not known.

    It is kept nowhere else: a session that was restored has lost it.
    """

    downloading: int = 0
    """Downloads in flight."""

    downloads: int = 0
    """Downloads that have begun."""

    _file_names: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_DOWNLOADING))
    """What the last of them are called."""

    _opening: int = 0
    """Tabs that are being opened: their pages are nobody's yet."""

    _whole_from_s: float = 0.0
    """From when on storage is read again."""

    _open_tabs: dict[int, OpenTab] = field(default_factory=dict[int, OpenTab])
    _tab_locks: dict[int, anyio.Lock] = field(default_factory=dict[int, anyio.Lock])
    _dropped: bool = False

    @property
    def is_alive(self) -> bool:
        """Whether its context is open, in a browser that runs."""
        return not self._dropped and self.context.is_alive

    async def responds(self) -> bool:
        """Whether the browser responds, and only a page of it is gone."""
        with anyio.move_on_after(_RESPONSE_S):
            try:
                await self.context.raw.cookies()
            except Exception:  # noqa: BLE001 - Playwright raises Exception itself where its driver dies
                return False
            return self.is_alive
        return False

    @property
    def tabs(self) -> tuple[BrowserTab, ...]:
        """The tabs, open or not, with their current addresses."""
        return tuple(replace(one, url=self._url(one)) for one in self.record.tabs)

    def url(self, number: int) -> str:
        """Return the address of a tab, or the one of its record."""
        return next((self._url(one) for one in self.record.tabs if one.tab == number), NOWHERE)

    def title(self, number: int) -> str:
        """Return the title of a tab, as it was recorded last."""
        return next((one.title for one in self.record.tabs if one.tab == number), "")

    def open_tab(self, number: int) -> OpenTab | None:
        """Return a tab that is open in the browser."""
        return self._open_tabs.get(number)

    def tab_number(self, wanted: int | None) -> int:
        """Resolve the number of a tab; None is the active one, which is added where there is none.

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
            return self.add_tab()
        active = self.record.active_tab
        return active if active in numbers else max(numbers)

    def add_tab(self) -> int:
        """Add a tab, make it the active one, and return its number.

        Raises:
            FaultError: INTERNAL_BUSY where there are as many as there may be (002 §8.5).
        """
        if len(self.record.tabs) >= MAX_TABS_OF_SESSION:
            full = faults.no_room(f"A session has {MAX_TABS_OF_SESSION} tabs at most: close one first.")
            raise FaultError(replace(full, field=FULL_SESSION))
        number = self._add_record()
        self.activate(number)
        return number

    def has_tab(self, number: int) -> bool:
        """Whether there is such a tab."""
        return any(one.tab == number for one in self.record.tabs)

    def activate(self, number: int) -> None:
        """Make a tab the active one."""
        self.record = replace(self.record, active_tab=number)

    @asynccontextmanager
    async def tab_lock(self, number: int) -> AsyncGenerator[None]:
        """Serialize the operations in a tab."""
        async with self._tab_locks.setdefault(number, anyio.Lock()):
            yield

    async def ensure_open(self, number: int) -> tuple[OpenTab, bool]:
        """Return an open tab, and whether it had to be opened: then it is empty."""
        open_tab = self._open_tabs.get(number)
        if open_tab is not None and not open_tab.page.is_closed() and not open_tab.recorder.crashed:
            return open_tab, False
        await self.suspend_tab(number)
        self._opening += 1
        try:
            open_tab = OpenTab(self.context, await self.context.page(), self)
            self._open_tabs[number] = open_tab
        finally:
            self._opening -= 1
        return open_tab, True

    async def close_tab(self, number: int) -> None:
        """Close a tab for good; the one before it becomes active where it was."""
        open_tab = self._open_tabs.pop(number, None)
        self._remove_record(number)
        if open_tab is not None:
            await open_tab.close()

    async def suspend_tab(self, number: int) -> None:
        """Close a tab in the browser alone; it is opened again when it is next needed."""
        open_tab = self._open_tabs.pop(number, None)
        if open_tab is not None:
            self.record = replace(self.record, tabs=self.tabs)
            await open_tab.close()

    async def prune_tabs(self) -> None:
        """Remove the tabs that their pages have closed; those of a browser that is gone are opened again.

        A window of which the browser told only after its opener was gone is no tab, and is closed.
        """
        own = {open_tab.page for open_tab in self._open_tabs.values()}
        async with anyio.create_task_group() as closing:
            for page in self.context.raw.pages if not self._opening else ():
                if page not in own:
                    closing.start_soon(close_page, page)
        closed = [number for number, open_tab in self._open_tabs.items() if open_tab.is_closed]
        if closed and await self.responds():
            for number in closed:
                self._open_tabs.pop(number, None)
                self._remove_record(number)

    async def snapshot(self) -> BrowserRecord:
        """Update the record with cookies, storage and the addresses of the tabs, and return it."""
        pages = [open_tab.page for open_tab in self._open_tabs.values() if open_tab.responds]
        whole = len(pages) == len(self._open_tabs) and anyio.current_time() >= self._whole_from_s
        with anyio.move_on_after(_STATE_S) as timeout, suppress(Error):
            await self.context.save(pages, whole=whole)
        if timeout.cancelled_caught:
            self._whole_from_s = anyio.current_time() + _PAUSE_S
            async with anyio.create_task_group() as probes:
                for open_tab in self._open_tabs.values():
                    probes.start_soon(open_tab.probe)
        await self.prune_tabs()
        state = fitting(self.context.session.state)
        self.record = replace(self.record, state=state, tabs=self.tabs, used=now_ms())
        return self.record

    def set_title(self, number: int, title: str) -> str:
        """Record the title of a tab as a person sees it, and return that."""
        shown = clean(title[:MAX_TITLE_CHARS])
        tabs = tuple(replace(one, title=shown) if one.tab == number else one for one in self.record.tabs)
        self.record = replace(self.record, tabs=tabs)
        return shown

    async def drop(self) -> None:
        """Close its context; its record stays."""
        self._dropped = True
        await self._close.aclose()

    # -- what its pages open -------------------------------------------------------------------------------------------

    async def popup(self, page: Page) -> None:
        """Adopt a window that a page opened as a tab; one too many is closed."""
        if len(self.record.tabs) >= MAX_TABS_OF_SESSION or self.context.is_overfull:
            await close_page(page)
            return
        number = self._add_record()
        self._open_tabs[number] = OpenTab(self.context, page, self)

    async def download(self, download: Download) -> None:
        """Store a file that a page had the browser download."""
        if self.downloading >= _MAX_DOWNLOADING:
            with suppress(Error):
                await download.cancel()
            return
        self.downloading += 1
        self.downloads += 1
        self._file_names.append(download.suggested_filename)
        try:
            captured = await self.save_download(download)
        finally:
            self.downloading -= 1
        self.record = replace(self.record, downloads=(*self.record.downloads, *captured)[-MAX_DOWNLOADS:])

    def begun_since(self, downloads: int) -> tuple[str, ...]:
        """Return what those downloads are called that began after so many, the last five at most."""
        many = min(self.downloads - downloads, len(self._file_names))
        return tuple(self._file_names)[len(self._file_names) - many :]

    async def download_begins(self, downloads: int, within_s: float) -> bool:
        """Wait until more than so many downloads have begun, and return whether they have."""
        with anyio.move_on_after(within_s):
            while self.downloads <= downloads:  # noqa: ASYNC110 - the browser announces them by callbacks
                await anyio.sleep(_POLL_S)
        return self.downloads > downloads

    def _add_record(self) -> int:
        number = self.record.last_tab + 1
        tabs = (*self.record.tabs, BrowserTab(tab=number, url=NOWHERE))
        self.record = replace(self.record, tabs=tabs, last_tab=number)
        return number

    def _remove_record(self, number: int) -> None:
        numbers = [one.tab for one in self.record.tabs]
        left = [one for one in numbers if one != number]
        active = self.record.active_tab
        if active == number:
            active = max((one for one in left if one < number), default=min(left, default=None))
        tabs = tuple(one for one in self.record.tabs if one.tab != number)
        self.record = replace(self.record, tabs=tabs, active_tab=active)
        self._tab_locks.pop(number, None)

    def _url(self, one: BrowserTab) -> str:
        open_tab = self._open_tabs.get(one.tab)
        current = open_tab.page.url if open_tab is not None else ""
        return current if current.startswith("http") else one.url


async def restore_session(
    browser: Browser,
    record: BrowserRecord,
    revision: int,
    loan: LoginLease | None,
    save_download: SaveDownload | None = None,
) -> OpenSession:
    """Open a context for a session from its record; its tabs stay closed until they are needed."""
    session = loan.login if loan else Login()
    session.take(record.state)
    if loan is not None:
        loan.before = session.state
    close = AsyncExitStack()
    context = await close.enter_async_context(browser.context(session))
    return OpenSession(record, revision, context, loan, save_download or _discard, close)


async def _discard(_: Download) -> tuple[Captured, ...]:
    return ()
