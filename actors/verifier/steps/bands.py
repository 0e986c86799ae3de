"""What can be found of a step, and how probable each finding makes it that the step did what was wanted.

The figures lie near the share of generated steps with that finding that did (`python -m tests.bench.steps 0 160` prints
them), kept off 0 and 1 as such pages are no sample of the web. Findings that those pages have none of are estimates:
MASKED, SEEN_BY_CLIENT, FOCUSED, SCROLLED, READ, SERVED, CHANGED_ELSEWHERE, FAILED. NOTHING is the figure of 001.
`./scripts/bench steps` holds all of them to other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct


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
    APPEARED_ELSEWHERE = "appeared_elsewhere"
    CHANGED_ELSEWHERE = "changed_elsewhere"
    SWAPPED_NEAR = "swapped_near"
    SWAPPED_ELSEWHERE = "swapped_elsewhere"
    OTHER_CHOSEN = "other_chosen"
    AMBIENT = "ambient"
    SEEN_BY_CLIENT = "seen_by_client"
    ANSWERED = "answered"
    REACHED_SWAPPED = "reached_swapped"
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
        StepBand.AS_WANTED: 0.99,
        StepBand.NEARLY_AS_WANTED: 0.9,
        StepBand.MASKED: 0.95,
        StepBand.NOT_AS_WANTED: 0.02,
        StepBand.THERE: 0.99,
        StepBand.NAVIGATED: 0.98,
        StepBand.ELSEWHERE_NAVIGATED: 0.2,
        StepBand.EXPECTED: 0.98,
        StepBand.UNEXPECTED: 0.08,
        StepBand.TARGET_CHANGED: 0.97,
        StepBand.TARGET_GONE: 0.97,
        StepBand.NEAR_CHANGED: 0.95,
        StepBand.NAMED_CHANGED: 0.95,
        StepBand.PAGE_CHANGED: 0.98,
        StepBand.MESSAGE: 0.97,
        StepBand.APPEARED_ELSEWHERE: 0.85,
        StepBand.CHANGED_ELSEWHERE: 0.4,
        StepBand.SWAPPED_NEAR: 0.06,
        StepBand.SWAPPED_ELSEWHERE: 0.02,
        StepBand.OTHER_CHOSEN: 0.04,
        StepBand.AMBIENT: 0.03,
        StepBand.SEEN_BY_CLIENT: 0.4,
        StepBand.ANSWERED: 0.9,
        StepBand.REACHED_SWAPPED: 0.92,
        StepBand.FOCUSED: 0.95,
        StepBand.SCROLLED: 0.97,
        StepBand.READ: 0.98,
        StepBand.SERVED: 1.0,
        StepBand.LOADING: 0.15,
        StepBand.ERROR: 0.02,
        StepBand.FAILED: 0.03,
        StepBand.WRONG_TARGET: 0.04,
    }
)


class StepFinding(Struct, frozen=True):
    """What was found, and the sentence that says so."""

    band: StepBand
    evidence: str

    @property
    def probability(self) -> float:
        """How probable it is that the step did what was wanted."""
        return PROBABILITIES[self.band]
