"""What can be found of a step, and how probable each finding makes it that the step did what was wanted.

The figures are calibrated: each is the share of steps with that finding that did, of those in the generated cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class StepBand(StrEnum):
    """What was found of a step."""

    NOTHING = "nothing"
    AS_WANTED = "as_wanted"
    NEARLY_AS_WANTED = "nearly_as_wanted"
    MASKED = "masked"
    NOT_AS_WANTED = "not_as_wanted"
    THERE = "there"
    NAVIGATED = "navigated"
    ELSEWHERE_NAVIGATED = "elsewhere_navigated"
    EXPECTED = "expected"
    UNEXPECTED = "unexpected"
    TARGET_CHANGED = "target_changed"
    TARGET_GONE = "target_gone"
    NEAR_CHANGED = "near_changed"
    NAMED_CHANGED = "named_changed"
    PAGE_CHANGED = "page_changed"
    MESSAGE = "message"
    CHANGED_ELSEWHERE = "changed_elsewhere"
    AMBIENT = "ambient"
    SEEN_BY_CLIENT = "seen_by_client"
    FOCUSED = "focused"
    SCROLLED = "scrolled"
    READ = "read"
    SERVED = "served"
    LOADING = "loading"
    ERROR = "error"
    FAILED = "failed"
    WRONG_TARGET = "wrong_target"


PROBABILITIES: Mapping[StepBand, float] = MappingProxyType(
    {
        StepBand.NOTHING: 0.2,
        StepBand.AS_WANTED: 0.98,
        StepBand.NEARLY_AS_WANTED: 0.9,
        StepBand.MASKED: 0.95,
        StepBand.NOT_AS_WANTED: 0.04,
        StepBand.THERE: 0.98,
        StepBand.NAVIGATED: 0.96,
        StepBand.ELSEWHERE_NAVIGATED: 0.3,
        StepBand.EXPECTED: 0.97,
        StepBand.UNEXPECTED: 0.15,
        StepBand.TARGET_CHANGED: 0.95,
        StepBand.TARGET_GONE: 0.92,
        StepBand.NEAR_CHANGED: 0.9,
        StepBand.NAMED_CHANGED: 0.9,
        StepBand.PAGE_CHANGED: 0.95,
        StepBand.MESSAGE: 0.96,
        StepBand.CHANGED_ELSEWHERE: 0.4,
        StepBand.AMBIENT: 0.08,
        StepBand.SEEN_BY_CLIENT: 0.4,
        StepBand.FOCUSED: 0.95,
        StepBand.SCROLLED: 0.97,
        StepBand.READ: 0.98,
        StepBand.SERVED: 1.0,
        StepBand.LOADING: 0.6,
        StepBand.ERROR: 0.04,
        StepBand.FAILED: 0.04,
        StepBand.WRONG_TARGET: 0.05,
    }
)


@dataclass(frozen=True)
class StepFinding:
    """What was found, and the sentence that says so."""

    band: StepBand
    evidence: str

    @property
    def probability(self) -> float:
        """How probable it is that the step did what was wanted."""
        return PROBABILITIES[self.band]
