"""Evaluates boosted trees with arrays alone: what trained them is not needed to run them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.content.layout import Columns, Floats, Ints, side_by_side

Scores = NDArray[np.float64]

_AT_ONCE = 120_000
"""Pairs of row and tree that are followed at once: so many fit into the caches of a core."""

_STEPS = 3
"""Levels that are followed before those that have arrived are dropped."""


@dataclass(frozen=True)
class Trees:
    """A sum of decision trees, as one table of nodes.

    A row goes from a node to `child`, or to the node after that where its `feature` is above the `threshold`; a leaf is
    its own child, with an endless threshold. `roots` are the first nodes of the trees, `names` what the features are.
    The trees speak for the `outputs` in turn.
    """

    names: tuple[str, ...]
    feature: Ints
    threshold: Floats
    child: Ints
    value: Scores
    roots: Ints
    outputs: int = 1

    @staticmethod
    def load(arrays: Mapping[str, NDArray[np.generic]], prefix: str) -> Trees:
        """Read a table that `save` wrote.

        Raises:
            ValueError: The names of the features are not those that it was trained on.
        """
        names = tuple(str(name) for name in arrays[f"{prefix}.names"].tolist())
        if str(arrays[f"{prefix}.hash"]) != fingerprint(names):
            raise ValueError(f"the features of {prefix} are not those it was trained on")
        return Trees(
            names,
            arrays[f"{prefix}.feature"].astype(np.int64),
            arrays[f"{prefix}.threshold"].astype(np.float32),
            arrays[f"{prefix}.child"].astype(np.int64),
            arrays[f"{prefix}.value"].astype(np.float64),
            arrays[f"{prefix}.roots"].astype(np.int64),
            int(arrays[f"{prefix}.outputs"]),
        )

    def save(self, prefix: str) -> dict[str, NDArray[np.generic]]:
        """Return the table as arrays that compress well."""
        return {
            f"{prefix}.names": np.array(self.names),
            f"{prefix}.hash": np.array(fingerprint(self.names)),
            f"{prefix}.feature": self.feature.astype(np.int16),
            f"{prefix}.threshold": self.threshold,
            f"{prefix}.child": self.child.astype(np.int32),
            f"{prefix}.value": self.value,
            f"{prefix}.roots": self.roots.astype(np.int32),
            f"{prefix}.outputs": np.array(self.outputs),
        }

    def matrix(self, columns: Columns) -> Floats:
        """Put the columns that are asked for side by side."""
        return side_by_side(columns[name] for name in self.names)

    def scores(self, matrix: Floats) -> Scores:
        """Return a row of scores for each row, one for each output."""
        rows = max(_AT_ONCE // len(self.roots), 1)
        parts = [self._follow(matrix[at : at + rows]) for at in range(0, len(matrix), rows)]
        return np.concatenate(parts) if parts else np.zeros((0, self.outputs))

    def _follow(self, matrix: Floats) -> Scores:
        count, width = matrix.shape
        trees = len(self.roots)
        flat = np.ascontiguousarray(matrix).ravel()
        row: Ints = np.repeat(np.arange(count, dtype=np.int64), trees)
        base = row * width
        lane = row * self.outputs + np.tile(np.arange(trees, dtype=np.int64) % self.outputs, count)
        node: Ints = np.tile(self.roots, count)
        total = np.zeros(count * self.outputs)
        while len(node):
            for _ in range(_STEPS):
                above = np.greater(flat.take(base + self.feature.take(node)), self.threshold.take(node))
                node = np.asarray(self.child.take(node) + above, np.int64)
            arrived = self.child.take(node) == node
            total += np.bincount(lane[arrived], self.value.take(node[arrived]), len(total))
            going = np.flatnonzero(~arrived)
            lane, node, base = lane.take(going), node.take(going), base.take(going)
        return total.reshape(count, self.outputs)


def fingerprint(names: Iterable[str]) -> str:
    """Return a short hash of a list of features."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def at_most(values: Sequence[float]) -> Floats:
    """Round thresholds down to the precision of the features, so that no comparison comes out differently."""
    exact = np.array(values, np.float64)
    rounded = exact.astype(np.float32)
    return np.where(rounded.astype(np.float64) > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def probability(scores: Scores) -> Scores:
    """Turn scores into probabilities."""
    return 1 / (1 + np.exp(-np.clip(scores, -60, 60)))
