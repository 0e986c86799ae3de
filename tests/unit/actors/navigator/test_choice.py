"""The choice of tiers keeps to what is allowed, and what is started early stays within its bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.navigator.choice import Early, StartReason, TierChoice, hedge, start
from actors.navigator.history import Evidence, Lessons, learned
from protocol.tiers import TIERS, HostKind, RenderTier, TierHistory
from tests.unit.actors.navigator.test_history import histories

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
ENOUGH, MORE = Evidence.ENOUGH, Evidence.NEEDS_MORE
STATIC: Lessons = {CHEAP: ENOUGH}
NEEDS_LIGHT: Lessons = {CHEAP: MORE, LIGHT: ENOUGH}
NEEDS_BROWSER: Lessons = {CHEAP: MORE, LIGHT: MORE, BROWSER: ENOUGH}

known = st.none() | histories
kinds = st.none() | st.sampled_from(HostKind)
some_tiers = st.lists(st.sampled_from(TIERS), min_size=1, unique=True)


def after(*visits: Lessons) -> TierHistory | None:
    history: TierHistory | None = None
    for visit in visits:
        history = learned(history, visit, 0)
    return history


@given(known, kinds, some_tiers, st.integers(0, 10**12))
def test_a_start_is_always_allowed(
    history: TierHistory | None, kind: HostKind | None, allowed: list[RenderTier], now_ms: int
) -> None:
    chosen = start(history, kind, allowed, now_ms)
    settled = start(history, kind, allowed, now_ms, may_probe=False)

    assert {chosen.tier, settled.tier} <= set(allowed)
    assert chosen == (TierChoice(chosen.tier, StartReason.PROBE, probe=True) if chosen.probe else settled)
    assert chosen.tier.rank <= settled.tier.rank
    assert chosen == start(history, kind, allowed[::-1], now_ms)


@given(known, kinds, st.sampled_from(TIERS), some_tiers, st.integers(0, 100))
def test_what_is_started_early_is_allowed_and_better(
    history: TierHistory | None, kind: HostKind | None, tier: RenderTier, allowed: list[RenderTier], percent: int
) -> None:
    for escalated in (False, True):
        early = hedge(history, kind, tier, allowed, 0, percent=percent, escalated=escalated)

        assert early is None or (early.tier in allowed and early.tier.rank > tier.rank and early.after_ms > 0)


@given(histories, kinds, st.sampled_from(TIERS))
def test_a_bound_of_nothing_means_never(history: TierHistory, kind: HostKind | None, tier: RenderTier) -> None:
    assert hedge(history, kind, tier, TIERS, 0, percent=0) is None


@pytest.mark.parametrize(
    ("visits", "tier"), [([STATIC] * 3, CHEAP), ([NEEDS_LIGHT] * 3, LIGHT), ([NEEDS_BROWSER] * 3, BROWSER)]
)
def test_a_start_goes_by_what_was_seen(visits: list[Lessons], tier: RenderTier) -> None:
    assert start(after(*visits), None, TIERS, 0, may_probe=False) == TierChoice(tier, StartReason.LEARNED)


def test_of_what_is_allowed_the_best_is_taken() -> None:
    history = after(*[NEEDS_BROWSER] * 3)

    assert start(history, None, (CHEAP,), 0) == TierChoice(CHEAP, StartReason.LEARNED)
    assert start(history, None, (LIGHT, BROWSER), 0, may_probe=False).tier is BROWSER


def test_a_probe_begins_with_the_cheapest_tier_that_is_due() -> None:
    history = after(*[NEEDS_BROWSER] * 4, *[{BROWSER: ENOUGH}] * 3)

    assert start(history, None, TIERS, 0) == TierChoice(CHEAP, StartReason.PROBE, probe=True)
    assert start(history, None, (LIGHT, BROWSER), 0) == TierChoice(LIGHT, StartReason.PROBE, probe=True)


def test_one_probe_that_succeeds_is_enough_to_begin_there() -> None:
    history = after(*[NEEDS_BROWSER] * 4, *[{BROWSER: ENOUGH}] * 3, STATIC)

    assert start(history, None, TIERS, 0) == TierChoice(CHEAP, StartReason.LEARNED)


def test_what_is_old_is_believed_no_longer() -> None:
    history = after(*[NEEDS_BROWSER] * 10)
    year_ms = 365 * 86_400_000

    assert start(history, None, TIERS, 0, may_probe=False).tier is BROWSER
    assert start(history, None, TIERS, year_ms) == TierChoice(CHEAP, StartReason.CHEAPEST)


def test_beside_a_tier_that_mostly_fails_the_next_is_started_early() -> None:
    history = after(*[NEEDS_BROWSER] * 6)

    assert hedge(history, None, CHEAP, TIERS, 0, percent=10) == Early(LIGHT, CHEAP.expected_ms)
    assert hedge(history, None, LIGHT, TIERS, 0, percent=10) == Early(BROWSER, LIGHT.expected_ms)
    assert hedge(history, None, CHEAP, (CHEAP, BROWSER), 0, percent=10) == Early(BROWSER, CHEAP.expected_ms)


def test_nothing_is_started_early_beside_what_is_mostly_enough_or_the_best() -> None:
    assert hedge(after(*[STATIC] * 6), None, CHEAP, TIERS, 0, percent=100) is None
    assert hedge(after(*[NEEDS_BROWSER] * 6), None, BROWSER, TIERS, 0, percent=100) is None
    assert hedge(after(*[NEEDS_BROWSER] * 6), None, LIGHT, (CHEAP, LIGHT), 0, percent=100) is None


def test_belief_alone_starts_nothing_early() -> None:
    assert hedge(None, HostKind.BROWSER_ONLY, CHEAP, TIERS, 0, percent=100) is None


def test_the_bound_decides_what_may_be_spent_in_vain() -> None:
    history = after(*[NEEDS_LIGHT, NEEDS_LIGHT, STATIC, NEEDS_LIGHT] * 5)

    assert hedge(history, None, CHEAP, TIERS, 0, percent=10) is None
    assert hedge(history, None, CHEAP, TIERS, 0, percent=50) == Early(LIGHT, CHEAP.expected_ms)


def test_what_cheaper_tiers_have_refused_counts() -> None:
    history = after(*[STATIC, STATIC, NEEDS_BROWSER] * 5)

    assert hedge(history, None, LIGHT, TIERS, 0, percent=10) is None
    assert hedge(history, None, LIGHT, TIERS, 0, percent=10, escalated=True) == Early(BROWSER, LIGHT.expected_ms)
