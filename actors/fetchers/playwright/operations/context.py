"""What an operation works with: its session and deadline, its open tab, and what every operation depends on."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from msgspec import Struct
from playwright.async_api import Download, Error

from actors.fetchers.playwright.captures import CaptureStore
from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.open_tab import OpenTab
from actors.fetchers.playwright.tab import Tab
from actors.settings import Settings
from actors.web.client import WebClient
from bus.stores import FileStore
from protocol.browsers.pageinfo import PageRef
from protocol.faults import FaultError
from protocol.pages import Captured

_DOWNLOAD_S = 120.0
"""How long a download may take."""

_TITLE = "document.title"


class OperationDependencies(Struct, frozen=True):
    """What every operation may use: `web` limits the rate of each host, `store` opens where captures are kept.

    `unseal` decrypts what was sealed for a place.
    """

    settings: Settings
    web: WebClient
    store: Callable[[], Awaitable[FileStore]]
    unseal: Callable[[bytes, str], str]

    async def capture_store(self, caller: str) -> CaptureStore:
        """Open the store of captures for a caller."""
        return CaptureStore(await self.store(), self.settings.fetch_max_bytes, caller)

    async def save_download(self, caller: str, download: Download) -> tuple[Captured, ...]:
        """Store a file that a page of a caller had the browser download."""
        try:
            return await (await self.capture_store(caller)).save_download(download, _DOWNLOAD_S)
        except (Error, FaultError):
            return ()


class OperationContext(Struct, frozen=True):
    """A session, and the time until which an operation may run in it (monotonic, seconds); `local` callers may more.

    `expects` is the digest of the element that was decided about, if somebody did. `brisk` is that of the AskBrowser.
    """

    dependencies: OperationDependencies
    session: OpenSession
    deadline_s: float
    local: bool
    expects: str
    brisk: bool

    async def in_tab(self, number: int) -> tuple[TabContext, bool]:
        """Open a tab, and return whether it had to be opened: then it is empty.

        Raises:
            FaultError: EXECUTION_ERROR where a dialog waits; PAGE_CRASHED; INTERNAL_BUSY.
        """
        open_tab, is_fresh = await self.session.ensure_open(number)
        open_tab.check_no_dialog()
        tab = await open_tab.tab()
        above = (self.dependencies, self.session, self.deadline_s, self.local, self.expects, self.brisk)
        return TabContext(*above, number, open_tab, tab), is_fresh

    @property
    def left_ms(self) -> float:
        """The time that is left."""
        return max((self.deadline_s - time.monotonic()) * 1000, 1)

    def until(self, seconds: float) -> float:
        """Return the time in so many seconds, or the deadline if that is earlier."""
        return min(self.deadline_s, time.monotonic() + seconds)


class TabContext(OperationContext, frozen=True):
    """The same in one open tab."""

    number: int
    open_tab: OpenTab
    tab: Tab

    async def page(self) -> PageRef:
        """Return address and title of the page."""
        url = self.tab.recorder.main_url if self.tab.shows_error else self.tab.page.url
        title = self.session.title(self.number)
        if self.open_tab.responds:
            with self.open_tab.dialogs.interrupting():
                title = self.session.set_title(self.number, await self.tab.run(_TITLE, str) or "")
        return PageRef(url=url, title=title)
