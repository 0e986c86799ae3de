"""Where a page is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.decide.cutoff import best_cutoff


@pytest.mark.parametrize(
    ("probabilities", "tokens", "kept"),
    [
        pytest.param([0.9, 0.1], [50, 50], [True, False], id="the likely one"),
        pytest.param([0.2, 0.19], [50, 50], [True, True], id="all, where nothing is likelier"),
        pytest.param([0.9, 0.6, 0.4, 0.02], [10, 10, 10, 500], [True, True, True, False], id="no long unlikely one"),
        pytest.param([0.7, 0.7], [5, 9], [True, True], id="equals together"),
        pytest.param([0.0], [3], [True], id="something always"),
    ],
)
def test_keeps_what_gives_the_best_expected_f1(
    probabilities: list[float], tokens: list[float], kept: list[bool]
) -> None:
    found = best_cutoff(np.array(probabilities), np.array(tokens, np.float32))

    assert found.kept.tolist() == kept


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(1, 500)), min_size=1, max_size=40))
def test_no_other_threshold_promises_more(rows: list[tuple[float, int]]) -> None:
    chances = np.array([chance for chance, _ in rows])
    tokens = np.array([count for _, count in rows], np.float32)

    found = best_cutoff(chances, tokens)

    whole = (chances * tokens).sum()
    others = [
        2 * (chances * tokens)[chances >= bound].sum() / (tokens[chances >= bound].sum() + whole) for bound in chances
    ]
    assert found.f1 == pytest.approx(max(others), abs=1e-6)
    assert 0 <= found.precision <= 1.0001
    assert 0 <= found.recall <= 1.0001
