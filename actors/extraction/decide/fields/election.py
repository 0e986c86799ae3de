"""Elects the candidate that is most likely right, and tells how likely it is."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from actors.extraction.assets import FIELD_MODELS, bytes_of
from actors.extraction.decide.content.trees import Scores, Trees, probability
from actors.extraction.decide.fields.candidates import agree_authors, agree_dates, agree_titles
from actors.extraction.decide.fields.vote import Candidate, Features

AGREE: Mapping[str, Callable[[Candidate, Candidate], float]] = MappingProxyType(
    {"title": agree_titles, "author": agree_authors, "date": agree_dates}
)
"""What is elected, and how far two candidates for it say the same."""

LEAST: Mapping[str, float] = MappingProxyType({"title": 0.0, "author": 0.05, "date": 0.05})
"""How likely a candidate must be to be taken at all; a page always has a title.

On gold pages without an author this keeps more than half of the wrong ones out, and costs .01 of token-F1 on the rest.
"""


@dataclass(frozen=True)
class Ballot:
    """What was learned of a field: the trees that judge candidates, and how sure their judgement makes one."""

    trees: Trees
    sure: tuple[float, ...]


@dataclass(frozen=True)
class Elected:
    """The candidate with the highest probability, and the probabilities of all of them."""

    winner: Candidate
    score: float
    shares: tuple[float, ...]


def elect(name: str, candidates: Sequence[Candidate], rows: Sequence[Features]) -> Elected | None:
    """Elect one of the candidates for a field; None when none is good enough."""
    if not candidates:
        return None
    ballot = ballots()[name]
    shares = judged(ballot.trees, rows)
    best = int(shares.argmax())
    if shares[best] < LEAST[name]:
        return None
    found = evidence(name, candidates, shares, best)
    score = float(probability(np.dot(ballot.sure, [*found, 1.0])))
    return Elected(candidates[best], score, tuple(shares.tolist()))


def judged(trees: Trees, rows: Sequence[Features]) -> Scores:
    """Return the probability of each candidate."""
    place = _places(trees.names)
    matrix = np.zeros((len(rows), len(trees.names)), np.float32)
    for at, row in enumerate(rows):
        for feature, value in row.items():
            if feature in place:
                matrix[at, place[feature]] = value
    return probability(trees.scores(matrix))[:, 0]


@lru_cache(8)
def _places(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: at for at, name in enumerate(names)}


def evidence(name: str, candidates: Sequence[Candidate], shares: NDArray[np.float64], best: int) -> list[float]:
    """Return what tells how sure an election is: the winner's share, what supports it, its rival, and all shares."""
    top = min(max(float(shares[best]), 1e-3), 1 - 1e-3)
    others = [at for at in range(len(candidates)) if at != best]
    agree = AGREE[name]
    support = sum(float(shares[at]) * agree(candidates[best], candidates[at]) for at in others)
    rival = max((float(shares[at]) for at in others), default=0.0)
    return [float(np.log(top / (1 - top))), support, rival, float(shares.sum())]


@cache
def ballots() -> Mapping[str, Ballot]:
    """Return what was learned, by the name of the field.

    Raises:
        ValueError: It was trained on other features.
    """
    data = bytes_of(FIELD_MODELS)
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    return MappingProxyType(
        {
            name: Ballot(Trees.load(arrays, name), tuple(arrays[f"{name}.sure"].astype(np.float64).tolist()))
            for name in AGREE
        }
    )
