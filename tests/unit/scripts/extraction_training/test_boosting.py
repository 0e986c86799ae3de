"""Trees come out of training as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.extraction_training.boosting import Booster, Recipe, Rows, Settings, at_most, fit, fit_blend

SMALL: Settings = {"num_leaves": 7, "min_data_in_leaf": 5, "learning_rate": 0.3}
NAMES: tuple[str, ...] = ("a", "b", "c", "never used")


def rows(outputs: int) -> Rows:
    random = np.random.default_rng(7)
    matrix = np.column_stack([random.normal(size=(400, 3)), np.zeros(400)]).astype(np.float32)
    labels = np.digitize(matrix[:, 0] + matrix[:, 1] * matrix[:, 2], np.linspace(-0.5, 0.5, outputs - 1))
    return Rows(matrix, labels.astype(np.float32), NAMES, np.linspace(1, 2, 400, dtype=np.float32))


def fitted(outputs: int) -> Booster:
    kind: Settings = {"objective": "binary"} if outputs == 2 else {"objective": "multiclass", "num_class": outputs}
    return fit(rows(outputs), {**SMALL, **kind}, 12)


@pytest.mark.parametrize("outputs", [2, 3])
def test_the_table_scores_as_the_library_does(outputs: int) -> None:
    booster = fitted(outputs)

    table = booster.table()

    columns = dict(zip(NAMES, rows(outputs).matrix.T, strict=True))
    assert set(table.names) <= {"a", "b", "c"}
    assert np.abs(table.scores(table.matrix(columns)) - booster.scores(rows(outputs).matrix)).max() < 1e-12


def test_a_blend_is_one_table_whose_scores_are_the_weighted_sum() -> None:
    settings = [{**SMALL, "objective": "binary"}, {**SMALL, "objective": "binary", "extra_trees": True}]
    alone = [fit(rows(2), one, 5).scores(rows(2).matrix) for one in settings]

    table = fit_blend(rows(2), [Recipe(settings[0], 5, 0.25), Recipe(settings[1], 5, 0.5)]).table()

    columns = dict(zip(NAMES, rows(2).matrix.T, strict=True))
    assert np.abs(table.scores(table.matrix(columns)) - 0.25 * alone[0] - 0.5 * alone[1]).max() < 1e-12


def test_the_same_rows_give_the_same_trees() -> None:
    first, second = fitted(2).table().save("x"), fitted(2).table().save("x")

    assert {name: array.tolist() for name, array in first.items()} == {
        name: array.tolist() for name, array in second.items()
    }


def test_gains_add_up() -> None:
    assert sum(fitted(2).gains().values()) == pytest.approx(1)
    assert fitted(2).gains()["never used"] == 0


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6, width=32))
def test_rounds_thresholds_so_that_no_comparison_changes(threshold: float, value: float) -> None:
    assert (np.float32(value) > at_most([threshold])[0]) == (value > threshold)
