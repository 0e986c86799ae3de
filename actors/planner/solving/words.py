"""Words as the rules compare them: folded, split, numbered, and how alike two are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rapidfuzz import fuzz

_TOKEN: Final = re.compile(r"[@#]?\w+(?:[.,'’]\w+)*|[+×x*/=<>]|-?\d+", re.UNICODE)
_NUMBER: Final = re.compile(r"[-−+]?\d[\d,. ]*(?:\.\d+)?")
_SUFFIXED: Final = re.compile(r"^(\d+)(?:st|nd|rd|th|\.|er|ère|e|ème|º|ª|o|a)$")
_SHORT_WORD: Final = 3

ORDINALS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
        "ninth": 9, "tenth": 10, "last": -1, "penultimate": -2, "erste": 1, "ersten": 1, "zweite": 2, "zweiten": 2,
        "dritte": 3, "dritten": 3, "letzte": -1, "letzten": -1, "premier": 1, "première": 1, "deuxième": 2,
        "troisième": 3, "dernier": -1, "dernière": -1, "primero": 1, "primer": 1, "primera": 1, "segundo": 2,
        "segunda": 2, "tercero": 3, "tercera": 3, "último": -1, "última": -1,
    }
)  # fmt: skip
"""Words for places in an order; counted from the end where negative."""

COUNTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10, "eleven": 11, "twelve": 12, "a": 1, "an": 1, "both": 2,
    }
)  # fmt: skip
"""Words for numbers."""


def folded(text: str) -> str:
    """Return a text without what two writings of it differ by: case, spaces, quotes around it, a colon behind it."""
    return re.sub(r"\s+", " ", text).strip().strip("\"'“”„«»`").strip().rstrip(":*").rstrip().casefold()


def bare(text: str) -> str:
    """Return a folded text without the marks at its ends."""
    return folded(text).strip(".,;:!?…()[]\"' ")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text, folded."""
    return tuple(_TOKEN.findall(text.casefold()))


def stem(word: str) -> str:
    """Return a word without its most common English endings, so that `directed` and `director` meet."""
    for ending in ("ings", "ing", "ors", "or", "ers", "er", "ies", "ed", "es", "s", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT_WORD:
            return word[: -len(ending)]
    return word.removesuffix("e") if len(word) > _SHORT_WORD else word


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text."""
    return frozenset(stem(word) for word in tokens(text))


def ordinal_of(word: str) -> int | None:
    """Return the place that a word names (`3rd`, `third`, `last`), from 1 on, or from -1 on backwards."""
    low = word.casefold()
    if low in ORDINALS:
        return ORDINALS[low]
    match = _SUFFIXED.match(low)
    return int(match[1]) if match else None


def count_of(word: str) -> int | None:
    """Return the number that a word names."""
    low = word.casefold().strip(".,;:!?")
    return int(low) if low.isdigit() else COUNTS.get(low)


def number_in(text: str) -> float | None:
    """Return the first number that stands in a text, whatever currency is around it."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    digits = match[0].replace("−", "-").replace(" ", "").rstrip(".,")
    if re.search(r",\d{1,2}$", digits) and "." not in digits.rsplit(",", 1)[1]:
        digits = digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", "")
    try:
        return float(digits)
    except ValueError:
        return None


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are, from 0 to 1."""
    return fuzz.ratio(folded(one), folded(other)) / 100
