"""Puts together what the tier answers: the page as it was shown, and what was seen of it on the way."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from actors.extraction.extraction import Extraction
from actors.fetchers import answering, observed_apis
from actors.fetchers.lightweight.network import CONFINED
from actors.fetchers.lightweight.observed import Observed
from actors.fetchers.lightweight.sight import Sight
from actors.fetchers.web.client import Response
from actors.fetchers.web.rates import retry_after_ms
from protocol.pages import Fetched, FetchPage
from protocol.tiers import RenderTier

_MISSING_SELECTOR = "selector_missing"
_WITHHELD = "cookies_withheld"


def observed(sight: Sight, before: int) -> Observed:
    """Say what was seen of a page in the terms that its signals are judged by; `before` as in `text_before`."""
    reading, shown, tally = sight.reading, sight.shown, sight.tally
    return Observed(
        text=shown.text,
        words=shown.words,
        chars=shown.chars,
        status=sight.status,
        settling=sight.settling,
        cut_short=sight.cut_short,
        scripts=max(tally.scripts, shown.scripts),
        failed_scripts=tally.failed_scripts,
        errors=reading.errors,
        rejections=reading.rejections,
        requests=tally.requests,
        failed_requests=tally.failed,
        api_4xx=tally.api_4xx,
        api_5xx=tally.api_5xx,
        refused_requests=tally.refused,
        oversized_requests=tally.oversized,
        documents=tally.documents,
        contexts=tuple(reading.contexts.split()),
        refused_contexts=tuple(reading.refused.split()),
        web_sockets=reading.n_web_sockets,
        workers=reading.n_workers,
        extended_elements=reading.n_extended_elements,
        missing_elements=shown.missing,
        media_elements=shown.media,
        canvases=shown.canvases,
        foreign_frames=shown.foreign,
        empty_roots=shown.empty_roots,
        layout_reads=reading.n_layout_reads,
        intersections=reading.n_intersections,
        resizes=reading.n_resizes,
        animations=reading.n_animations,
        late_timers=reading.lates,
        media_queries=reading.n_media_queries,
        text_before=before,
        event_sources=reading.n_event_sources,
        lacks=tuple(reading.lacks.split()),
        drawn_reads=reading.n_drawn_reads,
        performance=reading.n_performance,
        tall=shown.tall,
    )


def rendered(
    request: FetchPage, first: Response, sight: Sight, found: Extraction, escalate: tuple[str, ...]
) -> Fetched:
    """Answer with a page whose scripts ran."""
    tally = sight.tally
    lacks = {_MISSING_SELECTOR: not sight.found, CONFINED: tally.left_out, _WITHHELD: tally.withheld}
    missing = (name for name, seen in lacks.items() if seen)
    evidence = structs.replace(found.evidence, escalate=(*escalate, *missing), cut_short=sight.cut_short)
    return _fetched(
        first,
        found,
        status=sight.status,
        evidence=evidence,
        apis=observed_apis.merged(tally.apis, found.apis, by_browser=False),
        retry_count=first.retry_count + tally.retries,
        network=(*first.exchanges, *tally.exchanges) if request.include_network else (),
        console=sight.console,
        dialogs=sight.dialogs,
    )


def plain(request: FetchPage, first: Response, found: Extraction, cut_short: str = "") -> Fetched:
    """Answer with a page that has no scripts to run; `cut_short` says why they were not where it has."""
    evidence = structs.replace(found.evidence, escalate=("cut_short",) if cut_short else (), cut_short=cut_short)
    return _fetched(first, found, evidence=evidence, network=first.exchanges if request.include_network else ())


def _fetched(first: Response, found: Extraction, **seen: Any) -> Fetched:
    given: dict[str, Any] = {
        "status": first.status,
        "content_type": first.content_type,
        "fetched_at": int(first.received_at * 1000),
        "from_cache": first.from_cache,
        "retry_after_ms": retry_after_ms(first.headers.get("retry-after"), first.received_at),
        "retry_count": first.retry_count,
    }
    return answering.fetched(RenderTier.LIGHTWEIGHT, found, **(given | seen))
