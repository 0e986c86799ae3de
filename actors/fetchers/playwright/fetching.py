"""Gets one page with the browser: goes there, lets it settle, reads it, and takes the pictures that were asked for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Literal, Protocol

import anyio
from msgspec import structs
from playwright.async_api import Error

from actors.fetchers import observed_apis
from actors.fetchers.extract.extraction import Extraction
from actors.fetchers.extract.page import extract_html
from actors.fetchers.extracting import Extractor
from actors.fetchers.playwright.browser import Browser, BrowserSettings
from actors.fetchers.playwright.settling import FOR_FETCH
from actors.fetchers.playwright.tab import Tab, tab
from actors.fetchers.sessions import Session
from actors.fetchers.web import guard
from actors.fetchers.web.rates import retry_after_ms
from protocol.browse import DEFAULT_LATENCY_MS, RenderTier
from protocol.documents import untrusted
from protocol.faults import Code, FaultError, fault
from protocol.pages import Fetched, FetchPage

_RESERVE_SHARE = 10
_MAX_RESERVE_MS = 1_500
"""A tenth of the time, so much at most, is kept for reading the page and for the answer."""

_RECORD_S = 0.5
"""How long bodies that are still being read for the record are waited for."""

_MARKUP = ("text/html", "application/xhtml+xml", "")
_FIRST_ERROR = 400


class FetchSettings(BrowserSettings, Protocol):
    """What a fetch reads of the settings."""

    @property
    def browser_block(self) -> Literal["unseen", "always", "never"]:
        """When images, fonts, media and trackers are left out."""
        ...

    @property
    def fetch_max_bytes(self) -> int:
        """Bytes of one page at most."""
        ...


@dataclass(frozen=True)
class Fetching:
    """Gets pages with one browser."""

    settings: FetchSettings
    browser: Browser
    extractor: Extractor

    async def fetch(self, request: FetchPage, session: Session, remaining_ms: int | None) -> Fetched:
        """Get one page; what it leaves behind goes into `session`.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, PAGE_CRASHED, BROWSER_* or CONTENT_*.
        """
        guard.check_url(request.url)
        deadline_s = time.monotonic() + _time_for_site(remaining_ms) / 1000
        try:
            with anyio.fail_after(deadline_s - time.monotonic()):
                async with (
                    self.browser.context(session) as context,
                    tab(context, block=self._blocks(request), bodies=True) as page,
                ):
                    return await self._fetch(request, page, deadline_s)
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error
        except Error as error:
            raise FaultError(fault(Code.PAGE_CRASHED)) from error

    def _blocks(self, request: FetchPage) -> bool:
        looked_at = request.screenshot is not None or request.pdf
        return self.settings.browser_block == "always" or (self.settings.browser_block == "unseen" and not looked_at)

    async def _fetch(self, request: FetchPage, page: Tab, deadline_s: float) -> Fetched:
        await page.go(request.url, (deadline_s - time.monotonic()) * 1000)
        cut_short = await page.settle(FOR_FETCH, deadline_s)
        html = await page.html(self.settings.fetch_max_bytes)
        now = datetime.now(UTC)
        found = await self.extractor.run(
            extract_html, html, page.page.url, include_html=request.include_html, captured_at=now
        )
        return _fetched(request, page, found, now, cut_short)


def _time_for_site(remaining_ms: int | None) -> int:
    left = DEFAULT_LATENCY_MS if remaining_ms is None else remaining_ms
    return max(left - min(left // _RESERVE_SHARE, _MAX_RESERVE_MS), 1)


def _fetched(request: FetchPage, page: Tab, found: Extraction, now: datetime, cut_short: str) -> Fetched:
    url = page.page.url
    digest = blake2b(f"{url}\n{found.summary.markdown}".encode("utf-8", "replace"), digest_size=12)
    main = page.seen.main
    headers = main.headers if main else {}
    return Fetched(
        tier=RenderTier.PLAYWRIGHT,
        status=main.status if main else 200,
        final_url=url,
        content_type=headers.get("content-type", ""),
        document=untrusted(f"page_{digest.hexdigest()}", found.summary),
        evidence=structs.replace(found.evidence, cut_short=cut_short),
        title=found.title,
        content=found.content,
        tables=found.tables,
        fields=dict(found.fields),
        apis=observed_apis.merged(page.seen.exchanges, found.apis, by_browser=True),
        selectors=found.selectors,
        titles=found.titles,
        fetched_at=int(now.timestamp() * 1000),
        retry_after_ms=retry_after_ms(headers.get("retry-after"), time.time()),
        network=tuple(page.seen.exchanges) if request.include_network else (),
        console=tuple(page.seen.lines) if request.include_console else (),
        dialogs=tuple(page.seen.dialogs),
    )
