"""Evaluates what was trained: boosted trees, without the library that fitted them, and the model of the content."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.extraction.assets import CONTENT_MODEL, bytes_of
from actors.extraction.decide.block_arrays import Columns, Floats, Ints, as_matrix
from actors.extraction.decide.features_words import Lexicon
from protocol.page import PageType

Scores = NDArray[np.float64]

_MAX_PAIRS = 120_000
"""Pairs of row and tree that are followed at once: so many fit into the caches of a core."""

_LEVELS_AT_ONCE = 3
"""Levels that are followed before those that have arrived are dropped."""

TRAINED_TYPES = (
    PageType.ARTICLE,
    PageType.DOCUMENTATION,
    PageType.SERVICE,
    PageType.FORUM,
    PageType.PRODUCT,
    PageType.COLLECTION,
    PageType.LISTING,
)
"""The types that gold pages have; the other two show in the address."""


class Trees(Struct, frozen=True):
    """A sum of decision trees, as one table of nodes.

    A row goes from a node to `child`, or to the node after that where its `feature` is above the `threshold`; a leaf is
    its own child, with an endless threshold. `roots` are the first nodes of the trees, `names` what the features are.
    The trees belong to the `outputs` in turn.
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
        """Return the table as arrays that compress well, for training to write."""
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
        """Put the columns of these features side by side."""
        return as_matrix(columns[name] for name in self.names)

    def scores(self, matrix: Floats) -> Scores:
        """Return a row of scores for each row, one for each output."""
        rows = max(_MAX_PAIRS // len(self.roots), 1)
        parts = [self._follow(matrix[at : at + rows]) for at in range(0, len(matrix), rows)]
        return np.concatenate(parts) if parts else np.zeros((0, self.outputs))

    def _follow(self, matrix: Floats) -> Scores:
        count, outputs = len(matrix), self.outputs
        lanes = count * outputs  # a row and an output each; tree by tree, so that neighbours read what lies together
        flat = (matrix.T if outputs == 1 else np.repeat(matrix.T, outputs, axis=1)).ravel()
        start = self.feature * lanes
        output_of_tree = np.arange(len(self.roots), dtype=np.int64) % outputs
        lane: Ints = np.add.outer(output_of_tree, np.arange(count, dtype=np.int64) * outputs).ravel()
        # All rows stand at the roots, so that their features are whole columns.
        above = matrix.T[self.feature[self.roots]] > self.threshold[self.roots, None]
        node: Ints = np.add(self.child[self.roots, None], above).ravel()
        total = np.zeros(lanes)
        while len(node):
            for _ in range(_LEVELS_AT_ONCE):
                above = np.greater(flat.take(start.take(node) + lane), self.threshold.take(node))
                node = np.asarray(self.child.take(node) + above, np.int64)
            arrived = self.child.take(node) == node
            there, going = np.flatnonzero(arrived), np.flatnonzero(~arrived)
            total += np.bincount(lane.take(there), self.value.take(node.take(there)), lanes)
            lane, node = lane.take(going), node.take(going)
        return total.reshape(count, outputs)


def fingerprint(names: Iterable[str]) -> str:
    """Return a short hash of a list of features."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def probability(scores: Scores) -> Scores:
    """Turn scores into probabilities."""
    return 1 / (1 + np.exp(-np.clip(scores, -60, 60)))


class ContentModel(Struct, frozen=True):
    """What was learned of the main content from gold pages: words, block classifier, page types, confidence."""

    lexicon: Lexicon
    blocks: Trees
    types: Trees
    sure: Trees


@cache
def content_model() -> ContentModel:
    """Return the model of the main content that is shipped.

    Raises:
        ValueError: It was trained on other features.
    """
    arrays = shipped_arrays(CONTENT_MODEL)
    return ContentModel(
        Lexicon.load(arrays), Trees.load(arrays, "blocks"), Trees.load(arrays, "types"), Trees.load(arrays, "sure")
    )


def shipped_arrays(name: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a shipped model by their names."""
    with np.load(io.BytesIO(bytes_of(name)), allow_pickle=False) as file:
        return {array: file[array] for array in file.files}


def page_type_probabilities(trees: Trees, known: Columns, tokens: Floats) -> Scores:
    """Return the probability of each of the trained types."""
    return softmax(trees.scores(page_summary(known, tokens, trees.names)[None, :])[0])


def page_type_columns(types: Scores, count: int) -> Columns:
    """Return the probabilities as features of every block: what is content depends on what the page is for."""
    return {
        f"page_is_{kind}": np.full(count, value, np.float32)
        for kind, value in zip(TRAINED_TYPES, types.tolist(), strict=True)
    }


def softmax(scores: Scores) -> Scores:
    """Turn the scores of all types into probabilities."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float64)


def page_summary(known: Columns, tokens: Floats, names: tuple[str, ...]) -> Floats:
    """Describe a page by the means of what describes its blocks, each weighed by its words."""
    rows = as_matrix(known[name] for name in names).T
    return np.asarray((rows * (tokens / tokens.sum())).sum(1), np.float32)
