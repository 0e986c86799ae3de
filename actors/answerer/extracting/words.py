"""Compares the labels of a page with the properties of a schema: by their words, whatever case and language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from types import MappingProxyType

from msgspec import Struct

from actors.answerer.extracting.vocabulary import vocabulary

SAME = 1.0
NEARLY = 0.95
BY_CORE = 0.88
BY_DESCRIPTION = 0.78
"""How like a label and a property are: the same, but for the name of the thing, but for words of form, as described."""

LIKE = 0.75
"""From here on a label is taken for that of a property."""

MAX_LABEL_CHARS = 60
_MAX_PHRASE = 4
_MAX_ABOUT_CHARS = 400
_FEW = 2
"""Words of a description that is another name."""

_YEAR_TAILS = ("jahr", "jaar", "年", "年份")
_EACH = frozenset({"per", "each", "every", "pro", "par", "por"})
"""Before a year they say how often something is, not when it was."""

_NOTHING: frozenset[str] = frozenset()
_MIN_COMPOUND, _MIN_TAIL = 9, 5

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HYPHEN = re.compile(r"\b([A-Za-z]{1,2})-([A-Za-z]{2,4})\b")
"""What one word is written with: e-mail, Wi-Fi."""

_UMLAUT = re.compile(r"([aou])e")
"""Names of properties write an umlaut as two letters."""

_WORD = re.compile(r"[^\W_]+")
_NAMED = re.compile(r"[(\[\"\u201c\u201e]([^)\]\"\u201d\u201c]{2,40})[)\]\"\u201d\u201c]")
"""Other names that a description gives, in brackets or quotes."""

_BRACKETS = re.compile(r"[(\[\uff08\u3010][^)\]\uff09\u3011]{0,60}[)\]\uff09\u3011]")


class NumberOf(StrEnum):
    """What a number is that a property asks for, as far as its name says it."""

    ANYTHING = "anything"
    YEAR = "year"
    UNITS = "units"
    """So many days: of what, the name does not say."""


class FieldWords(Struct, frozen=True):
    """A property by its words: its `readings`, what the schema says of it, and the names of what it belongs to."""

    readings: tuple[frozenset[str], ...]
    about: frozenset[str] = frozenset()
    context: frozenset[str] = frozenset()
    number_of: NumberOf = NumberOf.ANYTHING

    @staticmethod
    def of(name: str, about: str = "", above: Iterable[str] = (), holder: str = "") -> FieldWords:
        """Read the name of a property, its description, the names above it, and that of the object that it is part of.

        What anything has (a name, an address on the web) is never had of one thing where it is asked of another.
        """
        own, described = meanings(name), meanings(about[:_MAX_ABOUT_CHARS])
        words = own | meanings(holder)
        context = frozenset[str]().union(*(meanings(each) for each in above)) - words
        readings = [words, own] if own - vocabulary().carried else [words]
        readings += [] if holder else _other_readings(own)
        readings += [meanings(_UMLAUT.sub(r"\1", name))] if _UMLAUT.search(name) and not holder else []
        readings += [meanings(other) for other in _other_names(about[:_MAX_ABOUT_CHARS])]
        return FieldWords(tuple(dict.fromkeys(readings)), described, context, _number_of(name, own))

    def speaks_of(self, *names: str) -> bool:
        """Return whether the property is one of these meanings, whatever else it says."""
        return any(name in reading for reading in self.readings for name in names)

    @property
    def core(self) -> frozenset[str]:
        """The words without those of the thing and of form, unless there are no others."""
        return _core(self.readings[0] - self.context)

    @property
    def is_name(self) -> bool:
        """Whether the property is the name of the thing itself."""
        return self.core == frozenset({"name"})


@lru_cache(maxsize=8_192)
def likeness(label: frozenset[str], field: FieldWords) -> float:
    """Return how like a label is to a property, from 0 to 1."""
    if not label:
        return 0.0
    return max((_likeness(label, reading, field) for reading in field.readings), default=0.0)


@lru_cache(maxsize=8_192)
def meanings(label: str) -> frozenset[str]:
    """Return what the words of a label or a name mean; a word that is in no table means itself."""
    tokens = _tokens(label)
    known: set[str] = set()
    at = 0
    while at < len(tokens):
        for length in range(min(_MAX_PHRASE, len(tokens) - at), 0, -1):
            meaning = _meaning("".join(tokens[at : at + length]))
            if meaning:
                known.add(meaning)
                break
        else:
            length = 1
            if tokens[at] not in vocabulary().noise:
                known.update(_compound(tokens[at]))
        at += length
    return frozenset(known or map(_singular, tokens))


def is_known(label: str) -> bool:
    """Return whether a label as a whole is in the table of meanings."""
    return bool(_meaning("".join(_tokens(label))))


def is_unit(label: str) -> bool:
    """Return whether a label has no words but those that time is counted in."""
    return _are_units(_tokens(label))


def spoken(text: str) -> str:
    """Return a text as it is compared: letters and digits alone, without case and accents, a blank between words."""
    return " ".join(_tokens(text))


def _number_of(name: str, own: frozenset[str]) -> NumberOf:
    tokens = _tokens(name)
    years = vocabulary().years
    ends_so = bool(tokens) and (tokens[-1] in years or tokens[-1].endswith(_YEAR_TAILS))
    begins_so = len(tokens) == len(("year", "built")) and tokens[0] in years
    if "founded" in own or ((ends_so or begins_so) and _EACH.isdisjoint(tokens)):
        return NumberOf.YEAR
    return NumberOf.UNITS if _are_units(tokens) else NumberOf.ANYTHING


def _are_units(tokens: Sequence[str]) -> bool:
    return bool(tokens) and all(token in vocabulary().units for token in tokens)


def _likeness(label: frozenset[str], reading: frozenset[str], field: FieldWords) -> float:
    if label == reading:
        return SAME
    ours, theirs = _own(reading - field.context), _own(label - field.context)
    if ours == theirs and theirs:
        return NEARLY
    is_counted = label == reading - vocabulary().carriers
    is_of_thing = ours == frozenset({"name"}) and len(label) == 1 and label <= field.context
    ours, theirs = _core(reading - field.context), _core(label - field.context)
    if is_of_thing or is_counted or (theirs and ours == theirs):
        return BY_CORE
    is_explained = theirs > ours and theirs - ours <= field.about
    return BY_DESCRIPTION if is_explained or _is_narrower(theirs, ours) or _is_described(theirs, field) else 0.0


def _is_narrower(label: frozenset[str], word: frozenset[str]) -> bool:
    """Return whether a label says less than the one word that it may stand for."""
    return bool(label) and len(word) == 1 and label <= vocabulary().narrower.get(next(iter(word)), _NOTHING)


def _is_described(label: frozenset[str], field: FieldWords) -> bool:
    """Return whether a label has most words of the description of a property, and no others."""
    described = field.about - vocabulary().carriers - vocabulary().entities
    return len(label) > 1 and label <= field.about and 2 * len(label) >= len(described)


def _other_names(about: str) -> list[str]:
    """Return the names that a description gives: itself, if it is a word or two, and what it has in brackets."""
    names = [match[1] for match in _NAMED.finditer(about)]
    names += [about] if 0 < len(about.split()) <= _FEW else []
    return [name for name in names if meanings(name) - vocabulary().carriers]


def _other_readings(words: frozenset[str]) -> list[frozenset[str]]:
    """Return what else a name may say: the title of a job is a position, the name of a hotel is its name."""
    other = [frozenset({"position"})] if {"job", "name"} <= words else []
    unknown = words - {"name"}
    is_own_kind = len(words) == len(unknown) + 1 == _FEW and not unknown & (_known() | vocabulary().entities)
    return [*other, frozenset({"name"})] if is_own_kind else other


@cache
def _known() -> frozenset[str]:
    return frozenset(vocabulary().meanings)


def _own(words: frozenset[str]) -> frozenset[str]:
    return words - vocabulary().entities or words


def _core(words: frozenset[str]) -> frozenset[str]:
    own = _own(words)
    return own - vocabulary().carriers or own


def _tokens(text: str) -> list[str]:
    whole = _HYPHEN.sub(lambda match: (match[1] + match[2]).lower(), _BRACKETS.sub(" ", text[:400]))
    plain = unicodedata.normalize("NFKD", _HUMP.sub(" ", whole)).casefold()
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return _WORD.findall(unicodedata.normalize("NFC", plain))


def _meaning(joined: str) -> str:
    table = _table()
    forms = (joined, _singular(joined), _UMLAUT.sub(r"\1", joined))
    return next((table[form] for form in forms if form in table), "")


def _compound(word: str) -> tuple[str, ...]:
    """Return the parts of a word whose end is in a table, as languages join them: Kurs-gebühr."""
    if len(word) >= _MIN_COMPOUND and word.isascii():
        for start in range(3, len(word) - _MIN_TAIL + 1):
            if meaning := _table().get(word[start:]):
                return (word[:start], meaning)
    return (_singular(word),)


def _singular(word: str) -> str:
    if len(word) > 4 and word.isascii() and word.endswith("ies"):  # noqa: PLR2004 - "ties" is no plural of "ty"
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004


@cache
def _table() -> Mapping[str, str]:
    """Return each meaning by what it is called, written together."""
    table: dict[str, str] = {}
    for meaning, others in vocabulary().meanings.items():
        for phrase in (meaning, *others):
            joined = "".join(_tokens(phrase))
            table.setdefault(joined, meaning)
            table.setdefault(_singular(joined), meaning)
    return MappingProxyType(table)
