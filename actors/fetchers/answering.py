"""What the answers of all tiers have in common: their form, what is read of a page, and the time that it may take."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from actors.extraction.parse.formats.kinds import kind_of
from actors.sites import site_of
from protocol.browse import DEFAULT_LATENCY_MS
from protocol.documents import untrusted
from protocol.faults import FaultError
from protocol.pages import Fetched
from protocol.tiers import RenderTier

_RESERVE_SHARE = 10
RESERVE_MS = 1_000
"""A tenth of the time, a second at most, is kept for the answer: the site must be late before the call is."""

_FIRST_ERROR = 400
_ANY_PAGE = b"<title>A page</title><main><h1>A page</h1><p>It has a few words, so that everything is loaded.</p></main>"


def warm() -> None:
    """Load what every tier needs: the models of extraction, and the list of public suffixes."""
    extract(_ANY_PAGE, "text/html", "")
    site_of("https://weft.example/")


def time_for_site(remaining_ms: int | None, reserve_ms: int = RESERVE_MS) -> int:
    """Return how many milliseconds of those that are left a site may have."""
    left = DEFAULT_LATENCY_MS if remaining_ms is None else remaining_ms
    return max(left - min(left // _RESERVE_SHARE, reserve_ms), 1)


def readable(body: bytes, content_type: str, status: int) -> tuple[bytes, str]:
    """Return what there is to extract from: of an error without a text not its body, for its status is the answer."""
    if status >= _FIRST_ERROR:
        try:
            kind_of(body, content_type)
        except FaultError:
            return b"", "text/plain"
    return body, content_type


def fetched(tier: RenderTier, found: Extraction, **seen: Any) -> Fetched:
    """Answer with a page: what extraction gives of it, and `seen`, the other fields of the answer."""
    url = found.summary.url
    digest = blake2b(f"{url}\n{found.summary.markdown}".encode("utf-8", "replace"), digest_size=12)
    given: dict[str, Any] = {
        "final_url": url,
        "evidence": found.evidence,
        "title": found.title,
        "content": found.content,
        "tables": found.tables,
        "fields": dict(found.fields),
        "apis": found.apis,
        "selectors": found.selectors,
        "titles": found.titles,
    }
    document = untrusted(f"page_{digest.hexdigest()}", found.summary)
    return Fetched(tier=tier, document=document, **(given | seen))
