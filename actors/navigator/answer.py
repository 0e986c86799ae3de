"""The answer of a browse: its pages merged into one, with their decision trace and confidence, and the event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import assert_never

from msgspec import UNSET, UnsetType, structs

from actors import redact
from actors.markdown.plain_text import plain_text
from actors.navigator.attempts import (
    Absent,
    Accepted,
    Attempt,
    Failed,
    Outcome,
    Rejected,
    Skipped,
    Superseded,
    TooSlow,
    reason,
)
from protocol.browse import ApiPattern, DecisionTrace, PatternTrace, TierAttempt, TraceSummary, ValidationDetails
from protocol.confidence import Confidence, FieldConfidence, Source, confidence, overall
from protocol.documents import WebObservationSummary, untrusted
from protocol.faults import Code
from protocol.page import PageKind, RecordList
from protocol.pages import Fetched, PageBrowsed
from protocol.patterns.pattern import PatternSource
from protocol.patterns.use import PatternCall

UNVALIDATED_CEILING = 0.59
"""The best score of content that the verifier objected to, or that is fenced in part, and of the whole then: good for
display alone, to be checked against other sources (000 §2)."""

JUDGED_CONTENT = 0.55
"""The least score of the content of a right page. What makes extraction less sure (few words, a form, marks of loading)
is what the verifier has judged: of gold pages of that kind, half of the words were right."""

WALLED_SHARE = 0.6
"""What the content of a page counts that is fenced in part: most of what is wanted stands behind the wall."""


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


def outcomes_of(page: Fetched, attempts: Sequence[Attempt]) -> list[Accepted | Rejected]:
    """Return what came of the tier that gave the page."""
    outcomes = [attempt.outcome for attempt in attempts]
    return [one for one in outcomes if isinstance(one, Accepted | Rejected) and one.page is page]


def blockers(outcomes: Sequence[Accepted | Rejected]) -> tuple[PageKind, ...]:
    """Return what fences off a part of the pages of an answer."""
    return tuple(dict.fromkeys(chain.from_iterable(outcome.verdict.walls for outcome in outcomes)))


def field_confidence(page: Fetched, outcomes: Sequence[Accepted | Rejected], learned: int = 0) -> FieldConfidence:
    """Rate every field of a page that was put together of those of `outcomes`; the least probable of them counts.

    The last `learned` of its APIs are known from other pages.
    What the verifier objected to, or is fenced in part, is capped at `UNVALIDATED_CEILING`.
    """
    right_page = min(outcome.verdict.probability for outcome in outcomes)
    content, ceiling = page.content, 1.0
    if blockers(outcomes):
        content, ceiling = confidence(content.source, content.score * WALLED_SHARE), UNVALIDATED_CEILING
    elif all(isinstance(outcome, Accepted) for outcome in outcomes):
        content = confidence(content.source, max(content.score, JUDGED_CONTENT * right_page))
    else:
        content, ceiling = confidence(content.source, min(content.score, UNVALIDATED_CEILING)), UNVALIDATED_CEILING
    whole = overall(page.title, content, right_page)
    return FieldConfidence(
        title=page.title,
        content=content,
        overall=confidence(whole.source, min(whole.score, ceiling)),
        tables=page.tables or UNSET,
        discovered_apis=tuple(_of_api(page, place, learned) for place in range(len(page.apis))) or UNSET,
        fields=page.fields or UNSET,
    )


def _of_api(page: Fetched, place: int, learned: int) -> Confidence:
    api = page.apis[place]
    source = _learned_from(api) if place >= len(page.apis) - learned else _seen_in(api)
    return confidence(source, api.confidence_score or None)


def _learned_from(api: ApiPattern) -> Source:
    """Return the source of an API that other pages have taught: what a server says of its own schema is `graphql`."""
    origin = api.provenance
    introspected = origin is not UNSET and origin.source is PatternSource.GRAPHQL_INTROSPECTION
    return Source.GRAPHQL if introspected else Source.LEARNED_PATTERN


def _seen_in(api: ApiPattern) -> Source:
    """Return the source of an API that the page itself has shown: one that answered as it must is no guess."""
    return Source.API_RESPONSE if api.can_bypass else Source.HEURISTIC


def page_browsed(
    url: str, attempts: Sequence[Attempt], duration_ms: int, *, answer: Fetched | None, code: Code | None
) -> PageBrowsed:
    """Sum up a browse for those who learn from it, without the parts of a URL that hold secrets."""
    return PageBrowsed(
        url=redact.without_query(url),
        duration_ms=duration_ms,
        tier=answer.tier if answer else None,
        code=code,
        tiers_tried=tuple(attempt.tier for attempt in attempts if attempt.tried),
        sample=_sample(attempts, answer),
    )


def _sample(attempts: Sequence[Attempt], answer: Fetched | None) -> str:
    """Return the sample of a page that was accepted without objection: nothing else is learned from."""
    accepted = any(isinstance(one.outcome, Accepted) and one.outcome.page is answer for one in attempts)
    return answer.sample if answer is not None and accepted else ""


def _tier(attempt: Attempt, page: Fetched) -> TierAttempt:
    success = isinstance(attempt.outcome, Accepted | Rejected) and attempt.outcome.page is page
    return TierAttempt(
        tier=attempt.tier,
        success=success,
        duration_ms=attempt.duration_ms if attempt.tried else 0,
        failure_reason=UNSET if success else reason(attempt.outcome),
        validation_details=_details(attempt.outcome),
        pattern=UNSET if attempt.by is None else _pattern(attempt.by),
    )


def _pattern(call: PatternCall) -> PatternTrace:
    return PatternTrace(pattern_id=call.pattern_id, trust=call.trust, reason=call.reason)


def _details(outcome: Outcome) -> ValidationDetails | UnsetType:
    match outcome:
        case Accepted(verdict=verdict) | Rejected(verdict=verdict):
            return verdict.details
        case Failed() | Absent() | TooSlow() | Skipped() | Superseded():
            return UNSET
        case _:
            assert_never(outcome)


def merged(pages: Sequence[Fetched]) -> Fetched:
    """Merge pages in their order; the first gives title, fields and address, the least sure the content's confidence.

    `html`, captures, the screenshot and the console are the first page's own.
    """
    first = pages[0]
    if len(pages) == 1:
        return first
    contents = [page.document.content for page in pages]
    return structs.replace(
        first,
        document=untrusted(first.document.doc_id, _summary(contents)),
        content=_least(page.content for page in pages),
        tables=tuple(chain.from_iterable(page.tables for page in pages)),
        evidence=structs.replace(first.evidence, content_length=sum(page.evidence.content_length for page in pages)),
        apis=tuple({(api.method, api.endpoint): api for page in reversed(pages) for api in page.apis}.values()),
        network=tuple(chain.from_iterable(page.network for page in pages)),
        requests=tuple(chain.from_iterable(page.requests for page in pages)),
        retry_count=sum(page.retry_count for page in pages),
        from_cache=all(page.from_cache for page in pages),
    )


def _summary(contents: Sequence[WebObservationSummary]) -> WebObservationSummary:
    first, last = contents[0], contents[-1]
    fields = structs.replace(first.parts.fields, next=last.parts.fields.next)
    parts = structs.replace(
        first.parts,
        fields=fields,
        lists=_lists(contents),
        structured=tuple(chain.from_iterable(content.parts.structured for content in contents)),
    )
    return structs.replace(
        first,
        markdown="\n\n".join(content.markdown for content in contents),
        text="\n\n".join(_text(content) for content in contents),
        extracted_links=tuple(chain.from_iterable(content.extracted_links for content in contents)),
        tables=tuple(chain.from_iterable(content.tables for content in contents)),
        signals=tuple(dict.fromkeys(chain.from_iterable(content.signals for content in contents))),
        parts=parts,
    )


def _lists(contents: Sequence[WebObservationSummary]) -> tuple[RecordList, ...]:
    return tuple(chain.from_iterable(content.parts.lists for content in contents))


def _text(content: WebObservationSummary) -> str:
    return plain_text(content.markdown) if content.text is UNSET else content.text


def _least(sure: Iterable[Confidence]) -> Confidence:
    return min(sure, key=lambda confidence: confidence.score)
