"""Only clean evidence teaches, what was learned fades, and a history stays small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.navigator.attempts import Absent, Accepted, Attempt, Failed, Skipped, Superseded, TooSlow
from actors.navigator.history import (
    HALF_LIFE_MS,
    INHERITED,
    NEEDS_MORE,
    Evidence,
    Lessons,
    evidence_of,
    faded,
    inherited,
    learned,
    lessons,
)
from protocol.codec import decoder, encode
from protocol.faults import Category, Code, fault
from protocol.tiers import TIERS, RenderTier, TierHistory, TierRecord
from tests.unit.actors.page_data import accepted, attempt, evidence, fetched, rejected, verdict

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
ENOUGH, MORE, NOTHING, SUPERSEDED = Evidence.ENOUGH, Evidence.NEEDS_MORE, Evidence.NOTHING, Evidence.SUPERSEDED

records = st.builds(
    TierRecord,
    enough=st.floats(0, 10),
    refused=st.floats(0, 10),
    run=st.integers(-50, 50),
    odds=st.floats(0.02, 1),
    passed_over=st.integers(0, 100),
)
histories = st.builds(TierHistory, at_ms=st.integers(0, 10**12), tiers=st.dictionaries(st.sampled_from(TIERS), records))
visits: st.SearchStrategy[Lessons] = st.dictionaries(st.sampled_from(TIERS), st.sampled_from(Evidence))


def after(*seen: Lessons, now_ms: int = 0) -> TierHistory:
    history: TierHistory | None = None
    for visit in seen:
        history = learned(history, visit, now_ms)
    assert history is not None
    return history


# What an attempt says.


def test_every_code_says_something() -> None:
    assert evidence_of(None) is ENOUGH
    assert {code for code in Code if evidence_of(code) is MORE} == NEEDS_MORE
    assert {evidence_of(code) for code in set(Code) - NEEDS_MORE} == {NOTHING}


def test_only_what_is_wrong_with_the_content_teaches() -> None:
    clean = (Category.CONTENT, Category.BROWSER)

    assert {code for code in Code if evidence_of(code) is MORE and fault(code).category not in clean} == set()


@pytest.mark.parametrize(
    "code",
    [
        Code.NETWORK_TIMEOUT,
        Code.NETWORK_CONNECTION_FAILED,
        Code.HTTP_SERVER_ERROR,
        Code.HTTP_SERVICE_UNAVAILABLE,
        Code.HTTP_FORBIDDEN,
        Code.RATE_LIMIT_EXCEEDED,
        Code.BLOCKED_BOT_DETECTION,
        Code.BLOCKED_RATE_LIMITED,
        Code.PAGE_CRASHED,
        Code.ELEMENT_NOT_FOUND,
        Code.INTERNAL_DEADLINE,
        Code.INTERNAL_BUSY,
    ],
)
def test_what_may_be_gone_the_next_time_teaches_nothing(code: Code) -> None:
    assert evidence_of(code) is NOTHING


def test_attempts_are_read_as_lessons() -> None:
    assert lessons([attempt(CHEAP, rejected(Code.CONTENT_REQUIRES_JS)), attempt(LIGHT, accepted(LIGHT))]) == {
        CHEAP: MORE,
        LIGHT: ENOUGH,
    }
    assert lessons([attempt(CHEAP, Failed(fault(Code.NETWORK_TIMEOUT))), attempt(LIGHT, Superseded())]) == {
        CHEAP: NOTHING,
        LIGHT: SUPERSEDED,
    }


def test_tiers_that_were_not_put_to_work_teach_nothing() -> None:
    idle = [Attempt(CHEAP, Skipped("why")), Attempt(LIGHT, Absent()), Attempt(BROWSER, TooSlow(10))]

    assert lessons(idle) == {}


def test_what_has_no_markup_says_nothing_of_the_pages_of_its_site() -> None:
    outcome = Accepted(fetched(evidence=evidence(markup=False)), verdict())

    assert lessons([attempt(CHEAP, outcome)]) == {CHEAP: NOTHING}


# What a visit teaches.


def test_a_page_that_was_accepted_counts_for_its_tier() -> None:
    assert after({CHEAP: ENOUGH}).tiers[CHEAP].enough == 1


def test_a_refusal_counts_when_a_better_tier_has_the_page() -> None:
    history = after({CHEAP: MORE, LIGHT: ENOUGH})

    assert (history.tiers[CHEAP].refused, history.tiers[LIGHT].enough) == (1, 1)


@pytest.mark.parametrize("visit", [{CHEAP: MORE}, {CHEAP: MORE, LIGHT: NOTHING}, {CHEAP: NOTHING}, {}])
def test_without_an_accepted_page_nothing_is_learned(visit: Lessons) -> None:
    known = after({CHEAP: ENOUGH})

    assert learned(None, visit, 0) is None
    assert learned(known, visit, 5) is known


def test_what_is_not_enough_in_a_better_tier_is_not_in_a_cheaper_one() -> None:
    history = after({LIGHT: MORE, BROWSER: ENOUGH})

    assert history.tiers[CHEAP].refused == history.tiers[LIGHT].refused == 1
    assert (history.tiers[CHEAP].passed_over, history.tiers[LIGHT].passed_over) == (1, 0)


def test_a_page_that_failed_below_for_a_while_says_nothing_for_the_better_tier() -> None:
    history = after({CHEAP: NOTHING, LIGHT: ENOUGH})

    assert all(record.enough == record.refused == 0 for record in history.tiers.values())


def test_a_tier_that_was_overtaken_was_tried_and_nothing_else() -> None:
    history = after({BROWSER: ENOUGH}, {LIGHT: SUPERSEDED, BROWSER: ENOUGH})

    assert history.tiers[LIGHT] == TierRecord(passed_over=0)
    assert history.tiers[CHEAP] == TierRecord(passed_over=2)


def test_a_run_that_nobody_expected_makes_the_past_forgotten() -> None:
    known = after(*[{CHEAP: ENOUGH}] * 30)

    once = learned(known, {CHEAP: MORE, LIGHT: ENOUGH}, 0)
    twice = learned(once, {CHEAP: MORE, LIGHT: ENOUGH}, 0)

    assert once is not None
    assert twice is not None
    assert once.tiers[CHEAP].enough > 5
    assert (twice.tiers[CHEAP].enough, twice.tiers[CHEAP].refused) == (0, 2)


def test_a_run_that_was_to_be_expected_does_not() -> None:
    known = after(*[{CHEAP: ENOUGH}, {CHEAP: MORE, LIGHT: ENOUGH}] * 20)

    assert after(*[{CHEAP: MORE, LIGHT: ENOUGH}] * 2).tiers[CHEAP].enough == 0
    for _ in range(2):
        changed = learned(known, {CHEAP: MORE, LIGHT: ENOUGH}, 0)
        assert changed is not None
        known = changed
    assert known.tiers[CHEAP].enough > 1


# How it fades.


def test_half_is_left_after_a_half_life() -> None:
    history = after({CHEAP: ENOUGH})

    assert faded(history, HALF_LIFE_MS).tiers[CHEAP].enough == 0.5


@given(histories, st.integers(0, 10**12), st.integers(0, 10**12))
def test_weights_never_grow_by_time(history: TierHistory, sooner_ms: int, more_ms: int) -> None:
    sooner, later = faded(history, sooner_ms), faded(history, sooner_ms + more_ms)

    for tier, record in history.tiers.items():
        for name in ("enough", "refused"):
            weights = [getattr(one.tiers[tier], name) for one in (later, sooner)]
            assert 0 <= weights[0] <= weights[1] <= round(getattr(record, name), 4)


@given(histories, st.integers(0, 10**12))
def test_a_clock_that_goes_back_takes_nothing_away(history: TierHistory, back_ms: int) -> None:
    assert faded(history, history.at_ms - back_ms).at_ms == history.at_ms


@given(st.lists(visits, max_size=60), st.integers(0, 10**9))
def test_histories_stay_small_and_survive_the_bus(seen: list[Lessons], every_ms: int) -> None:
    history: TierHistory | None = None
    for number, visit in enumerate(seen):
        history = learned(history, visit, number * every_ms)

    if history is not None:
        written = encode(history)
        assert len(written) < 1_000
        assert decoder(TierHistory).decode(written) == history
        assert all(record.enough + record.refused <= 20 for record in history.tiers.values())


@given(histories)
def test_a_new_host_takes_over_little(domain: TierHistory) -> None:
    for tier, record in inherited(domain).tiers.items():
        assert record.enough + record.refused <= INHERITED + 0.001
        assert (record.run, record.passed_over) == (0, 0)
        assert (record.enough > 0) <= (domain.tiers[tier].enough > 0)
