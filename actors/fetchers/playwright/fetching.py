"""Gets one page with the browser: goes there, lets it settle, reads it, and takes the pictures that were asked for."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

import anyio
import structlog
from playwright.async_api import Error

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, extract_html
from actors.fetchers import answering
from actors.fetchers.extracting import Extractor
from actors.fetchers.playwright import captures, faults, overlays, reading, scrolling
from actors.fetchers.playwright.answer import answered
from actors.fetchers.playwright.browser import Browser, BrowserSettings, Context
from actors.fetchers.playwright.captures import Keeping, Store
from actors.fetchers.playwright.settling import FOR_FETCH
from actors.fetchers.playwright.tab import HUNG, Tab, tab
from actors.fetchers.script_engine import evaluate
from actors.fetchers.sessions import Session
from actors.fetchers.web import guard
from protocol.faults import Code, FaultError, fault
from protocol.pages import Captured, Fetched, FetchPage

log = structlog.stdlib.get_logger()

STORAGE_NOT_KEPT = "storage_not_kept"

_RESERVE_MS = 1_500
"""A tenth of the time, so much at most, is kept for reading the page and for the answer."""

_RECORD_S = 0.5
"""How long bodies that are still being read for the record are waited for."""

_EMPTY = frozenset({204, 205})

MISSING_SELECTOR = "wait_for_selector"
MISSING_ELEMENT = "screenshot_selector"
TOO_LONG = "size"


class FetchSettings(BrowserSettings, Protocol):
    """What a fetch reads of the settings."""

    @property
    def browser_block(self) -> Literal["unseen", "always", "never"]:
        """When images, fonts, media and trackers are left out."""
        ...

    @property
    def fetch_max_redirects(self) -> int:
        """Redirects of one page at most."""
        ...

    @property
    def fetch_max_bytes(self) -> int:
        """Bytes of one page at most."""
        ...


class Turns(Protocol):
    """Says when a page may be asked for."""

    def turn(self, url: str, timeout_ms: int, *, obey_robots: bool = False) -> AbstractAsyncContextManager[None]:
        """Wait for the turn of a page, and count it as open while the block lasts."""
        ...


@dataclass(frozen=True)
class Fetching:
    """Gets pages with one browser; `web` says when it is their turn, `store` gives where captures are kept."""

    settings: FetchSettings
    browser: Browser
    web: Turns
    extractor: Extractor
    store: Callable[[], Awaitable[Store]]

    async def fetch(self, request: FetchPage, session: Session, remaining_ms: int | None) -> Fetched:
        """Get one page; what it leaves behind goes into `session`.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, PAGE_CRASHED, BROWSER_*, CONTENT_*,
                RATE_LIMIT_EXCEEDED or BLOCKED_BY_ROBOTS where it may not be asked for now or at all, or
                ELEMENT_NOT_FOUND where the page shows nothing but the want of what was waited for.
        """
        guard.check_url(request.url)
        left_ms = answering.time_for_site(remaining_ms, _RESERVE_MS)
        try:
            with anyio.fail_after(answering.time_for_site(remaining_ms, _RESERVE_MS // 4) / 1000):
                deadline_s = time.monotonic() + left_ms / 1000
                async with (
                    self.web.turn(request.url, left_ms, obey_robots=request.obey_robots),
                    self.browser.context(session) as context,
                    tab(context, block=self._blocks(request), bodies=request.include_network) as page,
                ):
                    with context.proxy.shots.once(request.url) if request.single_shot else nullcontext():
                        return await _Visit(self, request, context, page, deadline_s).fetched()
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error
        except Error as error:
            raise FaultError(fault(Code.PAGE_CRASHED)) from error

    def _blocks(self, request: FetchPage) -> bool:
        looked_at = request.screenshot is not None or request.pdf
        return self.settings.browser_block == "always" or (self.settings.browser_block == "unseen" and not looked_at)


@dataclass
class _Visit:
    """One page on its way; `cut_short` is the first limit that it met."""

    by: Fetching
    request: FetchPage
    context: Context
    page: Tab
    deadline_s: float
    cut_short: str = ""

    async def fetched(self) -> Fetched:
        """Go there, and answer with what is there."""
        as_file = await self._went()
        main = self.page.seen.main
        if as_file or (main is not None and not reading.is_markup(main.headers.get("content-type", ""))):
            found = await self._plain(as_file=as_file)
            taken = await self._captures()
        else:
            await self._prepare()
            found, taken = await self._shown()
        await self._keep()
        return answered(self.request, self.page, found, taken, self.cut_short)

    async def _went(self) -> bool:
        """Go to the address, and tell whether it is a file that the browser does not show."""
        try:
            response = await self.page.go(self.request.url, self.deadline_s)
        except FaultError:
            if self.page.seen.main is not None and self.page.seen.main.status in _EMPTY:
                return False
            raise
        limit = self.by.settings.fetch_max_redirects
        if response is not None and faults.redirects(response.request) > limit:
            raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))
        return response is None

    async def _prepare(self) -> None:
        """Have the page show everything that was asked for."""
        self._cut(await self.page.settle(FOR_FETCH, self.deadline_s))
        if self.cut_short == HUNG:
            await self.page.stop()
            return
        if self.request.dismiss_overlays:
            await overlays.dismiss(self.page, self.deadline_s)
        if self.request.wait_for_selector is not None:
            await self._wait_for(self.request.wait_for_selector)
        if self.request.scroll_to_load:
            self._cut(await scrolling.load(self.page, self.deadline_s))

    async def _wait_for(self, selector: str) -> None:
        left_ms = max((self.deadline_s - time.monotonic()) * 1000, 1)
        try:
            await self.page.page.wait_for_selector(selector, state="attached", timeout=left_ms)
        except Error as error:
            if faults.is_crash(error):
                raise
            self._cut(MISSING_SELECTOR)
        else:
            self._cut(await self.page.settle(FOR_FETCH, self.deadline_s))

    async def _shown(self) -> tuple[Extraction, tuple[Captured, ...]]:
        self.page.check()
        written = await self.page.html(self.by.settings.fetch_max_bytes)
        self._cut(TOO_LONG if written.cut else "")
        taken = await self._captures()
        found = await self.by.extractor.run(
            extract_html,
            written.html,
            self.page.page.url,
            include_html=self.request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
        )
        if self.cut_short == MISSING_SELECTOR and not found.evidence.content_length:
            message = f"The page has no element {self.request.wait_for_selector}, nor anything else."
            raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="wait_for_selector"))
        return found, taken

    async def _plain(self, *, as_file: bool) -> Extraction:
        limit = self.by.settings.fetch_max_bytes
        body = await reading.body_of(self.page, limit, self.deadline_s, as_file=as_file)
        return await self.by.extractor.run(
            extract,
            body.data,
            body.content_type,
            body.url,
            include_html=self.request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
            clock=time.thread_time,
        )

    async def _captures(self) -> tuple[Captured, ...]:
        """Take and keep what was asked for, and what the page had the browser download."""
        shot, pdf, downloads = self.request.screenshot, self.request.pdf, self.page.seen.downloads
        if shot is None and not pdf and not downloads:
            return ()
        keeping = Keeping(await self.by.store(), self.by.settings.fetch_max_bytes)
        taken: list[Captured] = []
        if shot is not None:
            try:
                data = await captures.screenshot(self.page.page, shot)
                taken += await keeping.keep("screenshot", data, f"image/{shot.form}")
            except Error as error:
                if faults.is_crash(error):
                    raise
                self._cut(MISSING_ELEMENT)
        if pdf:
            data = await self.page.page.pdf(print_background=True)
            taken += await keeping.keep("pdf", data, "application/pdf")
        for download in downloads:
            taken += await keeping.download(download, self.deadline_s - time.monotonic())
        return tuple(taken)

    async def _keep(self) -> None:
        """Wait for what is still being recorded, and keep what the page has left of a saved login."""
        with anyio.move_on_after(_RECORD_S):
            await self.page.seen.finish()
        if self.context.session.profile is None:
            return
        try:
            await self.context.keep()
        except Error as error:
            log.warning(STORAGE_NOT_KEPT, reason=type(error).__name__)

    def _cut(self, limit: str) -> None:
        self.cut_short = self.cut_short or limit
