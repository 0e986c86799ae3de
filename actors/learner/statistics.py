"""Tests on a run of calls that went well or not: has the rate changed, and is a model good enough?

Both add up how much more probable each call is under one rate than under another (log-likelihood ratios).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import log

from msgspec import Struct


@dataclass(frozen=True)
class Ratio:
    """How much more probable a call is with the success rate `alternative` than with `null`, as a logarithm."""

    null: float
    alternative: float
    on_success: float = field(init=False)
    on_failure: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute both logarithms once."""
        object.__setattr__(self, "on_success", log(self.alternative / self.null))
        object.__setattr__(self, "on_failure", log((1 - self.alternative) / (1 - self.null)))

    def of(self, *, success: bool) -> float:
        """Return the logarithm for one call."""
        return self.on_success if success else self.on_failure

    def of_all(self, calls: int, successes: int) -> float:
        """Return the logarithm for several calls."""
        return successes * self.on_success + (calls - successes) * self.on_failure


class Cusum(Struct, frozen=True):
    """A one-sided test for a change of the rate (Page 1954): the sum never falls below 0, and alarms at `alarm`."""

    ratio: Ratio
    alarm: float

    def after(self, score: float, *, success: bool) -> float:
        """Return the sum after one more call."""
        return max(0.0, score + self.ratio.of(success=success))

    def corrected(self, score: float, *, success: bool) -> float:
        """Return the sum after a call that it has already turned out otherwise: `success` now, the opposite before."""
        return max(0.0, score + self.ratio.of(success=success) - self.ratio.of(success=not success))


class SampleVerdict(StrEnum):
    """What a sample says of a model so far."""

    GOOD = "good"
    BAD = "bad"
    UNDECIDED = "undecided"


class SequentialTest(Struct, frozen=True):
    """A test that ends as soon as it is sure (Wald 1945), from `least` calls on, and at `most` by the bare rate."""

    ratio: Ratio
    least: int
    most: int
    accept: float
    reject: float

    def judge(self, calls: int, successes: int, keep_rate: float) -> SampleVerdict:
        """Judge a sample; where it is not sure at `most` calls, it is good from `keep_rate` on."""
        score = self.ratio.of_all(calls, successes)
        if score <= self.reject:
            return SampleVerdict.BAD
        if calls >= self.least and score >= self.accept and successes >= keep_rate * calls:
            return SampleVerdict.GOOD
        if calls < self.most:
            return SampleVerdict.UNDECIDED
        return SampleVerdict.GOOD if successes >= keep_rate * calls else SampleVerdict.BAD
