"""What is told of a browse is what happened, and no more than others may know."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.navigator.answer import blockers, decision_trace, field_confidence, page_browsed
from actors.navigator.attempts import Absent, Accepted, Attempt, Failed, Rejected, TooSlow
from protocol.browse import ApiPattern, ApiProvenance, DecisionTrace, TierAttempt, TraceSummary, ValidationDetails
from protocol.confidence import FieldConfidence, Level, Source, Use, confidence, overall, usable_for
from protocol.faults import Code, fault
from protocol.page import PageKind
from protocol.pages import Fetched, PageBrowsed
from protocol.patterns.pattern import PatternSource
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.unit.actors.page_data import SELECTORS, TITLES, accepted, attempt, fetched, rejected, verdict

CHEAP, MIDDLE, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT


def details(length: int) -> ValidationDetails:
    return ValidationDetails(
        content_length=length, has_semantic_markers=False, has_incomplete_markers=False, meets_min_length=length >= 500
    )


@requirement("000.6.decision-trace")
@requirement("000.6.tier-attempt")
def test_a_trace_tells_every_tier_and_counts_those_that_were_tried() -> None:
    good = accepted(BROWSER)
    short = rejected(Code.CONTENT_TOO_SHORT, length=45, reason="Content too short (45 chars, min 500)")
    attempts = [attempt(CHEAP, short, 150), Attempt(MIDDLE, Absent(), 3), attempt(BROWSER, good, 2_500)]

    trace = decision_trace(attempts, good.page, 2_700)

    reason = "Content too short (45 chars, min 500)"
    assert trace == DecisionTrace(
        tiers=(
            TierAttempt(
                tier=CHEAP, success=False, duration_ms=150, failure_reason=reason, validation_details=details(45)
            ),
            TierAttempt(tier=MIDDLE, success=False, duration_ms=0, failure_reason="No live replica of this tier"),
            TierAttempt(tier=BROWSER, success=True, duration_ms=2_500, validation_details=details(2_000)),
        ),
        selectors=SELECTORS,
        title=TITLES,
        summary=TraceSummary(
            total_tiers_attempted=2,
            successful_tier=BROWSER,
            total_selectors_attempted=2,
            selected_selector="article",
            total_duration_ms=2_700,
        ),
    )


def test_a_usable_page_of_a_lower_tier_is_the_success() -> None:
    short = rejected(Code.CONTENT_TOO_SHORT, usable=True)
    broken = Failed(fault(Code.NETWORK_TIMEOUT, "Page requires full browser: WebGL detected."))
    attempts = [attempt(CHEAP, short), attempt(MIDDLE, broken), Attempt(BROWSER, TooSlow(900))]

    trace = decision_trace(attempts, short.page, 240)

    assert [(one.tier, one.success, one.failure_reason) for one in trace.tiers] == [
        (CHEAP, True, msgspec.UNSET),
        (MIDDLE, False, "Page requires full browser: WebGL detected"),
        (BROWSER, False, "Not started: only 900 ms of maxLatencyMs were left"),
    ]
    assert (trace.summary.successful_tier, trace.summary.total_tiers_attempted) == (CHEAP, 2)


def test_a_page_without_selectors_names_none() -> None:
    page = fetched(selectors=())

    summary = decision_trace([], page, 0).summary

    assert (summary.total_selectors_attempted, summary.selected_selector) == (0, "")


def judged_as(page: Fetched, **fields: Any) -> Accepted:
    return Accepted(page, msgspec.structs.replace(verdict(), **fields))


@requirement("000.2.field-confidence")
def test_every_field_has_its_confidence() -> None:
    table = confidence(Source.STRUCTURED_DATA)
    page = fetched(tables=(table,))

    fields = field_confidence(page, [judged_as(page)])

    assert fields == FieldConfidence(
        title=page.title, content=page.content, overall=overall(page.title, page.content, 1.0), tables=(table,)
    )


@requirement("000.2.baselines")
def test_an_api_has_the_source_that_it_is_known_by() -> None:
    def api(name: str, source: PatternSource, *, bypass: bool = False) -> ApiPattern:
        return ApiPattern(
            endpoint=f"https://a.example/{name}",
            method="GET",
            confidence="high",
            can_bypass=bypass,
            provenance=ApiProvenance(source=source),
        )

    seen = PatternSource.API_EXTRACTION
    page = fetched(
        apis=(
            api("answered", seen, bypass=True),
            api("named", seen),
            api("learned", seen, bypass=True),
            api("introspected", PatternSource.GRAPHQL_INTROSPECTION),
        )
    )

    fields = field_confidence(page, [judged_as(page)], learned=2)

    sources = (Source.API_RESPONSE, Source.HEURISTIC, Source.LEARNED_PATTERN, Source.GRAPHQL)
    assert fields.discovered_apis == tuple(map(confidence, sources))


def test_what_makes_extraction_unsure_of_a_short_page_the_verifier_has_judged() -> None:
    page = fetched(content=confidence(Source.HEURISTIC, 0.02))

    sure, unsure = (field_confidence(page, [judged_as(page, probability=each)]).content.score for each in (1.0, 0.5))

    assert (sure, unsure) == (0.55, 0.275)


def test_the_whole_is_as_sure_as_the_page_is_the_right_one() -> None:
    page = fetched()

    fields = field_confidence(page, [judged_as(page), judged_as(page, probability=0.5)])

    assert (fields.content, fields.overall) == (page.content, overall(page.title, page.content, 0.5))


def test_content_that_was_not_accepted_is_low_at_best() -> None:
    page = fetched(title=confidence(Source.STRUCTURED_DATA, 1.0))

    fields = field_confidence(page, [Rejected(page, verdict(), Code.CONTENT_TOO_SHORT)])

    content = confidence(Source.SELECTOR_MATCH, 0.59)
    assert content.level is Level.LOW
    assert (fields.content, fields.overall) == (content, confidence(Source.AGGREGATED, 0.59))


def test_what_is_low_already_stays() -> None:
    page = fetched(content=confidence(Source.FALLBACK))

    assert field_confidence(page, [Rejected(page, verdict(), Code.CONTENT_EMPTY)]).content == page.content


@given(scores=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)))
def test_a_page_with_a_wall_is_for_display_at_best(scores: tuple[float, float, float]) -> None:
    page = fetched(title=confidence(Source.META_TAGS, scores[0]), content=confidence(Source.SELECTOR_MATCH, scores[1]))
    teaser = judged_as(page, probability=scores[2], walls=(PageKind.PAYWALL,))

    fields = field_confidence(page, [judged_as(fetched()), teaser])

    assert blockers([judged_as(fetched()), teaser]) == (PageKind.PAYWALL,)
    assert set(usable_for(fields.overall.score)) <= {Use.DISPLAY}
    assert fields.content.score <= page.content.score


def test_the_event_sums_up() -> None:
    good = accepted(BROWSER)
    attempts = [attempt(CHEAP, rejected(Code.CONTENT_EMPTY)), Attempt(MIDDLE, Absent()), attempt(BROWSER, good)]

    event = page_browsed("https://example.com/a", attempts, 700, answer=good.page, code=None)

    assert event == PageBrowsed(
        url="https://example.com/a", duration_ms=700, tier=BROWSER, tiers_tried=(CHEAP, BROWSER)
    )


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://example.com/a?token=secret#part", "https://example.com/a"),
        ("https://example.com/a#access_token=secret", "https://example.com/a"),
        ("https://me:secret@example.com/a", "https://example.com/a"),
        ("https://me:sec@ret@example.com", "https://example.com"),
        ("https://me:secret@[broken?x=1", "https://[broken"),
        ("https://example.com/@weaver", "https://example.com/@weaver"),
        ("not a url", "not a url"),
    ],
)
def test_the_event_holds_no_secret_of_the_url(url: str, public: str) -> None:
    assert page_browsed(url, [], 0, answer=None, code=None).url == public


@given(secret=st.from_regex(r"s3cret[a-z/:@]{0,6}", fullmatch=True), tier=st.sampled_from(RenderTier))
def test_no_query_gets_out(secret: str, tier: RenderTier) -> None:
    event = page_browsed(
        f"https://example.com/?key={secret}", [attempt(tier, accepted(tier))], 1, answer=None, code=None
    )

    assert secret not in event.url
