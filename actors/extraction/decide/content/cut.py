"""Cuts a page where what is kept is expected to match the main content best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.content.layout import Floats
from actors.extraction.decide.content.trees import Scores


@dataclass(frozen=True)
class Cut:
    """Which blocks are kept, and the F1, precision and recall of their words that is to be expected."""

    kept: NDArray[np.bool_]
    f1: float
    precision: float
    recall: float


def cut(probabilities: Scores, tokens: Floats) -> Cut:
    """Keep the likeliest blocks, as many of them as give the best expected F1."""
    order = np.argsort(-probabilities, kind="stable")
    size = tokens.astype(np.float64)
    words = np.cumsum(size[order])
    good = np.cumsum((probabilities * size)[order])
    whole = max(float(good[-1]), 1e-9)
    expected = 2 * good / (words + whole)
    best = int(expected.argmax())
    kept = probabilities >= probabilities[order[best]]
    right = float((probabilities * size)[kept].sum())
    return Cut(kept, float(expected[best]), right / float(size[kept].sum()), right / whole)
