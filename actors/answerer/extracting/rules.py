"""Decides by rule what data sources say: leaf by leaf, the best of what is labelled so; nothing is made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, structs

from actors.answerer.extracting import structured
from actors.answerer.extracting.arrays import FilledArray, fill_array
from actors.answerer.extracting.citing import CitedValue
from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.filling import count_fits, fill
from actors.answerer.extracting.layouts import labelled
from actors.answerer.extracting.postal import addresses
from actors.answerer.extracting.schema import Record, Rows
from actors.answerer.extracting.slots import ArraySlot, LeafSlot, slots
from actors.answerer.extracting.typed import found_alone, found_in_prose, is_loose
from actors.answerer.extracting.vocabulary import vocabulary
from actors.answerer.extracting.words import FieldWords, meanings, spoken

_ASIDE = 0.75
"""What is left of the weight of an item of structured data that the page is not about."""

_NAME = frozenset({"name"})
_AFFINE = 2.0
_LEAST_SHARE, _FEW = 0.25, 2
_ANY_PAGE = frozenset({"name", "url", "description", "image", "author", "posted", "modified", "language", "publisher"})


class Draft(Struct, frozen=True):
    """What was found: for each leaf outside of arrays, and for each array, by JSON Pointer."""

    leaves: dict[str, CitedValue] = msgspec.field(default_factory=dict[str, CitedValue])
    arrays: dict[str, FilledArray] = msgspec.field(default_factory=dict[str, FilledArray])


def draft_by_rule(shape: Record | Rows, texts: Sequence[SourceEvidence]) -> Draft:
    """Return what the sources say by themselves of the data of a shape."""
    if isinstance(shape, Rows):
        title = shape.items.title if isinstance(shape.items, Record) else ""
        rows = ArraySlot("", shape, FieldWords.of(title))
        return Draft(arrays={"": fill_array(rows, texts, [(text, _shown(text)) for text in texts])})
    wanted, arrays = slots(shape)
    shown = [(text, _shown(text)) for text in texts]
    evidence = [(text, [*_data(wanted, shape, text), *pairs]) for text, pairs in shown]
    leaves = fill(wanted, evidence)
    is_about = _is_about(wanted, leaves)
    for slot in wanted:
        if leaves[slot.at].value is None and (is_about or not is_loose(slot)) and (known := _unlabelled(slot, shown)):
            leaves[slot.at] = known
    return Draft(leaves, {array.at: fill_array(array, texts, shown) for array in arrays})


def _is_about(wanted: Sequence[LeafSlot], leaves: Mapping[str, CitedValue]) -> bool:
    """Return whether the sources are about such a thing: they say a good part of what not every page says."""
    telling = [slot for slot in wanted if not slot.words.core <= _ANY_PAGE]
    known = sum(leaves[slot.at].value is not None for slot in telling)
    return known >= _LEAST_SHARE * len(telling) or len(telling) <= _FEW


def _shown(text: SourceEvidence) -> list[Pair]:
    return [*labelled(text), *addresses(text.lines)]


def _data(wanted: Sequence[LeafSlot], shape: Record, text: SourceEvidence) -> list[Pair]:
    """Return what the data of a page say: what the page is about at its full weight, the rest at less, if at all."""
    items = structured.items(text)
    named = meanings(shape.title)
    fits = [count_fits(wanted, pairs, text) + _AFFINE * bool(meanings(kind) & named) for kind, pairs in items]
    most = max(fits, default=0.0)
    about = next((number for number, each in enumerate(fits) if each == most and most >= _AFFINE), None)
    pairs: list[Pair] = list(structured.fields(text))
    for number, (kind, own) in enumerate(items):
        alone = sum(other == kind for other, _ in items) == 1 or _is_titled(own, text)
        if number == about and alone:
            pairs.extend(own)
        else:
            pairs.extend(structs.replace(pair, weight=pair.weight * _ASIDE) for pair in own if not _is_own(pair))
    return pairs


def _is_titled(pairs: Sequence[Pair], text: SourceEvidence) -> bool:
    """Return whether an item bears the title of its page."""
    title = spoken(text.source.title)
    return any(_NAME in pair.labels and spoken(pair.text) in title for pair in pairs if title)


def _is_own(pair: Pair) -> bool:
    """Return whether a pair says what anything has, so that it says nothing of another thing."""
    return any(label <= vocabulary().carried for label in pair.labels)


def _unlabelled(slot: LeafSlot, shown: Sequence[tuple[SourceEvidence, Sequence[Pair]]]) -> CitedValue | None:
    """Return what is known by its form, or said in a sentence, by the first source that says it."""
    if slot.holder:
        return None
    for text, pairs in shown:
        value = found_alone(slot, text, pairs) or found_in_prose(slot, text)
        if value is not None and value.value is not None:
            return value
    return None
