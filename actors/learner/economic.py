"""The policy `economic`: the model whose calls cost least, the cost of their failures included (Thompson sampling).

The best model as far as is known is the route; another one is drawn now and then, as often as it may yet be better.
Chance comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from actors.learner.beliefs import Beliefs
from actors.learner.call_evidence import CallEvidence, ToolEvidence
from actors.learner.rules import Look, rate_text, rerouted, step_of
from protocol.models import LearningStep, ModelName, RouteCandidate, RoutesLearned, RouteStep

SHARPEN: Final = 2.0
"""The evidence counts so much more when a model is drawn: what is settled is tried again less often."""

RAIL_CALLS: Final = 10
RAIL_RATE: Final = 0.70
"""A model below this, after so many calls, is not drawn while a stronger one exists."""

MARGIN: Final = 0.1
"""How much less than the route another model must cost to become it, in calls of the cheapest, lest routes flicker."""

EXPLORED: Final = 20
"""Calls between two looks that a model gets at most which was drawn and is not the best."""


CLASS_COSTS: Final = (1.0, 3.0, 5.0)
"""What calls cost on a ladder of which not every model's price is known, as multiples of the cheapest; above it, 5."""


class Rung(Struct, frozen=True):
    """A model on its ladder; `cost` of a call as a multiple of that of the cheapest."""

    name: ModelName
    cost: float


def rungs_of(tool: str, route: ModelName, look: Look) -> tuple[Rung, ...]:
    """Return the models that a tool may go to, the cheapest first; none where its model stands on no ladder."""
    ladder = look.routing.ladders.get(route.provider, ())
    if route.model not in ladder:
        return ()
    names = [ModelName(provider=route.provider, model=model) for model in ladder]
    known = [look.costs.get((tool, name), 0.0) for name in names]
    if all(known):
        return tuple(Rung(name, cost / min(known)) for name, cost in zip(names, known, strict=True))
    return tuple(Rung(name, CLASS_COSTS[min(place, len(CLASS_COSTS) - 1)]) for place, name in enumerate(names))


class ModelChoice(Struct, frozen=True):
    """Who is best for a tool as far as is known, who was drawn for the next calls, and all that were weighed.

    The one that was drawn gets `share` of the calls.
    """

    best: ModelName
    drawn: ModelName
    share: float
    candidates: tuple[RouteCandidate, ...]


class EconomicPlan(Struct, frozen=True):
    """What a look comes to: the changes of routes to write down, and who is asked for each tool until the next look."""

    learned: RoutesLearned | None
    choices: Mapping[str, ModelChoice]


class Economy(Struct, frozen=True):
    """The policy. `failure_cost` is what a failure costs, in calls of the cheapest model."""

    beliefs: Beliefs
    failure_cost: float
    random: Random

    def decide(self, evidence: CallEvidence, look: Look) -> EconomicPlan:
        """Choose for all tools until the next look."""
        steps, choices = list[RouteStep](), dict[str, ModelChoice]()
        for tool, current in look.routes.items():
            known = evidence.tools.get(tool, ToolEvidence())
            step = rerouted(tool, known, current)
            if step is None and not current.manual:
                choice = self.choose(tool, known.route or current.name, look)
                if choice is not None:
                    choices[tool] = choice
                    step = _changed(tool, known, choice, look)
            if step is not None:
                steps.append(step)
        return EconomicPlan(RoutesLearned(at=look.at, steps=tuple(steps)) if steps else None, choices)

    def choose(self, tool: str, route: ModelName, look: Look) -> ModelChoice | None:
        """Choose for the calls of a tool; None where its model stands on no ladder."""
        rungs = rungs_of(tool, route, look)
        if not rungs:
            return None
        allowed = list(self._within_rails(tool, rungs))
        losses = {rung.name: self._loss(rung, self.beliefs.mean(tool, rung.name)) for rung in allowed}
        best = min(losses, key=losses.__getitem__)
        if route in losses and losses[best] > losses[route] - MARGIN:
            best = route
        drawn = min(allowed, key=lambda rung: self._loss(rung, self._draw(tool, rung.name))).name
        share = round(min(1.0, EXPLORED / max(look.routes[tool].per_look, 1)), 3)
        return ModelChoice(best, drawn, share, tuple(self._candidate(tool, rung, losses, look) for rung in rungs))

    def _loss(self, rung: Rung, rate: float) -> float:
        return rung.cost + self.failure_cost * (1 - rate)

    def _within_rails(self, tool: str, rungs: tuple[Rung, ...]) -> Iterable[Rung]:
        for rung in rungs:
            tried = self.beliefs.calls(tool, rung.name) >= RAIL_CALLS
            if rung is rungs[-1] or not (tried and self.beliefs.mean(tool, rung.name) < RAIL_RATE):
                yield rung

    def _draw(self, tool: str, name: ModelName) -> float:
        alpha, beta = self.beliefs.shape(tool, name)
        return self.random.betavariate(SHARPEN * alpha, SHARPEN * beta)

    def _candidate(self, tool: str, rung: Rung, losses: Mapping[ModelName, float], look: Look) -> RouteCandidate:
        return RouteCandidate(
            name=rung.name,
            calls=self.beliefs.calls(tool, rung.name),
            success_rate=round(self.beliefs.mean(tool, rung.name), 4),
            cost_usd=look.costs.get((tool, rung.name)),
            why_not="" if rung.name in losses else f"less than {rate_text(RAIL_RATE)} of its calls went well",
        )


def _changed(tool: str, known: ToolEvidence, choice: ModelChoice, look: Look) -> RouteStep | None:
    """Make the best model the route, and end the test that another policy has begun."""
    route = known.route or look.routes[tool].name
    rates = {candidate.name: candidate.success_rate for candidate in choice.candidates}
    if choice.best != route:
        why = "Its calls cost less, those that fail included."
        rate, best_rate = rates.get(route), rates.get(choice.best)
        step = step_of(tool, known, look, LearningStep.OPTIMIZED, choice.best, why, rate, best_rate)
        return replace(step, candidates=choice.candidates)
    if known.trial is not None:
        return step_of(tool, known, look, LearningStep.TEST_FAILED, route, "Tests are not made any more.")
    return None
