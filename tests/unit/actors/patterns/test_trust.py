"""A pattern is trusted as far as the contract says, loses trust for reasons, and earns it again by pages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from actors.patterns import trust
from protocol.patterns.mapping import Fields, PageMapping
from protocol.patterns.pattern import AnswerCheck, ApiRequest, DecayReason, PagePattern, PatternSource
from protocol.patterns.use import Drift, PatternUsed
from tests.requirements import requirement

DAY = 24 * 60 * 60 * 1000
NOW = 1_800_000_000_000
SOURCES = list(PatternSource)
ORDER = ["low", "medium", "high"]


def pattern(**fields: object) -> PagePattern:
    made = PagePattern(
        pattern_id="p",
        domain="shop.example",
        page="https://shop.example/p/{number}",
        requests=(ApiRequest(url="https://shop.example/api/p/{number}"),),
        shapes=({"type": "object"},),
        checks=(AnswerCheck(path=(0, "id"), slot="{number}"),),
        mapping=PageMapping(page=Fields(fields={}), markdown=()),
        source=PatternSource.API_EXTRACTION,
        score=0.8,
        reproduced=("a", "b"),
        verified_at=NOW,
        created_at=NOW,
    )
    return structs.replace(made, **fields)


def used(**fields: object) -> PatternUsed:
    return structs.replace(
        PatternUsed(pattern_id="p", domain="shop.example", url="https://shop.example/p/1", at_ms=NOW, version=1),
        **fields,
    )


@requirement("000.4.sources")
def test_sources_raise_or_lower_where_a_pattern_begins() -> None:
    scores = {source.value: trust.first_score(source) for source in PatternSource}

    assert scores == {
        "bootstrap": 0.85,
        "openapi_discovery": 0.90,
        "graphql_introspection": 0.90,
        "api_extraction": 0.70,
        "asyncapi_discovery": 0.85,
        "docs_page_detection": 0.80,
        "link_discovery": 0.75,
        "backend_fingerprinting": 0.80,
        "cross_site_transfer": 0.60,
        "user_feedback": 0.80,
        "manual": 0.85,
    }


@requirement("000.4.trust")
@pytest.mark.parametrize(
    ("score", "age_ms", "source", "level"),
    [
        (0.80, 7 * DAY - 1, "api_extraction", "high"),
        (0.80, 7 * DAY, "api_extraction", "medium"),
        (0.799999, 0, "api_extraction", "medium"),
        (1.00, 14 * DAY - 1, "manual", "medium"),
        (1.00, 14 * DAY, "manual", "low"),
        (0.50, 14 * DAY - 1, "api_extraction", "medium"),
        (0.50, 14 * DAY, "api_extraction", "low"),
        (0.499999, 0, "api_extraction", "low"),
        (0.70, 1000 * DAY, "openapi_discovery", "high"),
        (0.70, 1000 * DAY, "graphql_introspection", "high"),
        (0.70, None, "openapi_discovery", "high"),
        (0.699999, 0, "openapi_discovery", "medium"),
        (0.699999, 14 * DAY, "graphql_introspection", "low"),
        (0.70, 1000 * DAY, "asyncapi_discovery", "low"),
        (1.00, None, "manual", "low"),
        (0.00, 0, "manual", "low"),
    ],
)
def test_trust_is_what_the_contract_says_at_every_boundary(
    score: float, age_ms: int | None, source: str, level: str
) -> None:
    verified_at = 0 if age_ms is None else NOW - age_ms

    assert trust.trust(score, PatternSource(source), verified_at, NOW) == level


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({}, True),
        ({"score": 0.5}, True),
        ({"score": 0.49}, False),
        ({"reproduced": ("a",)}, False),
        ({"reproduced": ("a", "a")}, False),
        ({"mapping": None}, False),
        ({"page": ""}, False),
        ({"shapes": ()}, False),
        ({"archived": True}, False),
        ({"light_only": True}, True),
        ({"light_only": True, "score": 0.79}, False),
        ({"verified_at": NOW - 14 * DAY}, False),
        ({"verified_at": NOW - 90 * DAY, "source": PatternSource.MANUAL}, False),
    ],
)
def test_what_may_stand_in_for_rendering(fields: dict[str, object], may: bool) -> None:  # noqa: FBT001 - an expectation
    assert trust.can_bypass(pattern(**fields), NOW) is may


@requirement("000.4.decay")
@pytest.mark.parametrize(
    ("days", "score"), [(6.99, 0.8), (7, 0.75), (13.99, 0.75), (14, 0.70), (21, 0.65), (70, 0.3), (89, 0.3)]
)
def test_time_takes_a_twentieth_a_week_from_the_seventh_day_on(days: float, score: float) -> None:
    now = NOW + round(days * DAY)
    once = trust.decayed(pattern(), now)

    assert once.score == pytest.approx(score)
    assert trust.decayed(once, now) == once


def test_what_time_takes_is_taken_once_and_ends_with_a_verification() -> None:
    steps = pattern()
    for day in range(30):
        steps = trust.decayed(steps, NOW + day * DAY)
    verified = trust.after_check(steps, same=True, page_url="https://shop.example/p/1", now_ms=NOW + 30 * DAY)

    assert steps.score == trust.decayed(pattern(), NOW + 29 * DAY).score == pytest.approx(0.6)
    assert [(one.reason, one.shift) for one in steps.decays] == [(DecayReason.TIME_DECAY, -0.2)]
    assert trust.decayed(verified, NOW + 37 * DAY).score == pytest.approx(verified.score - 0.05)


def test_after_90_days_a_pattern_rests_until_a_page_is_made_by_it_again() -> None:
    archived = trust.decayed(pattern(), NOW + 90 * DAY)
    revived = trust.after_check(archived, same=True, page_url="https://shop.example/p/1", now_ms=NOW + 91 * DAY)

    assert archived.archived
    assert archived.decays[-1].reason is DecayReason.PATTERN_ARCHIVED
    assert not revived.archived


@requirement("000.4.decay")
@pytest.mark.parametrize(
    ("fields", "reason", "shift"),
    [
        ({"drift": Drift.MISSING}, DecayReason.VALIDATION_FAILURES, -0.10),
        ({"drift": Drift.RETYPED}, DecayReason.VALIDATION_FAILURES, -0.10),
        ({"drift": Drift.EMPTIED}, DecayReason.VALIDATION_FAILURES, -0.10),
        ({"drift": Drift.UNLIKE}, DecayReason.VALIDATION_FAILURES, -0.10),
        ({"drift": Drift.STATUS}, DecayReason.SITE_STRUCTURE_CHANGED, -0.20),
        ({"drift": Drift.NOT_JSON}, DecayReason.SITE_STRUCTURE_CHANGED, -0.20),
        ({"drift": Drift.PAGING}, DecayReason.SITE_STRUCTURE_CHANGED, -0.20),
        ({"drift": Drift.LOGIN_WALL}, DecayReason.AUTH_EXPIRED, -0.10),
        ({"login_ended": True}, DecayReason.AUTH_EXPIRED, -0.10),
        ({"limited": True, "transient": True}, DecayReason.RATE_LIMITED, -0.05),
    ],
)
def test_each_failure_decays_for_its_reason(fields: dict[str, object], reason: DecayReason, shift: float) -> None:
    after = trust.after_use(pattern(score=0.95), used(**fields), NOW)

    assert after.score == pytest.approx(0.95 + shift)
    assert [(one.reason, one.shift) for one in after.decays] == [(reason, shift)]


@requirement("000.4.decay")
def test_the_third_failure_in_a_row_is_a_repeated_one() -> None:
    after = pattern(score=1.0)
    for _ in range(3):
        after = trust.after_use(after, used(code="PARSE_ERROR"), NOW)

    assert after.score == pytest.approx(0.85)
    assert after.decays[-1].reason is DecayReason.REPEATED_FAILURES


def test_a_page_of_a_new_kind_says_nothing_of_the_others_unless_more_follow() -> None:
    new_kind = used(drift=Drift.NEW_KIND)
    once = trust.after_use(pattern(score=1.0), new_kind, NOW)
    between = trust.after_use(trust.after_use(once, used(), NOW), new_kind, NOW)
    thrice = trust.after_use(trust.after_use(between, new_kind, NOW), new_kind, NOW)

    assert [(one.score, trust.can_bypass(one, NOW)) for one in (once, between)] == [(1.0, True)] * 2
    assert not trust.can_bypass(thrice, NOW)
    assert [one.reason for one in thrice.decays] == [DecayReason.REPEATED_FAILURES]


@given(st.floats(0, 1), st.sampled_from(SOURCES), st.integers(0, 100), st.lists(st.booleans(), max_size=40))
def test_passing_trouble_changes_no_label(score: float, source: PatternSource, days: int, limits: list[bool]) -> None:
    before = pattern(score=score, source=source, verified_at=NOW - days * DAY)
    after = before
    for limited in limits:
        after = trust.after_use(after, used(transient=True, limited=limited, drift=Drift.STATUS), NOW)

    assert trust.trust_of(after, NOW) == trust.trust_of(before, NOW)
    assert trust.can_bypass(after, NOW) == trust.can_bypass(before, NOW)


def test_a_use_verifies_nothing() -> None:
    after = trust.after_use(pattern(verified_at=NOW - DAY, failures=1), used(), NOW)

    assert (after.verified_at, after.used_at, after.failures) == (NOW - DAY, NOW, 0)
    assert (after.score, after.reproduced) == (0.8, ("a", "b"))


def test_a_page_that_the_mapping_was_induced_from_is_none_that_it_reproduced() -> None:
    page = "https://shop.example/p/1"
    made_of = pattern(made_of=(trust.page_hash(page),), reproduced=())
    after = trust.after_check(made_of, same=True, page_url=page, now_ms=NOW + DAY)

    assert (after.reproduced, after.verified_at) == ((), NOW + DAY)


def test_drift_takes_trust_away_until_two_pages_are_made_anew() -> None:
    drifted = trust.after_use(pattern(), used(drift=Drift.NOT_JSON), NOW)
    once = trust.after_check(drifted, same=True, page_url="https://shop.example/p/1?b=2&a=1", now_ms=NOW)
    again = trust.after_check(once, same=True, page_url="https://shop.example/p/1?a=1&b=2#top", now_ms=NOW)
    twice = trust.after_check(once, same=True, page_url="https://shop.example/p/2", now_ms=NOW)

    allowed = [trust.can_bypass(one, NOW) for one in (pattern(), drifted, once, again, twice)]
    assert allowed == [True, False, False, False, True]


def test_a_page_that_is_not_as_it_is_rendered_takes_trust_away() -> None:
    after = trust.after_check(pattern(), same=False, page_url="https://shop.example/p/1", now_ms=NOW)

    assert (after.score, after.reproduced, after.failures) == (0.7, (), 1)


def test_what_was_extracted_is_trusted_highly_after_two_pages() -> None:
    first = pattern(score=trust.first_score(PatternSource.API_EXTRACTION), verified_at=0, reproduced=())
    for number in (1, 2):
        first = trust.after_check(first, same=True, page_url=f"https://shop.example/p/{number}", now_ms=NOW)

    assert trust.trust_of(first, NOW) == "high"
    assert trust.trust_of(structs.replace(first, checks=()), NOW) == "medium"
    assert trust.can_bypass(first, NOW)


@given(st.floats(allow_nan=True), st.floats(0.3, 1))
def test_nobody_shifts_a_score_by_more_than_a_twentieth(shift: float, score: float) -> None:
    after = trust.after_feedback(pattern(score=score), shift, NOW)

    assert abs(after.score - score) <= 0.05 + 1e-6
    assert 0 <= after.score <= 1


Step = st.tuples(
    st.sampled_from(["drift", "limited", "check", "blame", "wait", "fault"]),
    st.sampled_from(list(Drift)),
    st.integers(0, 40),
)


@settings(max_examples=40)
@given(st.floats(0, 1), st.booleans(), st.lists(Step, max_size=25))
def test_without_a_success_trust_only_falls_and_never_below_the_floor(
    score: float,
    light_only: bool,  # noqa: FBT001 - an example
    steps: list[tuple[str, Drift, int]],
) -> None:
    now, current = NOW, pattern(score=score, light_only=light_only)
    for kind, drift, days in steps:
        now += days * DAY
        before = trust.decayed(current, now)
        match kind:
            case "check":
                after = trust.after_check(current, same=False, page_url="https://shop.example/p/9", now_ms=now)
            case "blame":
                after = trust.after_feedback(current, -0.03, now)
            case "wait":
                after = trust.decayed(current, now)
            case "limited":
                after = trust.after_use(current, used(limited=True, transient=True), now)
            case "fault":
                after = trust.after_use(current, used(code="PARSE_ERROR"), now)
            case _:
                after = trust.after_use(current, used(drift=drift), now)

        assert min(score, trust.FLOOR) <= after.score <= before.score <= current.score
        assert ORDER.index(trust.trust_of(after, now)) <= ORDER.index(trust.trust_of(before, now))
        assert len(after.decays) <= 10
        current = after


def test_a_use_of_what_was_learned_anew_since_teaches_nothing() -> None:
    again = pattern(version=4, mapping_version=3)

    assert trust.after_use(again, used(version=2, drift=Drift.UNLIKE), NOW) == again
    assert trust.after_use(again, used(version=3, drift=Drift.UNLIKE), NOW) != again
