"""Describes each block by what comes before and after it: where the content of a page may begin and end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays, Columns, Floats, sums_before

_LETTERS_OF_IDEOGRAPH = 3.0
"""An ideograph says as much as so many letters."""

_PROSE_CHARS = 120.0
_PROSE_LINKED = 0.3
"""Letters from which a text that is hardly linked reads like a paragraph, in whatever script."""

_AFTER = ("comment", "related", "recommend", "share", "foot", "tag", "author", "subscri", "recent", "suggest")
"""Names of elements behind which content rarely goes on."""

_NEAR = 0.2
"""An element named so counts where it is at most four steps up."""

_WINDOWS = (2, 5, 10)
"""Blocks to either side that are taken together."""

_FAR = 200


def extent_columns(arrays: BlockArrays, own: Columns) -> Columns:
    """Return what lies before and after each block, a column a feature; `own` is what the blocks are by themselves."""
    letters = _letters(arrays, own)
    prose = (letters >= _PROSE_CHARS) & (arrays.linked < _PROSE_LINKED)
    columns: Columns = {"log_letters": np.log1p(letters)}
    for name, amount in (("kept", own["kept_mean"] * letters), ("prose", prose * letters)):
        columns |= _before_and_after(name, np.asarray(amount, np.float32))
    columns |= _from_prose(prose, arrays.tokens)
    columns |= _behind(own)
    for reach in _WINDOWS:
        columns[f"letters_within_{reach}"] = np.log1p(_within(letters, reach))
        columns[f"linked_within_{reach}"] = _within(arrays.linked * letters, reach) / _within(letters, reach)
        columns[f"prose_within_{reach}"] = _within(prose.astype(np.float32), reach)
    return columns


def _letters(arrays: BlockArrays, own: Columns) -> Floats:
    """Return the length of each block in letters, by their share in its beginning."""
    share = own["share_letter"] + own["share_capital"] + _LETTERS_OF_IDEOGRAPH * own["share_ideograph"]
    chars = np.array([len(block.text) for block in arrays.blocks], np.float32)
    return np.asarray(np.maximum(share * chars, 1), np.float32)


def _before_and_after(name: str, amount: Floats) -> Mapping[str, Floats]:
    running = np.cumsum(amount, dtype=np.float64)
    total = max(float(running[-1]), 1e-6)
    before = (running - amount) / total
    return {
        f"{name}_before": before.astype(np.float32),
        f"{name}_after": (1 - running / total).astype(np.float32),
    }


def _from_prose(prose: NDArray[np.bool_], tokens: Floats) -> Mapping[str, Floats]:
    """Return how far the paragraphs next to each block are, in blocks and in words, logarithms of both."""
    index = np.arange(len(prose))
    last = np.maximum.accumulate(np.where(prose, index, -_FAR))
    following = np.minimum.accumulate(np.where(prose, index, len(prose) + _FAR)[::-1])[::-1]
    words = sums_before(tokens)
    since = words[:-1] - words[np.clip(last + 1, 0, len(prose))]
    until = words[np.clip(following, 0, len(prose))] - words[1:]
    return {
        "since_prose": np.log1p(np.minimum(index - last, _FAR)).astype(np.float32),
        "until_prose": np.log1p(np.minimum(following - index, _FAR)).astype(np.float32),
        "words_since_prose": np.log1p(np.maximum(since, 0)).astype(np.float32),
        "words_until_prose": np.log1p(np.maximum(until, 0)).astype(np.float32),
    }


def _behind(own: Columns) -> Mapping[str, Floats]:
    """Return how many blocks ago an element of such a name was first met, and -1 before it, as a logarithm."""
    index = np.arange(len(own["in_comment"]))
    distances: dict[str, Floats] = {}
    for name in _AFTER:
        inside = own[f"in_{name}"] >= _NEAR
        first = int(inside.argmax()) if inside.any() else len(index)
        distances[f"behind_{name}"] = np.where(index >= first, np.log1p(np.maximum(index - first, 0)), -1).astype(
            np.float32
        )
    return distances


def _within(values: Floats, reach: int) -> Floats:
    before = sums_before(values)
    index = np.arange(len(values))
    return np.asarray(
        before[np.minimum(index + reach + 1, len(values))] - before[np.maximum(index - reach, 0)], np.float32
    )
