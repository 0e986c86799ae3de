"""Finds the amounts of money that stand in a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from turbohtml import Element, Text

from actors.extraction.evidence.commerce import money
from actors.extraction.evidence.commerce.texts import Run, Texts, around, names

MAX_TRIED = 4_000
"""How many texts with a number are looked at: shops of the data sets have at most 1,900."""

MAX_CANDIDATES = 150
MAX_WRITTEN = 44
"""A longer text holds more than an amount."""

MAX_UNSIGNED = 14
"""How long the text of an amount without a sign may be."""

_SPLIT_OVER = 4
"""Over how many elements an amount and its sign may be split."""

_BESIDE = 4
_CENT_DIGITS = 2
_UNSIGNED = re.compile(r"[^\w\d]{0,3}\d[\d.,'\u2019\u00a0 ]{0,10}(?:[-\u2013\u2014*]{0,2})")
_CENTS = re.compile(r"cent|decimal|fraction|sup|minor|komma|dec\b")
_DIGIT = re.compile(r"\d")
CALLED_PRICE = re.compile(r"pri[cszx]|prez|prec|cena|cost|amount|betrag|hinta|fiyat|money|offer|buybox|kaina|hind|bid")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An amount that stands in a page: where, in which text, and in what order among the texts."""

    element: Element
    amount: money.Amount
    text: str
    order: int


def candidates(texts: Texts) -> list[Candidate]:
    """Return the amounts of a page in reading order, each in the smallest element that holds it with its sign."""
    found: list[Candidate] = []
    taken: set[Element] = set()
    read: dict[Element, str] = {}
    numbered = (run for run in texts.runs if _DIGIT.search(run.text))
    for run in islice(numbered, MAX_TRIED):
        if len(found) >= MAX_CANDIDATES:
            break
        candidate = _candidate(run, read)
        if candidate and candidate.element not in taken:
            taken.add(candidate.element)
            found.append(candidate)
    return _whole(found)


def _candidate(run: Run, read: dict[Element, str]) -> Candidate | None:
    """Return the amount that a text holds: with its sign, or in an element that is called a price.

    `read` remembers what elements say: neighbours share those that hold them.
    """
    for element in around(run.holder, _SPLIT_OVER):
        written = read.get(element)
        if written is None:
            written = read[element] = _written(element)
        if len(written) > MAX_WRITTEN:
            if element is not run.holder or len(run.text) > MAX_WRITTEN:
                break
            written = run.text
        for amount in money.amounts(written):
            if amount.value and money.currency(amount.sign):
                return Candidate(element, amount, written, run.order)
    return _unsigned(run, read)


def _whole(found: list[Candidate]) -> list[Candidate]:
    """Return amounts that lost their cents to an element of their own those of the same amount beside them."""
    mended = list(found)
    for number, candidate in enumerate(found):
        value = candidate.amount.value
        if value != value.to_integral_value():
            continue
        for other in found[max(0, number - 2) : number + 3]:
            cents = other.amount.value - value
            if 0 < cents < 1 and abs(other.order - candidate.order) <= _BESIDE:
                amount = money.Amount(other.amount.value, candidate.amount.sign)
                mended[number] = Candidate(candidate.element, amount, candidate.text, candidate.order)
    return mended


def _unsigned(run: Run, read: dict[Element, str]) -> Candidate | None:
    holders = around(run.holder, 3)
    if len(run.text) > MAX_UNSIGNED or not any(CALLED_PRICE.search(names(holder)) for holder in holders):
        return None
    for element in reversed(holders[:2]):
        written = read.get(element) or run.text
        if len(written) <= MAX_UNSIGNED and _UNSIGNED.fullmatch(written):
            amount = next((amount for amount in money.amounts(written) if amount.value), None)
            return Candidate(element, amount, written, run.order) if amount else None
    return None


def _written(element: Element) -> str:
    """Return the text of an element as it looks: cents that stand apart belong to their number."""
    written = ""
    for node in element.descendants:
        if not isinstance(node, Text) or not (part := " ".join(node.data.split())):
            continue
        if not written or part[:1] in ".," or written[-1:] in ".,":
            written += part
        elif written[-1:].isdigit() and len(part) == _CENT_DIGITS and part.isdigit() and _is_cents(node):
            written += f".{part}"
        else:
            written += f" {part}" if not (written[-1:].isdigit() and part[:1].isdigit()) else f" | {part}"
        if len(written) > 2 * MAX_WRITTEN:
            break
    return written


def _is_cents(node: Text) -> bool:
    parent = node.parent
    return isinstance(parent, Element) and (parent.tag == "sup" or bool(_CENTS.search(names(parent))))
