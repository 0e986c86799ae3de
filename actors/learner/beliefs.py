"""What is believed of how often models succeed at tools: Beta distributions that forget, a fold over calls.

What is believed of a model for a tool begins with what is known of the model over all tools, and is thrown away where
the calls say that something has changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Final

from msgspec import Struct

from protocol.models import ModelName

PRIOR_WEIGHT: Final = 4.0
"""Calls that what is known of a model over all tools counts as, for a tool of its own."""

FIRST_MEAN: Final = 0.9
FIRST_WEIGHT: Final = 10.0
"""What a model is taken to be before anything is known, and the calls that this counts as."""

FORGET: Final = 0.998
"""What a call still counts after the next one of the tool."""

KEPT: Final = 0.05
"""What is left of the evidence of a tool after a change."""

WORSE_BY: Final = 0.7
WORSE_ALARM: Final = 6.0
"""A change: the rate has fallen to so much of what it was believed to be, by so much evidence (a CUSUM)."""


class Belief(Struct, frozen=True, array_like=True):
    """What the calls of a tool to a model say, forgotten up to the call `at` of the tool; `calls` since a change."""

    good: float = 0.0
    bad: float = 0.0
    at: int = 0
    calls: int = 0
    score: float = 0.0

    def faded(self, at: int) -> Belief:
        """Return the belief at a later call of the tool."""
        keep = FORGET ** (at - self.at)
        return Belief(self.good * keep, self.bad * keep, at, self.calls, self.score)


class ToolBeliefs(Struct, frozen=True, array_like=True):
    """What is believed of models for one tool, after so many calls of it."""

    calls: int = 0
    models: dict[str, Belief] = {}


class ModelRecord(Struct, frozen=True, array_like=True):
    """How many calls of a model over all tools went well, and how many there were."""

    good: float = FIRST_MEAN * FIRST_WEIGHT
    calls: float = FIRST_WEIGHT


@dataclass
class Beliefs:
    """What is believed of all models for all tools, after the calls that were applied; models by `provider/model`."""

    tools: dict[str, ToolBeliefs] = field(default_factory=dict[str, ToolBeliefs])
    models: dict[str, ModelRecord] = field(default_factory=dict[str, ModelRecord])

    def call(self, tool: str, name: ModelName, *, success: bool | None) -> None:
        """Apply a call; `success` is None where it failed for reasons that are not the model's."""
        if success is None:
            return
        key = key_of(name)
        known = self.tools.get(tool) or ToolBeliefs()
        calls, models = known.calls + 1, dict(known.models)
        before = models.get(key, Belief()).faded(calls)
        score = max(0.0, before.score + self._worse(name, before, success=success))
        belief = Belief(before.good + success, before.bad + (not success), calls, before.calls + 1, score)
        models[key] = belief
        if score >= WORSE_ALARM:
            models = {model: _forgotten(one) for model, one in models.items()}
        self.tools[tool] = ToolBeliefs(calls, models)
        record = self.models.get(key) or ModelRecord()
        self.models[key] = ModelRecord(record.good * FORGET + success, record.calls * FORGET + 1)

    def verdict(self, tool: str, name: ModelName, *, success: bool) -> None:
        """Apply that a call has turned out to be the opposite of what was counted."""
        key, known = key_of(name), self.tools.get(tool)
        belief = None if known is None else known.models.get(key)
        if known is None or belief is None:
            return
        change = 1.0 if success else -1.0
        worse = self._worse(name, belief, success=success) - self._worse(name, belief, success=not success)
        score = max(0.0, belief.score + worse)
        good, bad = max(0.0, belief.good + change), max(0.0, belief.bad - change)
        corrected = Belief(good, bad, belief.at, belief.calls, score)
        self.tools[tool] = ToolBeliefs(known.calls, {**known.models, key: corrected})

    def shape(self, tool: str, name: ModelName) -> tuple[float, float]:
        """Return alpha and beta of what is believed of a model for a tool."""
        known = self.tools.get(tool) or ToolBeliefs()
        belief = known.models.get(key_of(name), Belief()).faded(known.calls)
        mean = self._mean(name)
        return belief.good + PRIOR_WEIGHT * mean, belief.bad + PRIOR_WEIGHT * (1 - mean)

    def mean(self, tool: str, name: ModelName) -> float:
        """Return how often a model is believed to succeed at a tool."""
        alpha, beta = self.shape(tool, name)
        return alpha / (alpha + beta)

    def calls(self, tool: str, name: ModelName) -> int:
        """Return how many calls of a tool to a model were applied since a change."""
        known = self.tools.get(tool) or ToolBeliefs()
        return known.models.get(key_of(name), Belief()).calls

    def _mean(self, name: ModelName) -> float:
        record = self.models.get(key_of(name)) or ModelRecord()
        return record.good / record.calls

    def _worse(self, name: ModelName, belief: Belief, *, success: bool) -> float:
        """Return how much a call speaks for a change, as the logarithm of a ratio of probabilities."""
        if success:
            return _SUCCESS
        mean = self._mean(name)
        alpha, beta = belief.good + PRIOR_WEIGHT * mean, belief.bad + PRIOR_WEIGHT * (1 - mean)
        rate = min(alpha / (alpha + beta), 0.99)
        return log((1 - WORSE_BY * rate) / (1 - rate))


def key_of(name: ModelName) -> str:
    """Name a model in one word."""
    return f"{name.provider}/{name.model}"


def _forgotten(belief: Belief) -> Belief:
    return Belief(belief.good * KEPT, belief.bad * KEPT, belief.at)


_SUCCESS: Final = log(WORSE_BY)
