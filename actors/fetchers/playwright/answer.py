"""Puts together what the tier answers: the page as it was shown, and what was seen of it on the way."""

from __future__ import annotations

import time
from hashlib import blake2b

from msgspec import structs

from actors.fetchers import observed_apis
from actors.fetchers.extract.extraction import Extraction
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.web.rates import retry_after_ms
from protocol.browse import RenderTier
from protocol.documents import untrusted
from protocol.pages import Captured, Fetched, FetchPage

_OK = 200


def answered(
    request: FetchPage, tab: Tab, found: Extraction, captures: tuple[Captured, ...], cut_short: str
) -> Fetched:
    """Answer with a page."""
    seen, url = tab.seen, found.summary.url
    digest = blake2b(f"{url}\n{found.summary.markdown}".encode("utf-8", "replace"), digest_size=12)
    headers = seen.main.headers if seen.main else {}
    return Fetched(
        tier=RenderTier.PLAYWRIGHT,
        status=seen.main.status if seen.main else _OK,
        final_url=url,
        content_type=headers.get("content-type", ""),
        document=untrusted(f"page_{digest.hexdigest()}", found.summary),
        evidence=structs.replace(found.evidence, cut_short=cut_short),
        title=found.title,
        content=found.content,
        tables=found.tables,
        fields=dict(found.fields),
        apis=observed_apis.merged(seen.calls, found.apis, by_browser=True),
        selectors=found.selectors,
        titles=found.titles,
        fetched_at=time.time_ns() // 1_000_000,
        retry_after_ms=retry_after_ms(headers.get("retry-after"), time.time()),
        network=tuple(seen.exchanges) if request.include_network else (),
        console=tuple(seen.lines) if request.include_console else (),
        captures=captures,
        dialogs=tuple(seen.dialogs),
    )
