"""Policies of routes for the simulated world: the learner's, as it runs them, and those that they are held against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType
from typing import Final

from actors.learner.beliefs import Beliefs
from actors.learner.call_evidence import CallEvidence
from actors.learner.economic import Economy
from actors.learner.rules import CurrentRoute, Look, decide
from protocol.models import ModelName, Provider
from protocol.routing import Routing
from tests.support.routing_world import COSTS, FAILURE_COST, Asked, RoutingPolicy

MODELS: Final = tuple(ModelName(provider=Provider.ANTHROPIC, model=name) for name in ("haiku", "sonnet", "opus"))
PLACES: Final = {name: place for place, name in enumerate(MODELS)}
ROUTING: Final = Routing(ladders={Provider.ANTHROPIC: tuple(name.model for name in MODELS)})


class Static:
    """Asks whoever the table says."""

    def __init__(self, homes: Sequence[int]) -> None:
        self.homes = homes

    def choose(self, tool: int) -> Asked:
        """Choose the home."""
        return Asked(self.homes[tool])

    def route(self, tool: int) -> int:
        """Return the home."""
        return self.homes[tool]

    def observe(self, tool: int, model: int, *, success: bool | None) -> None:
        """Learn nothing."""

    def look(self) -> None:
        """Change nothing."""


class PlainSeed:
    """The rules of the document and nothing else: averages of all time, and no way back."""

    def __init__(self, homes: Sequence[int]) -> None:
        self.routes = list(homes)
        self.counts = [[[0, 0] for _ in COSTS] for _ in homes]
        self.tests = dict[int, list[int]]()
        self.uncounted = 0

    def choose(self, tool: int) -> Asked:
        """Choose the route, or the model under test."""
        return Asked(self.routes[tool] - 1, test=True) if tool in self.tests else Asked(self.routes[tool])

    def route(self, tool: int) -> int:
        """Return the route."""
        return self.routes[tool]

    def observe(self, tool: int, model: int, *, success: bool | None) -> None:
        """Count."""
        self.uncounted += 1
        for counts in (self.counts[tool][model], *([self.tests[tool]] if tool in self.tests else [])):
            counts[0] += 1
            counts[1] += bool(success)

    def look(self) -> None:
        """Upgrade, begin tests, and end them."""
        counted = self.uncounted >= 500
        started = 0
        for tool, route in enumerate(self.routes):
            calls, successes = self.counts[tool][route]
            if calls >= 10 and successes < 0.7 * calls and route < 2:
                self.routes[tool] = route + 1
                self.tests.pop(tool, None)
        if counted:
            self.uncounted = 0
        for tool, route in enumerate(self.routes):
            calls, successes = self.counts[tool][route]
            wanted = counted and route > 0 and calls >= 20 and successes >= 0.95 * calls and tool not in self.tests
            if wanted and started < 2 and len(self.tests) < 3:
                self.tests[tool] = [0, 0]
                started += 1
        for tool, (calls, successes) in list(self.tests.items()):
            if calls >= 10:
                del self.tests[tool]
                self.routes[tool] -= successes >= 0.9 * calls


@dataclass
class Documented:
    """The documented policy of the learner, with its guards."""

    homes: Sequence[int]
    sequential: bool = False
    evidence: CallEvidence = field(default_factory=CallEvidence)
    sequence: int = 0
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Name the tools."""
        self.names = [f"tool_{number}" for number in range(len(self.homes))]
        self.current = {name: CurrentRoute(MODELS[home]) for name, home in zip(self.names, self.homes, strict=True)}

    def choose(self, tool: int) -> Asked:
        """Choose the route, or the model under test."""
        known = self.evidence.tools.get(self.names[tool])
        if known is not None and known.trial is not None:
            return Asked(PLACES[known.trial.name], test=True)
        return Asked(self.route(tool))

    def route(self, tool: int) -> int:
        """Return the route."""
        known = self.evidence.tools.get(self.names[tool])
        return self.homes[tool] if known is None or known.route is None else PLACES[known.route]

    def observe(self, tool: int, model: int, *, success: bool | None) -> None:
        """Apply the call."""
        self.sequence += 1
        self.evidence.call(self.sequence, self.names[tool], MODELS[model], success=success)

    def look(self) -> None:
        """Decide, and apply what was decided."""
        look = Look(self.sequence, self.current, ROUTING, sequential=self.sequential)
        if (learned := decide(self.evidence, look)) is not None:
            self.sequence += 1
            self.evidence.learned(self.sequence, learned)


@dataclass
class Economic(Documented):
    """The economic policy of the learner."""

    economy: Economy = field(default_factory=lambda: Economy(Beliefs(), FAILURE_COST, Random(1)))
    drawn: dict[str, ModelName] = field(default_factory=dict[str, ModelName])

    def choose(self, tool: int) -> Asked:
        """Choose who was drawn."""
        drawn, route = self.drawn.get(self.names[tool]), self.route(tool)
        return Asked(route) if drawn is None else Asked(PLACES[drawn], test=PLACES[drawn] != route)

    def observe(self, tool: int, model: int, *, success: bool | None) -> None:
        """Apply the call to both."""
        super().observe(tool, model, success=success)
        self.economy.beliefs.call(self.names[tool], MODELS[model], success=success)

    def look(self) -> None:
        """Draw, and change the routes whose best model is another."""
        plan = self.economy.decide(self.evidence, Look(self.sequence, self.current, ROUTING))
        self.drawn = {tool: choice.drawn for tool, choice in plan.choices.items()}
        if plan.learned is not None:
            self.sequence += 1
            self.evidence.learned(self.sequence, plan.learned)


POLICIES: Mapping[str, Callable[[Sequence[int]], RoutingPolicy]] = MappingProxyType(
    {
        "static": Static,
        "plain": PlainSeed,
        "documented": Documented,
        "economic": Economic,
        "sequential": lambda homes: Documented(homes, sequential=True),
    }
)
