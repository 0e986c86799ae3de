"""Cites what a value was read from: where a reader sees it, else where the data of the page say it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Any

from msgspec import UNSET, Struct

from actors.answerer.extracting import choices
from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.schema import LeafKind
from actors.answerer.extracting.slots import LeafSlot
from actors.answerer.extracting.values import Value
from actors.extraction.evidence import dates, money
from protocol.answers import FieldFound, FieldOrigin

_MIN_LINE_CHARS = 5
"""Shorter values stand in lines that do not speak of them."""

_NO_ENDS = ("", "")
_MAX_STATE_CHARS, _MAX_STATE_LINES = 60, 500

_UNSEEN = 0.8
JUDGED = "decided from the page as a whole: no line of its text says so"


class CitedValue(Struct, frozen=True):
    """A value with where it stands, or None with the reason."""

    value: Any
    field: FieldFound


def missing(reason: str) -> CitedValue:
    """Return what is said of a value that is not there."""
    return CitedValue(None, FieldFound(reason=reason))


def cite(slot: LeafSlot, text: SourceEvidence, pair: Pair, value: Value, confidence: float) -> CitedValue:
    """Return the value of a pair with where it stands; None where it stands nowhere, so that nothing is made up."""
    for quote in _quotes(slot, text, pair, value):
        if citation := text.citation(quote, confidence, pair.ends if quote == pair.quote else _NO_ENDS):
            is_judged = pair.origin is FieldOrigin.PAGE_FIELD and citation.locator is UNSET
            sure = round(confidence * (_UNSEEN if is_judged else 1.0), 3)
            field = FieldFound(confidence=sure, origin=pair.origin, citation=citation, reason=JUDGED * is_judged)
            return CitedValue(value.value, field)
    return missing("what was read does not stand in the source word for word")


def _quotes(slot: LeafSlot, text: SourceEvidence, pair: Pair, value: Value) -> Iterator[str]:
    if pair.data:
        yield from _shown(slot, text, pair, value)
    yield pair.quote
    yield pair.text
    yield value.raw


def _shown(slot: LeafSlot, text: SourceEvidence, pair: Pair, value: Value) -> Iterator[str]:
    """Return the lines that show what data say."""
    match slot.leaf.kind:
        case LeafKind.TEXT | LeafKind.EMAIL if len(pair.text) >= _MIN_LINE_CHARS and not slot.words.speaks_of(
            "currency"
        ):
            yield text.line_of(pair.text)
        case LeafKind.DATE | LeafKind.DATE_TIME:
            yield _line_of_day(text, str(value.value)[:10])
        case LeafKind.CHOICE if not slot.words.speaks_of("currency"):
            yield _line_of_choice(slot, text, value.value)
        case _ if slot.words.speaks_of("price", "currency", "salary"):
            yield _line_of_money(text, pair.text)
        case _:
            return


def _line_of_day(text: SourceEvidence, day: str) -> str:
    for line in text.lines:
        if len(line.text) <= dates.MAX_CHARS and dates.HINT.search(line.text):
            for start, end, each in dates.dates_in(
                line.text, month_first=text.month_first, first_year=dates.FIRST_NAMED_YEAR
            ):
                if each == date.fromisoformat(day).isoformat():
                    return line.text[start:end]
    return ""


def _line_of_money(text: SourceEvidence, price: str) -> str:
    """Return the first line with an amount of money: this one, or one in this currency."""
    wanted, regions = money.number(price, "data"), money.regions(text.source.url)
    for line in text.lines:
        if len(line.text) > dates.MAX_CHARS or not any(character.isdigit() for character in line.text):
            continue
        for amount in money.amounts(line.text):
            if amount.sign and (amount.value == wanted or money.currency(amount.sign, regions) == price):
                return line.text
    return ""


def _line_of_choice(slot: LeafSlot, text: SourceEvidence, value: Any) -> str:
    short = islice((line.text for line in text.lines if 0 < len(line.text) <= _MAX_STATE_CHARS), _MAX_STATE_LINES)
    return next((line for line in short if choices.chosen(slot.leaf.choices, line)[0] == value), "")
