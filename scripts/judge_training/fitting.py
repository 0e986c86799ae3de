"""Fits the judge: two logistic regressions, and how well they do on pages of sites that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from scipy import optimize, sparse  # pyright: ignore[reportMissingTypeStubs]

from actors.verifier.features import BUCKETS, Described, describe
from actors.verifier.lexicon import KINDS
from actors.verifier.model import CLIP, TEXT_SCALE, Assessment, Grove, JudgeModel
from scripts.extraction_training import boosting
from scripts.judge_training.data import FOLDS, WORKERS, Example

_sparse: Any = sparse
_optimize: Any = optimize
"""The library as it is: its own types leave out what its arrays hold."""

WORDS_PENALTY, DENSE_PENALTY, KIND_PENALTY = 1.0, 1.0, 1.0
ROUNDS, KIND_ROUNDS = 150, 60
_LEAST_SPREAD = 0.05
TREE_ROUNDS, LEVELS = 160, 4
TREES: boosting.Settings = {
    "objective": "binary",
    "learning_rate": 0.05,
    "max_depth": LEVELS,
    "num_leaves": 2**LEVELS,
    "min_data_in_leaf": 5,
    "lambda_l2": 2.0,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
}

HEALTHY_REFUSED = 0.005
"""The share of healthy pages that may be refused."""

LEAST_BOUND, MOST_BOUND = 0.3, 0.4

_AVERAGED = ("words", "dense", "bias", "mean", "spread")

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Examples in numbers, a row each; `kinds` is 0 for a healthy page and else 1 + the place of its kind."""

    examples: Sequence[Example]
    described: Sequence[Described]
    kinds: NDArray[np.int64]
    weights: Numbers
    folds: NDArray[np.int64]

    @staticmethod
    def of(examples: Sequence[Example]) -> Table:
        """Describe examples."""
        with ProcessPoolExecutor(WORKERS) as pool:
            described = list(pool.map(describe, [example.claim for example in examples], chunksize=64))
        return Table(
            examples,
            described,
            np.array([0 if example.kind is None else 1 + KINDS.index(example.kind) for example in examples]),
            np.array([example.weight for example in examples]),
            np.array([example.fold for example in examples]),
        )

    def rows(self, kept: NDArray[np.bool_]) -> Table:
        """Return some of the rows."""
        places = np.flatnonzero(kept).tolist()
        return Table(
            [self.examples[at] for at in places],
            [self.described[at] for at in places],
            self.kinds[kept],
            self.weights[kept],
            self.folds[kept],
        )


def fit(table: Table) -> JudgeModel:
    """Fit both models on a table; the calibration is left as it is."""
    dense = np.array([page.dense for page in table.described], np.float64)
    mean, spread = dense.mean(0), dense.std(0) + _LEAST_SPREAD
    matrix = _matrix(table.described, np.clip((dense - mean) / spread, -CLIP, CLIP))
    width = dense.shape[1]
    penalty = np.concatenate([np.full(BUCKETS, WORDS_PENALTY), np.full(width, DENSE_PENALTY), [1e-3]])
    healthy = _binary(matrix, table.kinds == 0, table.weights, penalty)
    bad = table.kinds > 0
    kinds = _softmax(matrix[bad], table.kinds[bad] - 1, table.weights[bad], penalty * KIND_PENALTY)
    weights = np.column_stack([healthy, kinds]).astype(np.float32)
    return JudgeModel(
        words=weights[:BUCKETS],
        dense=weights[BUCKETS:-1],
        bias=weights[-1],
        mean=mean.astype(np.float32),
        spread=spread.astype(np.float32),
        grove=_grove(table),
    )


def _grove(table: Table) -> Grove:
    """Fit trees to the dense features, and write each as a complete one."""
    dense = np.array([page.dense for page in table.described], np.float32)
    names = [str(at) for at in range(dense.shape[1])]
    labels = (table.kinds == 0).astype(np.int64)
    rows = boosting.Rows(dense, labels, names, table.weights.astype(np.float32))
    found = boosting.fit(rows, TREES, TREE_ROUNDS).table()
    inner, roots = 2**LEVELS - 1, found.roots.tolist()
    feature = np.zeros((len(roots), inner), np.int64)
    threshold = np.full((len(roots), inner), np.inf, np.float32)
    value = np.zeros((len(roots), inner + 1), np.float32)
    used = np.array([int(name) for name in found.names], np.int64)
    for row, root in enumerate(roots):
        level = [root]
        for at in range(inner):
            node = level[at]
            leaf = int(found.child[node]) == node
            if not leaf:
                feature[row, at] = used[found.feature[node]]
                threshold[row, at] = found.threshold[node]
            level += [node, node] if leaf else [int(found.child[node]), int(found.child[node]) + 1]
        value[row] = found.value[level[inner:]]
    return Grove(feature, threshold, value)


def _matrix(described: Sequence[Described], dense: Numbers) -> Any:
    lengths = np.cumsum([0, *(len(page.columns) for page in described)])
    columns = np.concatenate([page.columns for page in described])
    values = np.concatenate([page.values for page in described]) * TEXT_SCALE
    words = _sparse.csr_matrix((values, columns, lengths), shape=(len(described), BUCKETS))
    words.sum_duplicates()
    return _sparse.hstack([words, _sparse.csr_matrix(dense), np.ones((len(described), 1))]).tocsr()


def _binary(matrix: Any, labels: NDArray[np.bool_], weights: Numbers, penalty: Numbers) -> Numbers:
    turned = matrix.T.tocsr()

    def loss(vector: Numbers) -> tuple[float, Numbers]:
        scores = matrix @ vector
        missed = np.logaddexp(0, _signed(scores, labels))
        wrong = (1 / (1 + np.exp(-scores)) - labels) * weights
        return float((weights * missed).sum() + 0.5 * (penalty * vector**2).sum()), turned @ wrong + penalty * vector

    return _least(loss, matrix.shape[1], ROUNDS)


def _signed(scores: Numbers, labels: NDArray[np.bool_]) -> Numbers:
    """Return how far each score is on the wrong side of its label."""
    return scores * np.where(labels, -1.0, 1.0)


def _softmax(matrix: Any, labels: NDArray[np.int64], weights: Numbers, penalty: Numbers) -> Numbers:
    turned, count = matrix.T.tocsr(), len(KINDS)
    right = np.eye(count)[labels]
    penalties = penalty[:, None]

    def loss(vector: Numbers) -> tuple[float, Numbers]:
        table = vector.reshape(-1, count)
        scores = matrix @ table
        scores -= scores.max(1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        wrong = (np.exp(logs) - right) * weights[:, None]
        missed = -(weights * (logs * right).sum(1)).sum() + 0.5 * (penalties * table**2).sum()
        return float(missed), (turned @ wrong + penalties * table).ravel()

    return _least(loss, matrix.shape[1] * count, KIND_ROUNDS).reshape(-1, count)


def _least(loss: Callable[[Numbers], tuple[float, Numbers]], size: int, rounds: int) -> Numbers:
    found = _optimize.minimize(
        loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": rounds, "maxcor": 10}
    )
    return np.asarray(found.x, np.float64)


def fold_models(table: Table) -> list[JudgeModel]:
    """Fit a model for each fold, on the groups of the others."""
    with ProcessPoolExecutor(WORKERS) as pool:
        return list(pool.map(fit, [table.rows(table.folds != fold) for fold in range(FOLDS)]))


def cross_validated(table: Table, models: Sequence[JudgeModel]) -> list[tuple[Example, Assessment]]:
    """Return each real example with what a model makes of it that has not seen its group.

    What the model's odds count, and below what a page is refused, is chosen on the other folds.
    """
    odds, real = _unseen_odds(table, models)
    judged = list[tuple[Example, Assessment]]()
    for fold, model in enumerate(models):
        chosen = _settled(model, table, odds, real & (table.folds != fold))
        for at in np.flatnonzero(real & (table.folds == fold)).tolist():
            judged.append((table.examples[at], chosen.assess(table.described[at])))
    return judged


def trained(table: Table, models: Sequence[JudgeModel]) -> JudgeModel:
    """Return the mean of the models; calibration and bound suit what each says of sites that it had not seen."""
    odds, real = _unseen_odds(table, models)
    return _settled(_mean(models), table, odds, real)


def _mean(models: Sequence[JudgeModel]) -> JudgeModel:
    """Return one model that scores nearly as all do on average: each has seen four fifths of the same sites."""
    arrays = {name: np.mean([getattr(model, name) for model in models], 0) for name in _AVERAGED}
    groves = [model.grove for model in models]
    grove = Grove(
        np.concatenate([each.feature for each in groves]),
        np.concatenate([each.threshold for each in groves]),
        (np.concatenate([each.value for each in groves]) / len(models)).astype(np.float32),
    )
    return JudgeModel(**arrays, grove=grove)


def _settled(model: JudgeModel, table: Table, odds: Numbers, rows: NDArray[np.bool_]) -> JudgeModel:
    """Return a model with the calibration and the bound that are best on these rows."""
    healthy = table.kinds[rows] == 0
    calibrated = calibration(odds[rows], healthy)
    scores = odds[rows] @ np.array(calibrated[:2]) + calibrated[2]
    return structs.replace(model, calibration=calibrated, refused_below=bound(1 / (1 + np.exp(-scores)), healthy))


def _unseen_odds(table: Table, models: Sequence[JudgeModel]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the log odds of every page, by the words and by the trees, and which pages are real."""
    folds: list[int] = table.folds.tolist()
    odds = [
        (float(models[fold].scores(page)[0]), models[fold].grove.score(page.dense))
        for page, fold in zip(table.described, folds, strict=True)
    ]
    return np.array(odds), np.array([not example.made_up for example in table.examples])


def calibration(odds: Numbers, healthy: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return what the two log odds count, and the offset, that explain best which pages are healthy."""

    def loss(values: Numbers) -> float:
        scores = odds @ values[:2] + values[2]
        return float(np.logaddexp(0, _signed(scores, healthy)).sum())

    found = _optimize.minimize(loss, np.array([0.5, 0.5, 0.0]), method="Nelder-Mead").x.tolist()
    return float(found[0]), float(found[1]), float(found[2])


def bound(probabilities: Numbers, healthy: NDArray[np.bool_]) -> float:
    """Return the probability below which to refuse: so few healthy pages lie there, and as many others as can be."""
    lowest = np.sort(probabilities[healthy])
    return float(np.clip(lowest[int(HEALTHY_REFUSED * len(lowest))], LEAST_BOUND, MOST_BOUND))
