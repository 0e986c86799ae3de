"""Counts the kinds of characters in many texts at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.content.layout import Floats

KINDS = ("letter", "capital", "digit", "punctuation", "comma", "stop", "space", "ideograph", "symbol")

STOPS = ".!?\u3002\uff01\uff1f\u2026"
"""What ends a sentence: of ASCII, of full width, and three dots in one."""

COMMAS = ",;\uff0c\u3001\uff1b"
"""Commas and semicolons of ASCII and of full width."""

_BEYOND = 0x10000
"""Characters beyond the basic plane, nearly all of them emoji, count as symbols."""


def counts(texts: Sequence[str]) -> Floats:
    """Return a row for every text, which must not be empty, and a column for every kind."""
    lengths = np.array([len(text) for text in texts], np.int64)
    joined = "".join(texts).encode("utf-32-le", "replace")
    codes = np.frombuffer(joined, np.uint32)
    kinds = _table()[np.minimum(codes, _BEYOND)]
    row = np.repeat(np.arange(len(texts)), lengths)
    found = np.bincount(row * len(KINDS) + kinds, minlength=len(texts) * len(KINDS))
    return found.reshape(len(texts), len(KINDS)).astype(np.float32)


@cache
def _table() -> NDArray[np.uint8]:
    table = np.array([_kind(chr(code)) for code in range(_BEYOND)] + [KINDS.index("symbol")], np.uint8)
    table.setflags(write=False)
    return table


def _kind(char: str) -> int:
    if char in STOPS:
        return KINDS.index("stop")
    if char in COMMAS:
        return KINDS.index("comma")
    if "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff":
        return KINDS.index("ideograph")
    category = unicodedata.category(char)
    if category in ("Lu", "Lt"):
        return KINDS.index("capital")
    first = {"L": "letter", "M": "letter", "N": "digit", "P": "punctuation", "Z": "space", "C": "space"}
    return KINDS.index(first.get(category[0], "symbol"))
