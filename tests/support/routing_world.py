"""A world of tools and models whose true success rates are known, to see what a policy of routes makes of it.

Twenty tools of eight kinds (how often each of three models succeeds at it), Zipf traffic, twenty calls between two
looks. A call costs 1, 3 or 5, and a failure 20 more; regret is what a policy loses against whoever always asks the
best model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, log
from random import Random
from statistics import mean, median
from typing import Final, Literal, Protocol

World = Literal["stationary", "abrupt", "walk", "outage", "noise"]

KINDS: Final = (
    (0.60, 0.80, 0.93),
    (0.80, 0.93, 0.97),
    (0.93, 0.97, 0.99),
    (0.99, 0.99, 0.99),
    (0.30, 0.65, 0.90),
    (0.72, 0.85, 0.95),
    (0.88, 0.95, 0.97),
    (0.95, 0.90, 0.96),
)
"""How often the cheap, the middle and the strong model succeed, by the kind of tool."""

COSTS: Final = (1.0, 3.0, 5.0)
FAILURE_COST: Final = 20.0
HOMES: Final = (0,) * 10 + (1,) * 7 + (2,) * 3
"""Which model each tool is asked by default."""

CALLS_PER_LOOK: Final = 20
POOR: Final = 0.70
GOOD: Final = 0.85
WALK_STEP: Final = 0.035
"""Standard deviation of a logit, per look."""
LABEL_NOISE: Final = 0.03
OUTAGE: Final = (0.5, 0.55)
"""The part of the calls during which the provider fails nine of ten."""


@dataclass(frozen=True)
class Asked:
    """Who is asked for a call, and whether as a test."""

    model: int
    test: bool = False


class RoutingPolicy(Protocol):
    """Whatever chooses models."""

    def choose(self, tool: int) -> Asked:
        """Choose who is asked for the next call of a tool."""
        ...

    def route(self, tool: int) -> int:
        """Return who is asked for calls of a tool that are no tests."""
        ...

    def observe(self, tool: int, model: int, *, success: bool | None) -> None:
        """Be told how a call went; None: it failed for reasons that are not the model's."""
        ...

    def look(self) -> None:
        """Change routes."""
        ...


@dataclass
class Result:
    """What a run came to; `repairs` are the calls that harmful drifts took to be repaired, None: they never were."""

    calls: int = 0
    successes: int = 0
    cost: float = 0.0
    regret: float = 0.0
    poor: int = 0
    wrongly_down: int = 0
    downgrades: int = 0
    false_downgrades: int = 0
    repairs: list[int | None] = field(default_factory=list[int | None])


@dataclass(frozen=True)
class Figures:
    """The means of several runs; shares between 0 and 1."""

    success: float
    cost: float
    regret: float
    poor: float
    wrongly_down: float
    false_downgrades: float
    never_repaired: float
    median_repair: float


def figures(results: Sequence[Result]) -> Figures:
    """Sum runs up."""
    calls = sum(one.calls for one in results)
    repairs = [repair for one in results for repair in one.repairs]
    return Figures(
        success=sum(one.successes for one in results) / calls,
        cost=sum(one.cost for one in results) / calls,
        regret=mean(one.regret / one.calls for one in results),
        poor=sum(one.poor for one in results) / calls,
        wrongly_down=sum(one.wrongly_down for one in results) / calls,
        false_downgrades=sum(one.false_downgrades for one in results) / max(1, sum(one.downgrades for one in results)),
        never_repaired=sum(repair is None for repair in repairs) / max(1, len(repairs)),
        median_repair=median([repair for repair in repairs if repair is not None] or [0]),
    )


def simulate(make: Callable[[Sequence[int]], RoutingPolicy], world: World, seed: int, calls: int) -> Result:
    """Let a policy choose for so many calls; the same seed is the same world and the same traffic."""
    return Simulation(make, world, Random(seed), calls).run()


class Simulation:
    """One run of a policy in a world."""

    def __init__(
        self, make: Callable[[Sequence[int]], RoutingPolicy], world: World, random: Random, calls: int
    ) -> None:
        self.world, self.random, self.calls = world, random, calls
        self.homes = list(HOMES)
        random.shuffle(self.homes)
        self.rates = [list(random.choice(KINDS)) for _ in self.homes]
        self.policy = make(self.homes)
        self.result = Result()
        self._drifted = dict[int, int]()
        """The calls since a harmful drift, by the tool."""

    def run(self) -> Result:
        """Make all calls."""
        weights = [1 / (place + 1) for place in range(len(self.homes))]
        tools = self.random.choices(range(len(self.homes)), weights, k=self.calls)
        for number, tool in enumerate(tools):
            if number == self.calls // 2 and self.world == "abrupt":
                self._drift()
            self._call(number, tool)
            if number % CALLS_PER_LOOK == CALLS_PER_LOOK - 1:
                self._look()
        self.result.repairs += [None] * len(self._drifted)
        return self.result

    def _call(self, number: int, tool: int) -> None:
        asked, rates, result = self.policy.choose(tool), self.rates[tool], self.result
        rate = rates[asked.model]
        success = self.random.random() < rate
        result.calls += 1
        result.successes += success
        result.cost += COSTS[asked.model]
        losses = [cost + FAILURE_COST * (1 - one) for cost, one in zip(COSTS, rates, strict=True)]
        result.regret += losses[asked.model] - min(losses)
        result.poor += rate < POOR
        result.wrongly_down += asked.model < self.homes[tool] and not asked.test and rate < GOOD
        if tool in self._drifted:
            self._drifted[tool] += 1
            if rates[self.policy.route(tool)] >= POOR:
                result.repairs.append(self._drifted.pop(tool))
        self.policy.observe(tool, asked.model, success=self._seen(number, success=success))

    def _seen(self, number: int, *, success: bool) -> bool | None:
        begin, end = OUTAGE
        if self.world == "outage" and begin * self.calls <= number < end * self.calls and self.random.random() < 0.9:
            return None
        return not success if self.world == "noise" and self.random.random() < LABEL_NOISE else success

    def _look(self) -> None:
        before = [self.policy.route(tool) for tool in range(len(self.homes))]
        self.policy.look()
        for tool, route in enumerate(before):
            new = self.policy.route(tool)
            if new < route and new < self.homes[tool]:
                self.result.downgrades += 1
                self.result.false_downgrades += self.rates[tool][new] < GOOD
        if self.world == "walk":
            self.rates = [[_walked(rate, self.random) for rate in rates] for rates in self.rates]

    def _drift(self) -> None:
        """Have half of the tools become of another kind."""
        for tool in self.random.sample(range(len(self.homes)), len(self.homes) // 2):
            before, self.rates[tool] = self.rates[tool], list(self.random.choice(KINDS))
            route = self.policy.route(tool)
            if before[route] >= POOR > self.rates[tool][route]:
                self._drifted[tool] = 0


def _walked(rate: float, random: Random) -> float:
    logit = log(rate / (1 - rate)) + random.gauss(0, WALK_STEP)
    return min(0.99, max(0.05, 1 / (1 + exp(-logit))))
