"""Trees are evaluated as they were trained."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.extraction.decide.model import Trees, probability

# a at most 1.5: -1; else b at most 0: 2, else 4. And a tree that is a leaf.
TREES = Trees(
    names=("a", "b"),
    feature=np.array([0, 0, 1, 0, 0, 0]),
    threshold=np.array([1.5, np.inf, 0.0, np.inf, np.inf, np.inf], np.float32),
    child=np.array([1, 1, 3, 3, 4, 5]),
    value=np.array([0.0, -1.0, 0.0, 2.0, 4.0, 0.5]),
    roots=np.array([0, 5]),
)


def test_follows_each_row_to_its_leaves() -> None:
    rows = np.array([[1.5, 9], [2, 0], [2, 0.1]], np.float32)

    assert TREES.scores(rows)[:, 0].tolist() == [-0.5, 2.5, 4.5]


def test_gives_each_output_its_own_trees() -> None:
    trees = Trees(TREES.names, TREES.feature, TREES.threshold, TREES.child, TREES.value, TREES.roots, outputs=2)

    assert trees.scores(np.array([[2, 1]], np.float32)).tolist() == [[4.0, 0.5]]


@pytest.mark.slow
def test_comes_to_the_same_in_one_go_and_in_many() -> None:
    rows = np.random.default_rng(1).normal(1.5, 1, (150_000, 2)).astype(np.float32)

    whole = TREES.scores(rows)

    assert whole.tolist() == np.concatenate([TREES.scores(part) for part in np.array_split(rows, 7)]).tolist()


def test_takes_the_columns_that_it_knows_in_its_own_order() -> None:
    columns = {name: np.array([value], np.float32) for name, value in (("b", 2.0), ("c", 3.0), ("a", 1.0))}

    assert TREES.matrix(columns).tolist() == [[1.0, 2.0]]


def test_is_the_same_after_saving() -> None:
    saved = TREES.save("x")

    assert Trees.load(saved, "x").save("x").keys() == saved.keys()
    assert Trees.load(saved, "x").scores(np.array([[2, 0]], np.float32)).tolist() == [[2.5]]


def test_refuses_features_that_it_was_not_trained_on() -> None:
    saved: dict[str, NDArray[np.generic]] = TREES.save("x") | {"x.names": np.array(["a", "other"])}

    with pytest.raises(ValueError, match="not those it was trained on"):
        Trees.load(saved, "x")


def test_turns_scores_into_probabilities() -> None:
    assert probability(np.array([-1e9, 0, 1e9])).round(6).tolist() == [0, 0.5, 1]
