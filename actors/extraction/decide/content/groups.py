"""Corrects the scores of blocks by what is known of blocks of one role, and of a few kinds of text."""

from __future__ import annotations

import numpy as np

from actors.extraction.decide.content import page_type
from actors.extraction.decide.content.layout import Columns, Floats, Ints
from actors.extraction.decide.content.trees import Scores
from protocol.page import PageType

SMOOTHING = 0.5
"""The weight of a role's mean score beside a block's own (cross-validated)."""

_ENOUGH = 3
"""Blocks of one role from which they are taken together."""

_A_PRODUCT = 0.3
_PENALTY = 1.2
"""Reviews read like articles, but on a page that sells something they are mostly no content; nor is "Blue (12)"."""

_SHORT = 8


def smoothed(scores: Scores, role: Ints, tokens: Floats) -> Scores:
    """Draw the scores of blocks of one role together: a list is content or is not, rarely every other item of it."""
    _, group, count = np.unique(role, return_inverse=True, return_counts=True)
    weight = np.minimum(tokens, 80).astype(np.float64)
    mean = np.bincount(group, scores * weight) / np.bincount(group, weight)
    share = np.where(count >= _ENOUGH, SMOOTHING, 0.0)[group]
    return (1 - share) * scores + share * mean[group]


def adjusted(scores: Scores, role: Ints, columns: Columns, tokens: Floats, types: Scores) -> Scores:
    """Return the scores after smoothing and the rules."""
    found = smoothed(scores, role, tokens)
    reviews = (columns["in_review"] > 0) | (columns["under_reviews"] > 0)
    if float(types[page_type.TRAINED.index(PageType.PRODUCT)]) > _A_PRODUCT:
        found = found - _PENALTY * reviews
    return found - _PENALTY * ((columns["says_facet"] > 0) & (tokens < _SHORT))
