"""Finds what asks a reader for consent to cookies: a banner or dialog beside the page, whatever language it speaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.evidence.markers import CONSENT_STEMS

_NAMES = (
    *("cookie", "consent", "gdpr", "dsgvo", "rgpd", " cmp ", "onetrust", "didomi", "usercentrics", "cybot"),
    *(" dialog ", " alertdialog ", "modal"),
)
_READ_CHARS = 600
_STEMS = 2
"""Different stems of words of consent that a text has which asks for it."""

_MOST_WORDS, _MOST_OF_PAGE = 400, 0.6
"""Words of a banner at most, and its share of a page: a page about cookies, or one that is a wall, is no banner."""


def consent_banners(arrays: BlockArrays) -> NDArray[np.bool_]:
    """Return which blocks stand in an element that is named like a banner or dialog, and asks for consent."""
    named = arrays.called(_NAMES)
    if not named.any():
        return np.zeros(len(arrays.blocks), np.bool_)
    size = arrays.sums(arrays.tokens)
    named &= (size <= _MOST_WORDS) & (size < _MOST_OF_PAGE * size[0])
    inside = arrays.blocks_in(named)
    asking = np.zeros(len(arrays.blocks), np.float32)
    for at in np.flatnonzero(inside).tolist():
        asking[at] = len(set(CONSENT_STEMS.findall(arrays.blocks[at].text[:_READ_CHARS].lower()))) >= _STEMS
    return arrays.blocks_in(named & (arrays.sums(asking) > 0))
