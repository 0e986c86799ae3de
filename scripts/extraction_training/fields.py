"""Trains and measures the votes on title, author and date."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.extraction.assets import FIELD_MODELS, FOLDER
from actors.extraction.decide.block_arrays import Floats
from actors.extraction.decide.model import Scores, Trees
from actors.extraction.decide.vote import AGREEMENTS, MIN_PROBABILITY, candidate_probabilities, election_evidence
from scripts.extraction_training import archive, boosting, vote_report
from scripts.extraction_training.boosting import Settings
from scripts.extraction_training.data import FOLDS
from scripts.extraction_training.votes import GoldVote, Outcome, read

MODEL = Path("actors/extraction", FOLDER, FIELD_MODELS)

TREES: Settings = {
    "objective": "cross_entropy",
    "learning_rate": 0.06,
    "num_leaves": 16,
    "min_data_in_leaf": 15,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
}
ROUNDS = 150

COMMON = 8
"""On so many pages must a word of a place stand to become a feature."""

NEAR = 0.3
"""What a candidate's likeness to the gold answer counts as a label; the rest is whether it is the same."""

WITHOUT = 0.05
"""What a page that has no gold answer counts when confidence is fitted, against one that has.

Of 45 authors told on such pages that were looked at, about half do sign what the data leave unsigned: it counts little.
"""

_STEPS = 40
_RIDGE = 1.0


def train(data_dir: Path) -> str:
    """Train the three votes, write their model, and give the report."""
    votes = read(data_dir)
    arrays: dict[str, NDArray[np.generic]] = {}
    outcomes: dict[str, list[Outcome]] = {}
    for name in AGREEMENTS:
        print(f"voting on {name} ...", file=sys.stderr, flush=True)
        elected = _crosswise(name, votes[name])
        outcomes[name] = _crosswise_sure(elected)
        arrays |= _fit(votes[name]).save(name)
        arrays[f"{name}.sure"] = np.round(_fit_sure(elected), 6)
    archive.write(arrays, MODEL)
    print(vote_report.table(outcomes))
    return vote_report.section(outcomes, WITHOUT)


def measure(data_dir: Path) -> dict[str, list[Outcome]]:
    """Elect on every page by votes that have not seen its site; gives the outcomes of title, author and date."""
    votes = read(data_dir)
    return {name: _crosswise_sure(_crosswise(name, votes[name])) for name in AGREEMENTS}


def _fit(votes: Sequence[GoldVote]) -> Trees:
    names = _names(votes)
    place = {name: at for at, name in enumerate(names)}
    rows = [row for one in votes for row in one.vote.rows]
    matrix: Floats = np.zeros((len(rows), len(names)), np.float32)
    for at, row in enumerate(rows):
        for name, value in row.items():
            if name in place:
                matrix[at, place[name]] = value
    same = np.array([value for one in votes for value in one.same], np.float32)
    like = np.array([value for one in votes for value in one.like], np.float32)
    labels: Floats = ((1 - NEAR) * same + NEAR * like).astype(np.float32)
    return boosting.fit(boosting.Rows(matrix, labels, names), TREES, ROUNDS).table()


def _names(votes: Sequence[GoldVote]) -> list[str]:
    """Return the features that are common enough to learn from."""
    counts = Counter(name for one in votes for name in {name for row in one.vote.rows for name in row})
    return sorted(name for name, count in counts.items() if count >= COMMON)


def _crosswise(name: str, votes: Sequence[GoldVote]) -> list[Outcome]:
    """Elect on each page by trees that were fitted on the other folds."""
    found: list[Outcome] = []
    for fold in range(FOLDS):
        trees = _fit([one for one in votes if one.page.fold() != fold])
        found += [_outcome(name, trees, one) for one in votes if one.page.fold() == fold]
    return found


def _outcome(name: str, trees: Trees, one: GoldVote) -> Outcome:
    if not one.vote.candidates:
        return Outcome(one, 0, (), elected=False)
    shares: Scores = candidate_probabilities(trees, one.vote.rows)
    best = int(shares.argmax())
    found = election_evidence(name, one.vote.candidates, shares, best)
    return Outcome(one, best, tuple(found), elected=bool(shares[best] >= MIN_PROBABILITY[name]))


def _fit_sure(outcomes: Iterable[Outcome]) -> NDArray[np.float64]:
    """Fit a logistic regression of how good the elected are on what tells how sure that is."""
    elected = [one for one in outcomes if one.elected]
    rows = np.array([[*one.evidence, 1.0] for one in elected])
    goal = np.array([one.score for one in elected])
    weight = np.array([1.0 if one.gold.answered else WITHOUT for one in elected])
    ridge = np.diag([_RIDGE] * (rows.shape[1] - 1) + [1e-6])
    factors = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        said = 1 / (1 + np.exp(-rows @ factors))
        slope = rows.T @ (weight * (said - goal)) + ridge @ factors
        curve = (rows * (weight * said * (1 - said))[:, None]).T @ rows + ridge
        factors = factors - np.linalg.solve(curve, slope)
    return factors


def _crosswise_sure(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return how sure each outcome is, by what was fitted on the other folds."""
    factors = [_fit_sure([one for one in outcomes if one.gold.page.fold() != fold]) for fold in range(FOLDS)]
    return [replace(one, sure=_sure(factors[one.gold.page.fold()], one)) if one.elected else one for one in outcomes]


def _sure(factors: NDArray[np.float64], one: Outcome) -> float:
    return float(1 / (1 + np.exp(-np.dot(factors, [*one.evidence, 1.0]))))
