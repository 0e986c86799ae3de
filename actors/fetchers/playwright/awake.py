"""A tab of a browser session while it is open in the browser, and what its page calls for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import anyio
from playwright.async_api import Dialog, Download, Error, Page

from actors.fetchers.playwright.browser import Context
from actors.fetchers.playwright.dialogs import Dialogs
from actors.fetchers.playwright.recording import Recorder
from actors.fetchers.playwright.tab import Tab, take
from actors.fetchers.playwright.view import Outline

_CLOSE_S = 3.0
_POPUP_S = 2.0
"""How long a window that a page is opening may take until the browser shows it."""

_POLL_S = 0.02
_PROBE_S = 1.0


class Household(Protocol):
    """What the pages of a session call for beyond themselves."""

    async def popup(self, page: Page) -> None:
        """Take a window that a page opened."""
        ...

    async def download(self, download: Download) -> None:
        """Take a file."""
        ...


@dataclass(eq=False)
class Awake:
    """A tab with its dialogs; a window that a page opened is taken hold of when it is first used."""

    context: Context
    page: Page
    household: Household
    dialogs: Dialogs = field(default_factory=Dialogs)
    stuck: bool = False
    """Whether it did not answer when it was asked last."""

    before: Outline | None = None
    """How the page stood before it was handled last."""

    _tab: Tab | None = None
    _windows_asked: int = 0
    _windows_seen: int = 0
    seen: Recorder = field(init=False)

    def __post_init__(self) -> None:
        """Begin to write down what the page does."""
        self.seen = Recorder(self.page, attendant=self)
        self.seen.attach()
        self.page.on("dialogclosed", self.dialogs.closed)
        self.page.on("close", self._closed)

    async def tab(self) -> Tab:
        """Return the tab.

        Raises:
            FaultError: PAGE_CRASHED where it is gone.
        """
        if self._tab is None:
            self._tab = await take(self.context, self.page, self.seen)
            self._tab.world.cdp.on("Page.windowOpen", self._window)
            await self._tab.send("Page.enable")
        return self._tab

    @property
    def is_closed(self) -> bool:
        """Whether its page was closed, by itself perhaps, or with its browser."""
        return self.page.is_closed() and not self.seen.crashed

    @property
    def reads(self) -> bool:
        """Whether its page can be asked for anything now."""
        return not (self.stuck or self.dialogs.pending or self.seen.crashed or self.page.is_closed())

    async def probe(self) -> None:
        """See whether its page answers."""
        with anyio.move_on_after(_PROBE_S) as patience, suppress(Error):
            await self.page.evaluate("1")
        self.stuck = patience.cancelled_caught

    async def windows(self) -> None:
        """Wait until the windows that the page is opening are there."""
        with anyio.move_on_after(_POPUP_S):
            while self._windows_seen < self._windows_asked:  # noqa: ASYNC110 - the browser tells of them by callbacks
                await anyio.sleep(_POLL_S)
        self._windows_asked = self._windows_seen

    async def close(self) -> None:
        """Close it; nothing that the page says can keep it open."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            try:
                await self.page.close()
            except Error:
                return

    async def dialog(self, asked: Dialog) -> None:
        """Let a dialog wait."""
        await self.dialogs.opened(asked)

    async def popup(self, page: Page) -> None:
        """Count a window, and hand it on."""
        self._windows_seen += 1
        await self.household.popup(page)

    async def download(self, download: Download) -> None:
        """Hand a file on."""
        await self.household.download(download)

    def _window(self, _: object) -> None:
        self._windows_asked += 1

    def _closed(self, _: object) -> None:
        self.dialogs.end()
