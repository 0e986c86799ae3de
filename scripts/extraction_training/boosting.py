"""Fits boosted trees, the same ones each time, and turns them into the tables that extraction evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from actors.extraction.decide.block_arrays import Floats, Ints
from actors.extraction.decide.model import Scores, Trees

_lightgbm: Any = lightgbm
"""The library as it is: its own types leave out what its arrays hold."""

Settings = Mapping[str, float | int | str]

_SAME_EACH_TIME: Settings = {
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "seed": 20_251_121,
    "verbose": -1,
}


@dataclass(frozen=True)
class Rows:
    """What is learned from: a row of features for each label, their names, and how much each row weighs."""

    matrix: Floats
    labels: Floats | Ints
    names: Sequence[str]
    weights: Floats | None = None


@dataclass(frozen=True)
class Recipe:
    """How to fit trees, and what each of their scores counts in a blend."""

    settings: Settings
    rounds: int
    weight: float = 1.0


class Booster:
    """Trees as they were fitted, over features with names: of one fit, or of several with their weights."""

    def __init__(self, fitted: Sequence[tuple[Any, float]], names: Sequence[str], outputs: int) -> None:
        self._fitted = fitted
        self._names = tuple(names)
        self._outputs = outputs

    def scores(self, matrix: Floats) -> Scores:
        """Return the sum of the trees for each row and output."""
        total = np.zeros((len(matrix), self._outputs))
        for trees, weight in self._fitted:
            total += weight * np.asarray(trees.predict(matrix, raw_score=True), np.float64).reshape(total.shape)
        return total

    def gains(self) -> Mapping[str, float]:
        """Return the share that each feature has in what was gained, each fit alike."""
        gain = np.zeros(len(self._names))
        for trees, _ in self._fitted:
            own = np.asarray(trees.feature_importance("gain"), np.float64)
            gain += own / own.sum()
        return dict(zip(self._names, (gain / gain.sum()).tolist(), strict=True))

    def table(self) -> Trees:
        """Write the trees as one table of nodes, over the features that they use."""
        nodes = _Nodes()
        roots = [
            nodes.add(tree["tree_structure"], weight)
            for trees, weight in self._fitted
            for tree in trees.dump_model()["tree_info"]
        ]
        used = sorted({nodes.feature[at] for at, child in enumerate(nodes.child) if child != at})
        place = {feature: at for at, feature in enumerate(used)}
        return Trees(
            names=tuple(self._names[feature] for feature in used),
            feature=np.array([place.get(feature, 0) for feature in nodes.feature], np.int64),
            threshold=at_most(nodes.threshold),
            child=np.array(nodes.child, np.int64),
            value=np.array(nodes.value, np.float64),
            roots=np.array(roots, np.int64),
            outputs=self._outputs,
        )


def fit(rows: Rows, settings: Settings, rounds: int) -> Booster:
    """Fit trees; the same rows in the same order give the same trees."""
    return fit_blend(rows, [Recipe(settings, rounds)])


def fit_blend(rows: Rows, recipes: Sequence[Recipe]) -> Booster:
    """Fit trees by several recipes, of one number of bins, whose scores are added up by their weights."""
    bins = {"max_bin": recipes[0].settings["max_bin"]} if "max_bin" in recipes[0].settings else {}
    shared = {**_SAME_EACH_TIME, **bins, "feature_pre_filter": False}
    data = _lightgbm.Dataset(rows.matrix, rows.labels, weight=rows.weights, params=shared, free_raw_data=True)
    fitted = [(_lightgbm.train({**shared, **one.settings}, data, one.rounds), one.weight) for one in recipes]
    return Booster(fitted, rows.names, int(recipes[0].settings.get("num_class", 1)))


def at_most(values: Sequence[float]) -> Floats:
    """Round thresholds down to the precision of the features, so that no comparison comes out differently."""
    exact = np.array(values, np.float64)
    rounded = exact.astype(np.float32)
    return np.where(rounded.astype(np.float64) > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)


class _Nodes:
    """The nodes of all trees, the two children of a node side by side."""

    def __init__(self) -> None:
        self.feature = list[int]()
        self.threshold = list[float]()
        self.child = list[int]()
        self.value = list[float]()

    def add(self, root: dict[str, Any], weight: float) -> int:
        at = self._grow(1)
        waiting = [(at, root)]
        while waiting:
            place, node = waiting.pop()
            if "leaf_value" in node:
                self.value[place] = weight * float(node["leaf_value"])
                continue
            self.feature[place] = int(node["split_feature"])
            self.threshold[place] = float(node["threshold"])
            self.child[place] = self._grow(2)
            waiting += [(self.child[place], node["left_child"]), (self.child[place] + 1, node["right_child"])]
        return at

    def _grow(self, count: int) -> int:
        first = len(self.child)
        self.feature += [0] * count
        self.threshold += [float("inf")] * count
        self.child += range(first, first + count)
        self.value += [0.0] * count
        return first
