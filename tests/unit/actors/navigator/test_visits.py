"""What begins where experience says costs hardly more than what an oracle does, and follows a site that changes."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from actors.navigator.choice import StartReason, TierChoice, start
from actors.navigator.history import HistoryCache
from actors.navigator.hosts import site_key_of
from protocol.tiers import TIERS, HostKind, RenderTier, TierHistory
from tests.support.scale import first, one_in, sized
from tests.unit.actors.navigator.visitors import (
    BROWSER,
    BROWSER_ONLY,
    CHEAP,
    HOUR_MS,
    LEARNING_VISITS,
    LIGHT,
    NEEDS_LIGHT,
    STATIC,
    VISITS,
    Needs,
    Site,
    Spent,
    Visitor,
    noticed,
    oracle,
    regret,
)

pytestmark = pytest.mark.full

MAX_REGRET = 0.10
RUNS = sized(4, 8)
CHANGED = sized(40, 100)
"""How many changes of a site are followed."""

SITES: dict[str, Needs] = {
    "static": STATIC,
    "light": NEEDS_LIGHT,
    "browser only": BROWSER_ONLY,
    "static, a twentieth light": {CHEAP: 0.95, LIGHT: 0.05},
    "static, a twentieth browser": {CHEAP: 0.95, BROWSER: 0.05},
    "static, a third light": {CHEAP: 0.7, LIGHT: 0.3},
    "static, a third browser": {CHEAP: 0.7, BROWSER: 0.3},
    "half static, half light": {CHEAP: 0.5, LIGHT: 0.5},
    "light, a third static": {CHEAP: 0.3, LIGHT: 0.7},
    "light, a tenth static": {CHEAP: 0.1, LIGHT: 0.9},
    "light, a third browser": {LIGHT: 0.7, BROWSER: 0.3},
    "browser, a third static": {CHEAP: 0.3, BROWSER: 0.7},
    "browser, a third light": {LIGHT: 0.3, BROWSER: 0.7},
    "browser, a tenth static": {CHEAP: 0.1, BROWSER: 0.9},
    "all three": {CHEAP: 0.6, LIGHT: 0.25, BROWSER: 0.15},
}
CHANGES = [
    ("static", "light"),
    ("static", "browser only"),
    ("light", "static"),
    ("light", "browser only"),
    ("browser only", "static"),
    ("browser only", "light"),
]


@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize("every_ms", [HOUR_MS, 7 * 24 * HOUR_MS], ids=["hourly", "weekly"])
def test_after_twenty_visits_a_visit_costs_what_it_costs_an_oracle(name: str, every_ms: int) -> None:
    assert regret(SITES[name], runs=RUNS, every_ms=every_ms) <= MAX_REGRET


@pytest.mark.parametrize("name", SITES)
def test_where_a_fifth_of_all_attempts_fails_for_a_while_too(name: str) -> None:
    assert regret(SITES[name], runs=RUNS, flaky=0.2) <= MAX_REGRET


@pytest.mark.parametrize("kind", HostKind)
@pytest.mark.parametrize("name", ["static", "light", "browser only"])
def test_a_wrong_belief_is_outweighed(kind: HostKind, name: str) -> None:
    assert regret(SITES[name], runs=RUNS, kind=kind) <= MAX_REGRET


@pytest.mark.parametrize(("one", "other"), first(1, [*combinations(("static", "light", "browser only"), 2)]))
@pytest.mark.slow
def test_where_two_kinds_of_pages_share_a_host_each_costs_what_it_costs_an_oracle(one: str, other: str) -> None:
    own, best, begins = Spent(), Spent(), {section: oracle(SITES[name]) for section, name in (("a", one), ("b", other))}
    for run in range(RUNS):
        site, histories = Site(random.Random(run), {}), HistoryCache()
        for number in range(2 * (LEARNING_VISITS + VISITS)):
            section, site.needs = site.chance.choice([("a", SITES[one]), ("b", SITES[other])])
            key, page = site_key_of(f"https://shop.example/{section}/{number}-loom"), site.page()
            assert key is not None
            visit = page.visit(start(histories.of(key), None, TIERS, number * HOUR_MS).tier)
            histories.learn(key, (visit[1], number * HOUR_MS, 0))
            if number >= 2 * LEARNING_VISITS:
                own.add(visit)
                best.add(page.visit(begins[section]))

    assert own.a_page / best.a_page - 1 <= MAX_REGRET


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_change_is_noticed_within_five_visits(before: str, after: str) -> None:
    took = [noticed(SITES[before], SITES[after], run=run) for run in range(CHANGED)]

    assert max(took) <= 5


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_a_change_of_a_flaky_site_is_noticed_mostly(before: str, after: str) -> None:
    took = [noticed(SITES[before], SITES[after], run=run, flaky=0.2) for run in range(CHANGED)]

    assert sum(visits <= 5 for visits in took) >= 0.85 * CHANGED
    assert max(took) <= 20


def test_a_site_that_changes_and_changes_back_is_followed() -> None:
    site, visitor = Site(random.Random(0), STATIC), Visitor()
    labels: list[RenderTier] = []
    for needs in (STATIC, BROWSER_ONLY, STATIC, NEEDS_LIGHT, STATIC):
        site.needs = needs
        for _ in range(30):
            visitor.visit(site.page())
        labels.append(visitor.label)

    assert labels == [CHEAP, BROWSER, CHEAP, LIGHT, CHEAP]


@pytest.mark.parametrize("name", first(1, ["static", "light", "browser only"]))
@pytest.mark.parametrize("flaky", [0.2, 0.5])
@pytest.mark.slow
def test_what_fails_for_a_while_never_flips_a_label(name: str, flaky: float) -> None:
    flips, right = 0, oracle(SITES[name])
    for run in range(sized(20, 50)):
        site, visitor = Site(random.Random(run), SITES[name]), Visitor()
        for _ in range(20):
            visitor.visit(site.page())
        site.flaky = flaky
        for _ in range(100):
            visitor.visit(site.page())
            flips += visitor.label is not right

    assert flips == 0


@pytest.mark.parametrize("name", ["static", "light", "browser only"])
def test_an_outage_flips_no_label(name: str) -> None:
    site, visitor = Site(random.Random(1), SITES[name]), Visitor()
    for _ in range(20):
        visitor.visit(site.page())
    before = visitor.label
    site.flaky = 1.0
    for _ in range(50):
        visitor.visit(site.page())

    assert visitor.label is before


def test_known_hosts_begin_right_at_the_first_visit() -> None:
    assert start(None, HostKind.BROWSER_ONLY, TIERS, 0) == TierChoice(BROWSER, StartReason.BROWSER_ONLY)
    assert start(None, HostKind.STATIC, TIERS, 0) == TierChoice(CHEAP, StartReason.STATIC)
    assert start(None, None, TIERS, 0) == TierChoice(CHEAP, StartReason.CHEAPEST)


def test_an_unknown_browser_only_host_begins_there_from_the_third_visit_on() -> None:
    site, visitor = Site(random.Random(0), BROWSER_ONLY), Visitor()
    for _ in range(3):
        visitor.visit(site.page())

    assert [begin.tier for begin in visitor.starts] == [CHEAP, LIGHT, BROWSER]


@pytest.mark.parametrize("name", ["light", "browser only"])
def test_cheaper_tiers_are_probed_for_ever(name: str) -> None:
    site, visitor = Site(random.Random(0), SITES[name]), Visitor()
    for _ in range(1_000):
        visitor.visit(site.page())

    probes = [number for number, begin in enumerate(visitor.starts) if begin.probe]
    assert {later - sooner for sooner, later in pairwise(probes[3:])} == {4}


def test_the_same_visits_teach_the_same() -> None:
    histories: list[tuple[TierHistory | None, list[TierChoice]]] = []
    for _ in range(2):
        site, visitor = Site(random.Random(7), SITES["all three"], flaky=0.2), Visitor()
        for _ in range(200):
            visitor.visit(site.page())
        histories.append((visitor.history, visitor.starts))

    assert histories[0] == histories[1]


@pytest.mark.parametrize("name", one_in(2, SITES))
@pytest.mark.parametrize("percent", [5, 30])
def test_what_is_started_early_in_vain_stays_within_its_bound(name: str, percent: int) -> None:
    spent = in_vain = 0
    for run in range(RUNS):
        site, visitor = Site(random.Random(run), SITES[name]), Visitor()
        for _ in range(LEARNING_VISITS + VISITS):
            page, history, now_ms = site.page(), visitor.history, visitor.now_ms
            spent += visitor.visit(page)[0]
            in_vain += page.in_vain(history, visitor.starts[-1].tier, now_ms, percent)

    assert in_vain <= spent * percent / 100
