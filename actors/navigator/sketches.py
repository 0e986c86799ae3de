"""Sketches of texts: a few hashes each, by which texts are compared that are not kept."""

from __future__ import annotations

import heapq
import re
import zlib

Sketch = tuple[int, ...]

SAME_TEXT = 0.9
"""Two texts that share so many of their pieces say the same, but for a time of day or an address in them."""

SKETCH = 64
"""Pieces of a text that are kept: enough to tell shares that lie 0.1 apart."""

BRIEF = 16
"""Pieces that are kept where it counts alone whether two texts say the same."""

_DIGITS = re.compile(r"\d+")
_PIECE = 8
"""Bytes of a piece: about a word, in every script."""


def sketch_of(text: str) -> Sketch:
    """Return the smallest hashes of a text's pieces, which two texts share as far as they say the same; () for none.

    Numbers count as equal: a time, a counter or the id of a request makes no other text.
    """
    plain = _DIGITS.sub("0", " ".join(text.casefold().split())).encode(errors="replace")
    if not plain:
        return ()
    pieces = {plain[start : start + _PIECE] for start in range(max(len(plain) - _PIECE + 1, 1))}
    return tuple(heapq.nsmallest(SKETCH, {_mixed(zlib.crc32(piece)) for piece in pieces}))


def similarity(one: Sketch, other: Sketch) -> float:
    """Estimate what share of their pieces two texts have in common, from their sketches of at least BRIEF pieces."""
    size = min(max(len(one), BRIEF), max(len(other), BRIEF))
    both = set(one[:size]), set(other[:size])
    union = heapq.nsmallest(size, both[0] | both[1])
    return sum(piece in both[0] and piece in both[1] for piece in union) / len(union) if union else 0.0


def _mixed(value: int) -> int:
    """Spread a checksum, so that the smallest ones are a fair sample."""
    value = (value ^ (value >> 16)) * 0x45D9F3B & 0xFFFFFFFF
    return value ^ (value >> 16)


def same_text(one: str, other: str) -> bool:
    """Return whether two texts say the same, but for numbers; an empty text is like no other."""
    return similarity(sketch_of(one), sketch_of(other)) >= SAME_TEXT
