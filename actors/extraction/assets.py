"""Reads what is shipped with extraction: models, words of languages, of dates and names, and marks of vendors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import msgspec
from msgspec import Struct

FOLDER = "package_data"

CONTENT_MODEL = "content_model.npz"
"""The trees that classify blocks and page types (`scripts/train-extraction`)."""

FIELD_MODELS = "field_models.npz"
"""The trees that elect titles, authors and dates (`scripts/train-extraction`)."""

LANGUAGES = "languages.json"
"""For every language that others are taken for: its script, its commonest words (in their order) and its letters."""

LANGUAGE_WORDS = "language_words.json"
"""Further words of the languages that most pages are written in (`scripts/train-extraction`)."""

VENDORS = "vendors.toml"
"""The marks of those who keep programs from pages: headers, cookies, and what their pages hold."""

VOCABULARY = "vocabulary.json"
"""The words by which dates and names are known."""


def bytes_of(name: str) -> bytes:
    """Return the content of one of the files."""
    return files("actors.extraction").joinpath(FOLDER, name).read_bytes()


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


_FIRST_ERROR = 400


class Vendor(Struct, frozen=True):
    """One of them by its name: patterns of what only a challenge has, of what every answer may have, and of a body."""

    name: str
    challenge: re.Pattern[str] | None
    present: re.Pattern[str] | None
    body: re.Pattern[str] | None


@cache
def vendors() -> tuple[Vendor, ...]:
    """Return all that are known."""
    tables: dict[str, dict[str, list[str]]] = tomllib.loads(bytes_of(VENDORS).decode())
    return tuple(
        Vendor(name, _any_of(marks.get("challenge")), _any_of(marks.get("present")), _any_of(marks.get("body")))
        for name, marks in tables.items()
    )


def _any_of(patterns: list[str] | None) -> re.Pattern[str] | None:
    return re.compile("|".join(patterns), re.MULTILINE) if patterns else None


def vendors_of_answer(headers: Iterable[tuple[str, str]], status: int) -> tuple[str, ...]:
    """Return whose challenge or block an answer is, by its headers; on a refusal their mere presence counts."""
    lines = "\n".join(f"{name}: {value}" for name, value in headers).lower()
    patterns = ((each.name, each.challenge, each.present if status >= _FIRST_ERROR else None) for each in vendors())
    return tuple(name for name, *marks in patterns if any(mark is not None and mark.search(lines) for mark in marks))


def vendors_of_body(source: str) -> Iterator[str]:
    """Return whose challenge or block page a source in lower case is; it is for pages that show little."""
    return (each.name for each in vendors() if each.body is not None and each.body.search(source))
