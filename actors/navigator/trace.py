"""What is told of a browse: the decision trace and the confidence of the answer, the event for everybody else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from msgspec import UNSET, UnsetType

from actors.navigator.attempts import (
    Absent,
    Accepted,
    Attempt,
    Failed,
    Outcome,
    Overtaken,
    Passed,
    Rejected,
    TooSlow,
    reason,
)
from protocol.browse import DecisionTrace, TierAttempt, TraceSummary, ValidationDetails
from protocol.confidence import FieldConfidence, Source, confidence, overall
from protocol.faults import Code
from protocol.pages import Fetched, PageBrowsed

UNVALIDATED_CEILING = 0.59
"""The best score of content that the verifier objected to: low, to be checked against other sources (000 §2)."""


def decision_trace(attempts: Sequence[Attempt], page: Fetched, duration_ms: int) -> DecisionTrace:
    """Return how `page` became the answer (000 §6); a tier that was passed over is listed and not counted."""
    selected = next((one.selector for one in page.selectors if one.selected), "")
    return DecisionTrace(
        tiers=tuple(_tier(attempt, page) for attempt in attempts),
        selectors=page.selectors,
        title=page.titles,
        summary=TraceSummary(
            total_tiers_attempted=sum(attempt.tried for attempt in attempts),
            successful_tier=page.tier,
            total_selectors_attempted=len(page.selectors),
            selected_selector=selected,
            total_duration_ms=duration_ms,
        ),
    )


def field_confidence(page: Fetched, *, accepted: bool) -> FieldConfidence:
    """Rate every field of a page; content that was not accepted is capped at `UNVALIDATED_CEILING`."""
    content = page.content
    if not accepted:
        content = confidence(content.source, min(content.score, UNVALIDATED_CEILING))
    return FieldConfidence(
        title=page.title,
        content=content,
        overall=overall(page.title, content),
        tables=page.tables or UNSET,
        discovered_apis=tuple(confidence(Source.HEURISTIC, api.confidence_score or None) for api in page.apis) or UNSET,
        fields=page.fields or UNSET,
    )


def page_browsed(
    url: str, attempts: Sequence[Attempt], duration_ms: int, *, answer: Fetched | None, code: Code | None
) -> PageBrowsed:
    """Sum up a browse for those who learn from it, without the parts of a URL that hold secrets."""
    return PageBrowsed(
        url=_public(url),
        duration_ms=duration_ms,
        tier=answer.tier if answer else None,
        code=code,
        tiers_tried=tuple(attempt.tier for attempt in attempts if attempt.tried),
    )


def _tier(attempt: Attempt, page: Fetched) -> TierAttempt:
    success = isinstance(attempt.outcome, Accepted | Rejected) and attempt.outcome.page is page
    return TierAttempt(
        tier=attempt.tier,
        success=success,
        duration_ms=attempt.duration_ms if attempt.tried else 0,
        failure_reason=UNSET if success else reason(attempt.outcome),
        validation_details=_details(attempt.outcome),
    )


def _details(outcome: Outcome) -> ValidationDetails | UnsetType:
    match outcome:
        case Accepted(verdict=verdict) | Rejected(verdict=verdict):
            return verdict.details
        case Failed() | Absent() | TooSlow() | Passed() | Overtaken():
            return UNSET
        case _:
            assert_never(outcome)


_USERINFO = re.compile(r"//[^/]*@")


def _public(url: str) -> str:
    """Cut off query, fragment and userinfo; works on what is no URL, too."""
    return _USERINFO.sub("//", re.split(r"[?#]", url, maxsplit=1)[0], count=1)
