"""Loads the words by which dates and names are known, in the languages that pages are mostly written in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import msgspec
from msgspec import Struct

from actors.extraction.assets import VOCABULARY, bytes_of


class Vocabulary(Struct, frozen=True):
    """Words in lower case; `months` are the names of each month of a year.

    `by` stands before a name, `degrees` (without dots) behind one. `roles` and `organisations` are words in names that
    are not a person's, `nobody` are whole names, `commands` begin a text on a button. `updated` and `published` are
    parts of labels before a date.
    """

    months: tuple[tuple[str, ...], ...]
    by: tuple[str, ...]
    degrees: frozenset[str]
    roles: frozenset[str]
    organisations: frozenset[str]
    nobody: frozenset[str]
    commands: frozenset[str]
    updated: tuple[str, ...]
    published: tuple[str, ...]


@cache
def vocabulary() -> Vocabulary:
    """Return the words that are shipped."""
    return msgspec.json.decode(bytes_of(VOCABULARY), type=Vocabulary)


@cache
def months() -> Mapping[str, int]:
    """Return the number of each month by its names."""
    numbered = enumerate(vocabulary().months, 1)
    return MappingProxyType({name: number for number, names in numbered for name in names})


def one_of(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first; a blank is any blanks."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ordered) + ")"
