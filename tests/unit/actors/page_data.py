"""Pages, verdicts and attempts for the tests of the actors that browse."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.navigator.attempts import Accepted, Attempt, Outcome, Rejected
from protocol.browse import SelectorAttempt, TitleAttempt, ValidationDetails
from protocol.confidence import Source, confidence
from protocol.documents import Document, WebObservationSummary, untrusted
from protocol.faults import Code
from protocol.pages import Fetched, PageClaim, PageEvidence, Verdict
from protocol.tiers import RenderTier

URL = "https://example.com/guide/looms"

SELECTORS = (
    SelectorAttempt(
        selector="main", source="main", matched=False, content_length=0, confidence_score=0.85, selected=False
    ),
    SelectorAttempt(
        selector="article", source="article", matched=True, content_length=2_000, confidence_score=0.85, selected=True
    ),
)
TITLES = (TitleAttempt(source="title", matched=True, confidence_score=0.85, selected=True, value="Looms"),)


def document(title: str = "Looms", markdown: str = "Words about looms.") -> Document[WebObservationSummary]:
    return untrusted("page-1", WebObservationSummary(url=URL, title=title, markdown=markdown))


def evidence(content_length: int = 2_000, **seen: Any) -> PageEvidence:
    return PageEvidence(content_length=content_length, **seen)


def fetched(tier: RenderTier = RenderTier.INTELLIGENCE, content_length: int = 2_000, **fields: Any) -> Fetched:
    page = Fetched(
        tier=tier,
        status=200,
        final_url=URL,
        content_type="text/html",
        document=document(),
        evidence=evidence(content_length),
        title=confidence(Source.META_TAGS),
        content=confidence(Source.SELECTOR_MATCH),
        selectors=SELECTORS,
        titles=TITLES,
    )
    return msgspec.structs.replace(page, **fields)


def claim(
    content_length: int = 2_000,
    *,
    title: str = "Looms",
    markdown: str = "",
    **fields: Any,
) -> PageClaim:
    """Make a claim; what is no field of it is evidence."""
    own = {name: fields.pop(name) for name in tuple(fields) if name in PageClaim.__struct_fields__}
    made = PageClaim(
        url=URL,
        final_url=URL,
        status=200,
        tier=RenderTier.INTELLIGENCE,
        evidence=evidence(content_length, **fields),
        opening=document(title, markdown),
    )
    return msgspec.structs.replace(made, **own)


def verdict(code: Code | None = None, *, usable: bool | None = None, length: int = 2_000, reason: str = "") -> Verdict:
    return Verdict(
        details=ValidationDetails(
            content_length=length,
            has_semantic_markers=False,
            has_incomplete_markers=False,
            meets_min_length=length >= 500,
        ),
        code=code,
        usable=code is None if usable is None else usable,
        reasons=(reason,) if reason else (),
    )


def accepted(tier: RenderTier = RenderTier.INTELLIGENCE) -> Accepted:
    return Accepted(fetched(tier), verdict())


def rejected(
    code: Code,
    tier: RenderTier = RenderTier.INTELLIGENCE,
    *,
    usable: bool = False,
    length: int = 300,
    reason: str = "",
    **fields: Any,
) -> Rejected:
    judgement = verdict(code, usable=usable, length=length, reason=reason)
    return Rejected(fetched(tier, length, **fields), judgement, code)


def attempt(tier: RenderTier, outcome: Outcome, duration_ms: int = 120) -> Attempt:
    return Attempt(tier, outcome, duration_ms)
