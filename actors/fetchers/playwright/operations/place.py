"""Where an operation is done, and what it may use there."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from playwright.async_api import Download, Error

from actors.fetchers.playwright.awake import Awake
from actors.fetchers.playwright.captures import Keeping, Store
from actors.fetchers.playwright.fetching import Turns
from actors.fetchers.playwright.held import MAX_TITLE_CHARS, Held
from actors.fetchers.playwright.tab import Tab
from protocol.browsers.pageinfo import PageRef
from protocol.faults import FaultError
from protocol.pages import Captured

_FILE_S = 120.0
"""What a download may take."""

_TITLE = "document.title"
_ERROR_PAGE = "chrome-error:"


class OperationSettings(Protocol):
    """What operations read of the settings."""

    @property
    def browser_javascript(self) -> bool:
        """Whether execute_javascript is allowed at all."""
        ...

    @property
    def fetch_max_bytes(self) -> int:
        """Bytes of a file or a picture at most."""
        ...


@dataclass(frozen=True)
class Means:
    """What every operation may use: `web` says when a page may be asked for, `store` is where captures are kept.

    `unseal` opens what was sealed for a place.
    """

    settings: OperationSettings
    web: Turns
    store: Callable[[], Awaitable[Store]]
    unseal: Callable[[bytes, str], str]

    async def keeping(self) -> Keeping:
        """Open what captures are put into."""
        return Keeping(await self.store(), self.settings.fetch_max_bytes)

    async def keep_file(self, download: Download) -> tuple[Captured, ...]:
        """Keep a file that a page had the browser download."""
        try:
            return await (await self.keeping()).download(download, _FILE_S)
        except (Error, FaultError):
            return ()


@dataclass(frozen=True)
class Place:
    """A tab of a session, open, and the time until which something may be done in it (monotonic, seconds)."""

    means: Means
    held: Held
    number: int
    awake: Awake
    tab: Tab
    local: bool
    deadline_s: float

    @property
    def left_ms(self) -> float:
        """Return the time that is left."""
        return max((self.deadline_s - time.monotonic()) * 1000, 1)

    def until(self, seconds: float) -> float:
        """Return the moment in so many seconds, or that of the deadline."""
        return min(self.deadline_s, time.monotonic() + seconds)

    def failed(self) -> bool:
        """Whether the tab shows an error of the browser's in place of a page."""
        return self.tab.page.url.startswith(_ERROR_PAGE)

    async def page(self) -> PageRef:
        """Return where the tab is."""
        raw = self.tab.page
        url = self.tab.seen.main_url if self.failed() else raw.url
        title = self.held.title(self.number)
        if self.awake.reads:
            with self.awake.dialogs.cutting():
                title = (await self.tab.run(_TITLE, str) or "")[:MAX_TITLE_CHARS]
                self.held.entitle(self.number, title)
        return PageRef(url=url, title=title)
