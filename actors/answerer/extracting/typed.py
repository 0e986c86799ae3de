"""Finds values that are known by their form, where no label says so: an address of mail, a number to call, a day."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from actors.answerer.extracting.citing import CitedValue, cite
from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.lines import Line
from actors.answerer.extracting.schema import LeafKind
from actors.answerer.extracting.slots import LeafSlot
from actors.answerer.extracting.values import EMAIL, PHONE, RawText, Value, read_value
from actors.answerer.extracting.words import meanings
from actors.extraction.evidence import money
from protocol.answers import FieldOrigin

_ROW, _ALONE, _SAID = 0.75, 0.7, 0.65
"""How sure a value is that stands alone in its row, alone of its form on the page, or behind the words of its name."""

_DIALLED = re.compile(r"[+(0]")
_PROSE = frozenset({LeafKind.NUMBER, LeafKind.INTEGER, LeafKind.DATE, LeafKind.DATE_TIME})
_SENTENCES = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_WORDS_BEFORE, _WORDS_BEHIND = 5, 2
_STOPS = re.compile(r"[,;:()\d]")
"""Beyond these a sentence speaks of something else."""

_MAX_AMOUNT_CHARS = 24
_SCALE_CHARS = 11  # a blank and "Milliarden"
_MAX_SENTENCE_CHARS = 400
_CLAIM = re.compile(r"(?<![\w.,-])[€$£¥]?\d[\d.,:/-]*")


def found_by_type(
    slot: LeafSlot, pairs: Sequence[Pair], text: SourceEvidence, others: Mapping[str, CitedValue]
) -> CitedValue | None:
    """Return the one value of a row that has the form of the slot and is no other's; None where there are two."""
    taken = {str(each.value) for each in others.values() if each.value is not None}
    links = [pair for pair in pairs if slot.leaf.kind is LeafKind.URI and pair.links]
    candidates: dict[str, tuple[Pair, Value]] = {}
    for pair in links[:1] or pairs:
        value = _by_form(slot, RawText(pair.text, pair.links, base=text.source.url, month_first=text.month_first))
        if value is not None and str(value.value) not in taken:
            candidates.setdefault(str(value.value), (pair, value))
    if len(candidates) != 1:
        return None
    pair, value = next(iter(candidates.values()))
    return cite(slot, text, pair, value, _ROW)


def found_alone(slot: LeafSlot, text: SourceEvidence, labelled: Sequence[Pair]) -> CitedValue | None:
    """Return the one value of its form on a page, but for those that a label says to be another."""
    labels_known = {pair.text for pair in labelled if pair.labels and pair.labels[0]}
    candidates: dict[str, tuple[Line, Value]] = {}
    for line in text.lines:
        value = _by_form(slot, RawText(line.text, line.links, base=text.source.url, month_first=text.month_first))
        if value is None or slot.leaf.kind is LeafKind.URI or any(line.text.endswith(other) for other in labels_known):
            continue
        candidates.setdefault(re.sub(r"[\s()-]", "", str(value.value)), (line, value))
    if len(candidates) != 1:
        return None
    line, value = next(iter(candidates.values()))
    return cite(slot, text, Pair((), line.text, FieldOrigin.TEXT, _ALONE), value, _ALONE)


def found_in_prose(slot: LeafSlot, text: SourceEvidence) -> CitedValue | None:
    """Return the one number or day that sentences name together with the words of the slot."""
    if slot.leaf.kind not in _PROSE or not slot.words.core:
        return None
    candidates: dict[str, tuple[str, Value]] = {}
    for line in text.lines:
        for sentence in _SENTENCES.split(line.text) if not line.cells and not line.level else ():
            if len(sentence) <= _MAX_SENTENCE_CHARS and (value := _in_sentence(slot, text, sentence)) is not None:
                candidates.setdefault(str(value.value), (sentence, value))
    if len(candidates) != 1:
        return None
    sentence, value = next(iter(candidates.values()))
    return cite(slot, text, Pair((), value.raw, FieldOrigin.TEXT, _SAID, quote=sentence), value, _SAID)


def _in_sentence(slot: LeafSlot, text: SourceEvidence, sentence: str) -> Value | None:
    """Return the value that stands close behind, or right before, the words of a slot."""
    for match in _CLAIM.finditer(sentence):
        before = " ".join(_STOPS.split(sentence[: match.start()])[-1].split()[-_WORDS_BEFORE:])
        behind = " ".join(_STOPS.split(sentence[match.end() :])[0].split()[:_WORDS_BEHIND])
        if not (slot.words.core <= meanings(before) or slot.words.core <= meanings(behind)):
            continue
        length = (
            len(sentence) if slot.leaf.kind in (LeafKind.DATE, LeafKind.DATE_TIME) else len(match[0]) + _SCALE_CHARS
        )
        rest = sentence[match.start() : match.start() + length]
        value = read_value(slot.leaf, slot.words, RawText(rest, base=text.source.url, month_first=text.month_first))
        if value.value is not None:
            return value
    return None


def _by_form(slot: LeafSlot, given: RawText) -> Value | None:
    """Return the value of a text whose form alone says what it is."""
    kind, words = slot.leaf.kind, slot.words
    if kind is LeafKind.EMAIL or (kind is LeafKind.TEXT and words.speaks_of("email")):
        value = read_value(slot.leaf, words, given) if EMAIL.search(given.text) else Value(None)
    elif kind is LeafKind.TEXT and words.speaks_of("phone"):
        match = PHONE.search(given.text)
        value = read_value(slot.leaf, words, given) if match and _DIALLED.match(match[0]) else Value(None)
    elif kind in (LeafKind.NUMBER, LeafKind.INTEGER) and words.core == frozenset({"price"}):
        short = given.text if len(given.text) <= _MAX_AMOUNT_CHARS else ""
        alone = [bool(amount.sign) for amount in money.amounts(short)] == [True]
        value = read_value(slot.leaf, words, given) if alone else Value(None)
    elif (kind in (LeafKind.DATE, LeafKind.DATE_TIME) and words.core <= {"date", "start", "event"}) or (
        kind is LeafKind.URI and words.core <= {"url", "website"}
    ):
        value = read_value(slot.leaf, words, given)
    else:
        return None
    return value if value.value is not None else None
