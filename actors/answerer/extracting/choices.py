"""Reads words as yes or no, and as one of the values of an enum."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from actors.answerer.extracting.vocabulary import vocabulary
from actors.answerer.extracting.words import spoken

Choice = str | float | bool

_MARKS: Mapping[str, bool] = MappingProxyType(
    {"✓": True, "✔": True, "☑": True, "✗": False, "✘": False, "☐": False, "❌": False, "✅": True}
)


def truth(text: str) -> bool | None:
    """Return what a text answers, None where it is neither yes nor no."""
    mark = next((_MARKS[character] for character in text[:3] if character in _MARKS), None)
    if mark is not None:
        return mark
    words = spoken(text)
    if words in vocabulary().yes or words in vocabulary().no:
        return words in vocabulary().yes
    first = words.partition(" ")[0]
    short = len(words.split()) <= 6 and bool(re.match(r"\S+\s?[,;.(\u2013-]", text.strip()))  # noqa: PLR2004 - "Yes, on request"
    return first in vocabulary().yes if short and first in vocabulary().yes | vocabulary().no else None


def numeric(listed: Sequence[Choice]) -> tuple[float, ...]:
    """Return the values of an enum of numbers, nothing for another."""
    numbers = tuple(each for each in listed if isinstance(each, (int, float)) and not isinstance(each, bool))
    return numbers if len(numbers) == len(listed) else ()


def chosen(listed: Sequence[Choice], text: str) -> tuple[Choice | None, str]:
    """Return the one value of an enum that a text names, and the words of the text that do; None for none or two."""
    words = spoken(text)
    exact = [each for each in listed if _matches(each, words)]
    if len(exact) == 1:
        return exact[0], text
    padded = f" {words} "
    within = [each for each in listed if any(f" {name} " in padded for name in _names(each))]
    longest = [each for each in within if not any(each is not other and _holds(other, each) for other in within)]
    return (longest[0], text) if len(longest) == 1 and len(words) <= 200 else (None, "")  # noqa: PLR2004 - a line, no text


def _matches(choice: Choice, words: str) -> bool:
    return words.replace(" ", "") in {name.replace(" ", "") for name in _names(choice)}


def _holds(other: Choice, choice: Choice) -> bool:
    """Return whether the name of another value says this one's and more: "not available" and "available"."""
    own, more = spoken(str(choice)), spoken(str(other))
    return (
        own != more
        and any(f" {mine} " in f" {theirs} " for mine in _names(choice) for theirs in _names(other))
        and len(more) >= len(own)
    )


@lru_cache(maxsize=1_024, typed=True)
def _names(choice: Choice) -> frozenset[str]:
    if isinstance(choice, bool):
        return vocabulary().yes if choice else vocabulary().no
    own = spoken(str(choice))
    same = frozenset[str]().union(*(row for row in vocabulary().same if own in row))
    return same | {own}
