"""Puts together what the tier answers: the page as it was shown, and what was seen of it on the way."""

from __future__ import annotations

import time

from msgspec import structs

from actors.extraction.extraction import Extraction
from actors.fetchers import answering, observed_apis
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.web.rates import retry_after_ms
from protocol.pages import Captured, Fetched, FetchPage
from protocol.tiers import RenderTier

_OK = 200


def answered(
    request: FetchPage, tab: Tab, found: Extraction, captures: tuple[Captured, ...], cut_short: str
) -> Fetched:
    """Answer with a page."""
    seen = tab.seen
    headers = seen.main.headers if seen.main else {}
    return answering.fetched(
        RenderTier.PLAYWRIGHT,
        found,
        status=seen.main.status if seen.main else _OK,
        content_type=headers.get("content-type", ""),
        evidence=structs.replace(found.evidence, cut_short=cut_short),
        apis=observed_apis.merged(seen.calls, found.apis, by_browser=True),
        fetched_at=time.time_ns() // 1_000_000,
        retry_after_ms=retry_after_ms(headers.get("retry-after"), time.time()),
        network=tuple(seen.exchanges) if request.include_network else (),
        console=tuple(seen.lines) if request.include_console else (),
        captures=captures,
        dialogs=tuple(seen.dialogs),
    )
