"""The leaves that data have, and how like each is to what a page says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, structs

from actors.answerer.extracting.evidence import Pair
from actors.answerer.extracting.schema import Leaf, LeafKind, Property, Record, Rows, pointer
from actors.answerer.extracting.values import EMAIL, phone_number
from actors.answerer.extracting.vocabulary import vocabulary
from actors.answerer.extracting.words import BY_CORE, BY_DESCRIPTION, FieldWords, likeness, meanings

_FORMS = frozenset({"email", "phone"})
"""What a text is known to be by its form: whom to write to stands behind "Contact:"."""

_NAME = frozenset({"name"})
_ROLES = frozenset({"min", "max", "start", "end"})
_MOMENTS = (frozenset({"date"}), frozenset({"time"}), frozenset({"date", "time"}))
_WHEN = frozenset({"date", "time"})
MONEY = frozenset({"price", "salary", "rent", "shipping"})


class LeafSlot(Struct, frozen=True):
    """A leaf of an object: its JSON Pointer within it, what it is, and its words.

    `holder` names the object within it that it is part of. A label that has no word of its `reach` is not its own.
    """

    at: str
    leaf: Leaf
    words: FieldWords
    holder: frozenset[str] = frozenset()
    about: str = ""
    reach: frozenset[str] = frozenset()


class ArraySlot(Struct, frozen=True):
    """An array within an object: its JSON Pointer, what it holds, and its words."""

    at: str
    rows: Rows
    words: FieldWords
    about: str = ""


def slots(record: Record, above: Sequence[str] = ()) -> tuple[list[LeafSlot], list[ArraySlot]]:
    """Return the leaves and the arrays of an object and of the objects within it; `above` is what it is called."""
    leaves: list[LeafSlot] = []
    arrays: list[ArraySlot] = []
    for each, at, holder in _properties(record, "", ""):
        words = FieldWords.of(each.name, each.about, (*above, record.title), holder)
        if isinstance(each.shape, Leaf):
            leaves.append(LeafSlot(at, each.shape, words, meanings(holder), each.about, _reach(words)))
        elif isinstance(each.shape, Rows):
            arrays.append(ArraySlot(at, each.shape, words, each.about))
    if any(slot.words.readings[0] == _NAME for slot in leaves):
        leaves = [slot if slot.words.readings[0] == _NAME else _unnamed(slot) for slot in leaves]
    return leaves, arrays


def _reach(words: FieldWords) -> frozenset[str]:
    """Return every word of a label that may say something of a property."""
    own = frozenset[str]().union(words.about, words.context, *words.readings)
    narrower = (vocabulary().narrower.get(word, frozenset()) for word in own)
    besides = MONEY if words.speaks_of("currency") else _WHEN if own & _ROLES else frozenset[str]()
    return own.union(besides, *narrower)


def _unnamed(slot: LeafSlot) -> LeafSlot:
    """Return a slot that is not the name of the thing, since another one is."""
    others = tuple(reading for reading in slot.words.readings if reading != _NAME)
    return structs.replace(slot, words=structs.replace(slot.words, readings=others))


class Fit(NamedTuple):
    """How like a pair is to a slot; `shared`: the pair is another's as well, `ranged`: its text must give a range."""

    likeness: float
    shared: bool = False
    ranged: bool = False


_NO_FIT = Fit(0.0)


def fit(slot: LeafSlot, pair: Pair) -> Fit:
    """Return how like a pair is to a slot, by its label, else by what such a text tells besides."""
    if all(slot.reach.isdisjoint(label) for label in pair.labels):
        return _NO_FIT
    within = pair.section & slot.holder
    best = max((likeness(label | within, slot.words) for label in pair.labels), default=0.0)
    if best or not pair.labels:
        return Fit(best)
    return _besides(slot, pair, pair.labels[0])


def _besides(slot: LeafSlot, pair: Pair, label: frozenset[str]) -> Fit:
    """Return what a price says of its currency, a contact of its address, a range of its ends, a date of a start."""
    words = slot.words
    reading = words.readings[0]
    if words.speaks_of("currency"):
        of = (reading | words.context) & MONEY
        return Fit(BY_CORE, shared=True) if label & (of or MONEY) else _NO_FIT
    forms, roles = reading & _FORMS, reading & _ROLES
    if forms and reading - forms and _has_form(slot, pair) and likeness(label, _reading(words, reading - forms)):
        return Fit(BY_DESCRIPTION, shared=True)
    base = reading - roles - slot.holder
    if roles and base and likeness(label, _reading(words, base)):
        return Fit(BY_CORE, shared=True, ranged=True)
    moment = slot.leaf.kind in (LeafKind.DATE, LeafKind.DATE_TIME) and label in _MOMENTS
    if roles and moment and base <= _WHEN and not pair.data:
        return Fit(BY_CORE, shared=True, ranged="end" in roles)
    return _NO_FIT


def _reading(words: FieldWords, reading: frozenset[str]) -> FieldWords:
    return structs.replace(words, readings=(reading,))


def _has_form(slot: LeafSlot, pair: Pair) -> bool:
    if slot.words.speaks_of("email"):
        return EMAIL.search(pair.text) is not None
    return phone_number(pair.text).value is not None


def _properties(record: Record, at: str, holder: str) -> Iterator[tuple[Property, str, str]]:
    for each in record.properties:
        here = pointer(at, each.name)
        if isinstance(each.shape, Record):
            yield from _properties(each.shape, here, each.name)
        else:
            yield each, here, holder


def called(slot: ArraySlot) -> frozenset[str]:
    """Return what the rows of an array are called."""
    title = slot.rows.items.title if isinstance(slot.rows.items, Record) else ""
    return slot.words.readings[0] | meanings(title)
