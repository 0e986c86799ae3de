"""What the policies of the learner come to in a world whose true rates are known, as the learner runs them.

With `--full` every figure is held that the policies were chosen for, over 24 worlds of 20,000 calls; else a few of
them, with the room that so few calls need.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from tests.support.routing_policies import POLICIES
from tests.support.routing_world import Figures, Result, World, figures, simulate
from tests.support.scale import sized

CALLS = sized(8_000, 20_000)
SEEDS = {"economic": sized(4, 24)}
MOST_SEEDS = sized(8, 24)


@dataclass(frozen=True)
class Bounds:
    """What a figure may be at most; None: whatever it is."""

    regret: float | None = None
    poor: float | None = None
    wrongly_down: float | None = None
    false_downgrades: float | None = None
    never_repaired: float | None = None
    median_repair: float | None = None

    def broken_by(self, found: Figures) -> dict[str, float]:
        return {
            one.name: value
            for one in fields(self)
            if (bound := getattr(self, one.name)) is not None and (value := getattr(found, one.name)) > bound
        }


def played(policy: str, world: World) -> Figures:
    seeds = range(SEEDS.get(policy, MOST_SEEDS))
    return figures([simulate(POLICIES[policy], world, seed, CALLS) for seed in seeds])


GOALS: dict[tuple[str, World], Bounds] = {
    ("documented", "stationary"): Bounds(regret=0.44, false_downgrades=0.13),
    ("documented", "abrupt"): Bounds(
        regret=0.50, poor=0.015, wrongly_down=0.004, false_downgrades=0.13, never_repaired=0.20, median_repair=60
    ),
    ("documented", "walk"): Bounds(regret=0.70),
    ("sequential", "stationary"): Bounds(regret=0.44, false_downgrades=0.05),
    ("sequential", "abrupt"): Bounds(
        regret=0.46, poor=0.015, wrongly_down=0.004, false_downgrades=0.05, never_repaired=0.20, median_repair=60
    ),
    ("sequential", "walk"): Bounds(regret=0.70),
    ("economic", "stationary"): Bounds(regret=0.16),
    ("economic", "abrupt"): Bounds(regret=0.25, poor=0.025, wrongly_down=0.035, never_repaired=0.10, median_repair=60),
    ("economic", "walk"): Bounds(regret=0.36),
}

QUICK: dict[tuple[str, World], Bounds] = {
    ("documented", "stationary"): Bounds(regret=0.45),
    ("documented", "abrupt"): Bounds(regret=0.55, poor=0.03, wrongly_down=0.015, never_repaired=0.2, median_repair=60),
    ("documented", "walk"): Bounds(regret=0.55),
    ("sequential", "abrupt"): Bounds(regret=0.55, poor=0.03, wrongly_down=0.015, never_repaired=0.2, median_repair=60),
    ("economic", "abrupt"): Bounds(regret=0.36, poor=0.035, wrongly_down=0.045, never_repaired=0.1, median_repair=60),
}


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize(("policy", "world"), sized(list(QUICK), list(GOALS)))
def test_a_policy_holds_its_figures(policy: str, world: World) -> None:
    found = played(policy, world)

    assert sized(QUICK, GOALS)[policy, world].broken_by(found) == {}, found


@pytest.mark.full
def test_the_bare_rules_of_the_document_are_much_worse_where_things_change() -> None:
    bare, guarded, economic = (played(policy, "abrupt") for policy in ("plain", "documented", "economic"))

    assert bare.never_repaired >= 0.5
    assert bare.regret > 1.25 * guarded.regret
    assert bare.regret > 2.0 * economic.regret
    assert bare.wrongly_down > 5 * guarded.wrongly_down


@pytest.mark.full
@pytest.mark.parametrize("policy", ["documented", "economic"])
def test_wrong_labels_and_outages_do_little_harm(policy: str) -> None:
    clean, noisy, outage = played(policy, "stationary"), played(policy, "noise"), played(policy, "outage")

    assert noisy.regret <= clean.regret + 0.15
    assert outage.regret <= clean.regret + 0.05


@pytest.mark.parametrize("policy", ["documented", "sequential", "economic"])
def test_an_outage_changes_no_route(policy: str) -> None:
    inner = POLICIES[policy]([0] * 20)
    before = [inner.route(tool) for tool in range(20)]
    for call in range(2_000):
        inner.observe(call % 20, 0, success=None)
        if call % 20 == 0:
            inner.look()

    assert [inner.route(tool) for tool in range(20)] == before


def test_the_same_seed_is_the_same_course() -> None:
    def course() -> Result:
        return simulate(POLICIES["economic"], "walk", 3, 1_000)

    assert course() == course()
