"""Decides the fields that are not voted on: the value that stands best, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from actors.extraction.decide.fields.vote import head
from actors.extraction.evidence.claim import Claim
from protocol.confidence import BASELINES, Source

AGREEMENT = 0.6
"""What is left of the doubt in a value when one more kind of place says it, too."""

DISAGREEMENT = 0.85
"""What is left of the confidence in a value when one more kind of place says another."""

SUREST = 0.98


@dataclass(frozen=True)
class Standing:
    """A value, its kind of source, and its score."""

    value: str
    source: Source
    score: float


def best(claims: Iterable[Claim], same: Callable[[str], str], worth: Callable[[str], float]) -> Standing | None:
    """Return the value that stands best; None when there is none.

    A value begins with the baseline of its surest source (000 §2). Each further kind of place that says it takes
    `AGREEMENT` of the doubt, each that says another `DISAGREEMENT` of the score, and what the value itself is `worth`
    (from 0 to 1) counts at last. `same` gives what two spellings share, "" for what is no value.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        if shared := same(claim.value):
            groups.setdefault(shared, []).append(claim)
    standings = [_standing(group, groups, worth) for group in groups.values()]
    return max(standings, key=lambda standing: standing.score, default=None)


def _standing(group: list[Claim], groups: Mapping[str, list[Claim]], worth: Callable[[str], float]) -> Standing:
    first = max(group, key=lambda claim: BASELINES[claim.source])
    saying = {head(claim) for claim in group}
    others = {head(claim) for claims in groups.values() if claims is not group for claim in claims} - saying
    doubt = (1 - BASELINES[first.source]) * AGREEMENT ** (len(saying) - 1)
    score = min(SUREST, 1 - doubt) * DISAGREEMENT ** len(others)
    return Standing(first.value, first.source, score * worth(first.value))
