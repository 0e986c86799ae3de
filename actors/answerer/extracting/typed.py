"""Finds values that are known by their form, where no label says so: an address of mail, a number to call, a day."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from actors.answerer.extracting.citing import CitedValue, cite
from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.lines import Line
from actors.answerer.extracting.schema import LeafKind
from actors.answerer.extracting.slots import MONEY, LeafSlot
from actors.answerer.extracting.values import EMAIL, RawText, Value, phone_number, read_value
from actors.answerer.extracting.words import NumberOf, meanings
from actors.extraction.evidence import money
from protocol.answers import FieldOrigin

_ROW, _ALONE, _SAID = 0.75, 0.7, 0.65
"""How sure a value is that stands alone in its row, alone of its form on the page, or behind the words of its name."""

_MAIL = (LeafKind.TEXT, LeafKind.EMAIL)
_ANY_DAY, _ANY_ADDRESS = frozenset({"date", "start"}), frozenset({"url", "website"})

_NEUTRAL = frozenset({"contact"})
"""What labels of any way to reach somebody say."""

_LISTED = (LeafKind.URI, LeafKind.EMAIL, LeafKind.TEXT)
_ITEMS = re.compile(r"[,;|·•\s]\s+|\s(?=[^\s@]+@)")

_DIALLED = re.compile(r"\+|\(|0\d{0,5}[\s/.-]")
"""How a number to call begins, and no other."""
_PROSE = frozenset({LeafKind.NUMBER, LeafKind.INTEGER, LeafKind.DATE, LeafKind.DATE_TIME})
_BOUNDS = frozenset(
    {"between", "from", "over", "under", "than", "to", "zwischen", "über", "unter", "entre", "tra", "desde", "hasta"}
)
"""Words before a number that is the end of a range."""

_SENTENCES = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_WORDS_BEFORE, _WORDS_BEHIND = 4, 2
_STOPS = re.compile(r"[,;:()\d]|\s(?:and|or|but|und|oder|et|ou|y|o|e|en|of|i)\s")
"""Beyond these a sentence speaks of something else."""

_MAX_AMOUNT_CHARS = 24
_SIGN_CHARS = 6
_SIGN = re.compile(
    r"[$\u00a3\u00a5\u20a0-\u20bf]|\b(?:[A-Z]{3}|euros?|dollars?|pounds?|francs?|kr|z\u0142)\b|[\u5143\u5186]"
)
"""Money has a sign, a code or a name; other numbers that stand behind its words are shares and counts."""

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
    own = slot.words.core | _NEUTRAL
    of_others = {pair.text for pair in labelled if pair.labels and pair.labels[0] and own.isdisjoint(pair.labels[0])}
    if not _has_form(slot):
        return None
    candidates: dict[str, tuple[Line, Value]] = {}
    for line in text.lines:
        value = _by_form(slot, RawText(line.text, line.links, base=text.source.url, month_first=text.month_first))
        if value is None or slot.leaf.kind is LeafKind.URI or _is_another(value, line, of_others):
            continue
        candidates.setdefault(re.sub(r"[\s()-]", "", str(value.value)), (line, value))
    if len(candidates) != 1:
        return None
    line, value = next(iter(candidates.values()))
    return cite(slot, text, Pair((), line.text, FieldOrigin.TEXT, _ALONE), value, _ALONE)


def _is_another(value: Value, line: Line, labelled: Collection[str]) -> bool:
    """Return whether a value stands at the end of its line, in a text that has a label."""
    return any(line.text.endswith(other) and value.raw in other for other in labelled)


def all_by_form(slot: LeafSlot, text: SourceEvidence) -> list[CitedValue]:
    """Return the addresses on the web or of mail, or the numbers to call, that a source shows, each once."""
    values: dict[str, CitedValue] = {}
    for line in text.lines if _has_form(slot) and slot.leaf.kind in _LISTED else ():
        for part in line.links if slot.leaf.kind is LeafKind.URI else _ITEMS.split(line.text):
            given = RawText(line.text if slot.leaf.kind is LeafKind.URI else part, (part,), base=text.source.url)
            value = _by_form(slot, given)
            if value is not None and str(value.value) not in values:
                pair = Pair((), line.text, FieldOrigin.TEXT, _ALONE)
                values[str(value.value)] = cite(slot, text, pair, value, _ALONE)
    return list(values.values())


def found_in_prose(slot: LeafSlot, text: SourceEvidence) -> CitedValue | None:
    """Return the one number or day that sentences name together with the words of the slot."""
    is_number = slot.leaf.kind in (LeafKind.NUMBER, LeafKind.INTEGER)
    if slot.leaf.kind not in _PROSE or not slot.words.core or (is_number and slot.words.number_of is NumberOf.UNITS):
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
    is_day = slot.leaf.kind in (LeafKind.DATE, LeafKind.DATE_TIME)
    for match in _CLAIM.finditer(sentence):
        before = _STOPS.split(sentence[: match.start()])[-1].split()[-_WORDS_BEFORE:]
        behind = _STOPS.split(sentence[match.end() :])[0].split()[:_WORDS_BEHIND]
        if before and before[-1].lower() in _BOUNDS:
            continue
        sides = (before,) if slot.words.number_of is NumberOf.YEAR else (before, behind)  # 1998年 is any date's
        if not any(slot.words.core <= meanings(" ".join(side)) for side in sides):
            continue
        rest = sentence[match.start() :][: len(sentence) if is_day else len(match[0]) + _SCALE_CHARS]
        near = sentence[max(0, match.start() - _SIGN_CHARS) : match.end() + _SCALE_CHARS + _SIGN_CHARS]
        if slot.words.core & MONEY and not _SIGN.search(near):
            continue
        value = read_value(slot.leaf, slot.words, RawText(rest, base=text.source.url, month_first=text.month_first))
        if value.value is not None:
            return value
    return None


def is_loose(slot: LeafSlot) -> bool:
    """Return whether many a page has such a value that says nothing of the thing: any amount, any day."""
    return slot.leaf.kind in _PROSE


def _has_form(slot: LeafSlot) -> bool:
    """Return whether values of a slot can be known by their form at all."""
    kind, words = slot.leaf.kind, slot.words
    if kind is LeafKind.TEXT:
        return words.speaks_of("email", "phone")
    if kind in (LeafKind.NUMBER, LeafKind.INTEGER):
        return words.core == frozenset({"price"})
    if kind in (LeafKind.DATE, LeafKind.DATE_TIME):
        return words.core <= _ANY_DAY
    return kind is LeafKind.EMAIL or (kind is LeafKind.URI and words.core <= _ANY_ADDRESS)


def _by_form(slot: LeafSlot, given: RawText) -> Value | None:
    """Return the value of a text whose form alone says what it is."""
    if not _has_form(slot):
        return None
    words, value = slot.words, Value(None)
    if slot.leaf.kind is LeafKind.TEXT and words.speaks_of("phone"):
        number = phone_number(given.text)
        value = number if _DIALLED.match(number.raw) else value
    elif slot.leaf.kind in (LeafKind.NUMBER, LeafKind.INTEGER):
        short = given.text if len(given.text) <= _MAX_AMOUNT_CHARS else ""
        alone = [bool(amount.sign) for amount in money.amounts(short)] == [True]
        value = read_value(slot.leaf, words, given) if alone else value
    elif slot.leaf.kind not in _MAIL or EMAIL.search(given.text):
        value = read_value(slot.leaf, words, given)
    return value if value.value is not None else None
