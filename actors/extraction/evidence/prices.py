"""Finds the amounts of money of a page, and ranks them by how likely each is the price of its product."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import islice
from types import MappingProxyType

from msgspec import Struct
from turbohtml import Element, Text

from actors.extraction.evidence import money
from actors.extraction.evidence.text_runs import ShortText, ShortTexts, ancestry, code_names
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding

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

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "above title": -0.93,
        "around far": -0.53,
        "around near": -0.46,
        "condition": 0.39,
        "current far": -0.34,
        "current near": 0.50,
        "first": 1.42,
        "frame far": -4.05,
        "frame near": 0.03,
        "from": 0.51,
        "from button": -0.04,
        "from title": -0.71,
        "item": 0.06,
        "itemprop": 5.76,
        "link": -1.29,
        "look-alikes": -0.70,
        "old far": -0.28,
        "old near": -1.27,
        "price far": 1.81,
        "price near": 2.53,
        "product far": -0.27,
        "product near": 0.84,
        "rank": -0.89,
        "related far": -1.63,
        "related near": -0.55,
        "short": 1.92,
        "signed": 0.56,
        "struck": -3.82,
        "under title": 2.93,
        "unseen": -0.85,
    }
)
"""Weights of a conditional logit over the amounts of a page (scripts/extraction_training/prices.py).

Fitted on 92 pages of 47 domains; by cross-validation over domains the likeliest amount is the price of .870 of them.
"""

_ANCESTORS = 6
_UNKNOWN_DISTANCE = 5.0
"""The logarithm of a distance to what the page does not have."""

_NEAR = 30
_MANY = 4
_BEYOND_DOUBT = 0.985
_SHORT = 14

_STRUCK = frozenset({"del", "s", "strike"})
_STRUCK_NAMES = re.compile(r"line-?through|strike|crossed|durchgestr|barre\b|barré")
_NAME_FEATURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("price", CALLED_PRICE),
    ("current", re.compile(r"current|sale|special|final|now|our|actual|sell|active|main|promo|buy|discounted|new")),
    (
        "old",
        re.compile(r"old|\bwas|list-?price|rrp|compare|strike|regular|cross|before|original|msrp|prev|uvp|retail"),
    ),
    (
        "related",
        re.compile(
            r"related|recommend|carousel|similar|also|upsell|cross-?sell|sponsor|recent|swiper|slider|slick|card|tile"
            r"|teaser|accessor|bundle|grid|widget|sims|comparison|frequently|listing|collection|search-?result"
        ),
    ),
    (
        "frame",
        re.compile(
            r"mini-?cart|footer|header|\bnav|menu|banner|popup|modal|drawer|cookie|overlay|toolbar"
            r"|cart-?(?:total|count)"
        ),
    ),
    (
        "around",
        re.compile(
            r"ship|deliver|versand|livr|install|month|unit-?price|per-?|tax|sav(?:e|ing)|discount(?!ed)|point|deposit"
            r"|fee\b|coupon|reward|klarna|afterpay|financ|loyal|gift|warrant|review|rating|stock|qty|quantit|variant"
            r"|swatch|option"
        ),
    ),
    ("product", re.compile(r"product|pdp|buy-?box|detail|add-?to|purchase|summary|item|info|artik|main")),
)
_FROM = re.compile(r"\b(?:from|ab|as low as|desde|à partir|od|da|alkaen|starting|vanaf|fra|från)\b")
_CONDITION = re.compile(r"sav|off\b|-\s?\d|discount|rabat|spar|/|per\b|%|over|above|free|orders|\bab\b|\+")


class PriceCandidate(Struct, frozen=True):
    """An amount that stands in a page: where, in which text, and in what order among the texts."""

    element: Element
    amount: money.Amount
    text: str
    order: int


def price_candidates(texts: ShortTexts) -> list[PriceCandidate]:
    """Return the amounts of a page in reading order, each in the smallest element that holds it with its sign."""
    amounts: list[PriceCandidate] = []
    taken: set[Element] = set()
    read: dict[Element, str] = {}
    numbered = (run for run in texts.runs if _DIGIT.search(run.text))
    for run in islice(numbered, MAX_TRIED):
        if len(amounts) >= MAX_CANDIDATES:
            break
        candidate = _candidate_of(run, read)
        if candidate and candidate.element not in taken:
            taken.add(candidate.element)
            amounts.append(candidate)
    return _with_cents(amounts)


def likelihoods(
    page: Page, amounts: Sequence[PriceCandidate], title_order: int, buy_orders: Sequence[int]
) -> list[tuple[float, PriceCandidate]]:
    """Return the first amount of each value with the probability that the value is the price, likeliest first.

    Orders count texts: `title_order` is that of the title (below 0: there is none), `buy_orders` of what buys.
    """
    rows = features(page, amounts, title_order, buy_orders)
    scores = [sum(WEIGHTS.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    highest = max(scores, default=0.0)
    shares: dict[Decimal, float] = {}
    firsts: dict[Decimal, tuple[float, PriceCandidate]] = {}
    for score, candidate in zip(scores, amounts, strict=True):
        share = math.exp(score - highest)
        value = candidate.amount.value
        shares[value] = shares.get(value, 0.0) + share
        if value not in firsts or share > firsts[value][0]:
            firsts[value] = (share, candidate)
    total = sum(shares.values())
    ranked = sorted(shares, key=lambda value: -shares[value])
    return [(shares[value] / total, firsts[value][1]) for value in ranked]


def features(
    page: Page, amounts: Sequence[PriceCandidate], title_order: int, buy_orders: Sequence[int]
) -> list[dict[str, float]]:
    """Describe each amount by where it stands."""
    shapes = Counter(_shape(candidate) for candidate in amounts)
    known: dict[tuple[str, str], dict[str, float]] = {}
    return [
        {
            **_names(page, candidate, known),
            **_distances(candidate, title_order, buy_orders),
            **_writing_features(candidate),
            "first": float(rank == 0),
            "rank": math.log1p(rank),
            "look-alikes": math.log(shapes[_shape(candidate)]),
        }
        for rank, candidate in enumerate(amounts)
    ]


def is_listed(likelihood: float, candidate: PriceCandidate, amounts: Sequence[PriceCandidate]) -> bool:
    """Return whether an amount is one of many alike, as on a page that lists goods: then it may be any's."""
    if any(holder.tag == "a" for holder in ancestry(candidate.element, _ANCESTORS)):
        return True
    shape = _shape(candidate)
    return likelihood < _BEYOND_DOUBT and len({one.amount.value for one in amounts if _shape(one) == shape}) >= _MANY


def _candidate_of(run: ShortText, read: dict[Element, str]) -> PriceCandidate | None:
    """Return the amount that a text holds: with its sign, or in an element that is called a price.

    `read` remembers what elements say: neighbours share those that hold them.
    """
    for element in ancestry(run.holder, _SPLIT_OVER):
        written = read.get(element)
        if written is None:
            written = read[element] = _text_of(element)
        if len(written) > MAX_WRITTEN:
            if element is not run.holder or len(run.text) > MAX_WRITTEN:
                break
            written = run.text
        for amount in money.amounts(written):
            if amount.value and money.currency(amount.sign):
                return PriceCandidate(element, amount, written, run.order)
    return _unsigned(run, read)


def _with_cents(amounts: list[PriceCandidate]) -> list[PriceCandidate]:
    """Return amounts that lost their cents to an element of their own those of the same amount beside them."""
    mended = list(amounts)
    for number, candidate in enumerate(amounts):
        value = candidate.amount.value
        if value != value.to_integral_value():
            continue
        for other in amounts[max(0, number - 2) : number + 3]:
            cents = other.amount.value - value
            if 0 < cents < 1 and abs(other.order - candidate.order) <= _BESIDE:
                amount = money.Amount(other.amount.value, candidate.amount.sign)
                mended[number] = PriceCandidate(candidate.element, amount, candidate.text, candidate.order)
    return mended


def _unsigned(run: ShortText, read: dict[Element, str]) -> PriceCandidate | None:
    holders = ancestry(run.holder, 3)
    if len(run.text) > MAX_UNSIGNED or not any(CALLED_PRICE.search(code_names(holder)) for holder in holders):
        return None
    for element in reversed(holders[:2]):
        written = read.get(element) or run.text
        if len(written) <= MAX_UNSIGNED and _UNSIGNED.fullmatch(written):
            amount = next((amount for amount in money.amounts(written) if amount.value), None)
            return PriceCandidate(element, amount, written, run.order) if amount else None
    return None


def _text_of(element: Element) -> str:
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
    return isinstance(parent, Element) and (parent.tag == "sup" or bool(_CENTS.search(code_names(parent))))


def _names(page: Page, candidate: PriceCandidate, known: dict[tuple[str, str], dict[str, float]]) -> dict[str, float]:
    """Return what the elements around an amount are, and are called; `known` remembers what names tell."""
    holders = ancestry(candidate.element, _ANCESTORS)
    tags = {holder.tag for holder in holders}
    called = [code_names(holder) for holder in holders]
    near = " ".join(called[:2])
    features = {**_name_features(near, "near", known), **_name_features(" ".join(called[2:]), "far", known)}
    features["struck"] = float(bool(tags & _STRUCK) or bool(_STRUCK_NAMES.search(near)))
    features["link"] = float("a" in tags)
    features["item"] = float("li" in tags)
    features["unseen"] = float(any(page.hidden.get(holder) is Hiding.INVISIBLE for holder in holders))
    return features


def _name_features(called: str, where: str, known: dict[tuple[str, str], dict[str, float]]) -> dict[str, float]:
    """Return which kinds of names are among those of some elements: cards that look alike are called alike."""
    matches = known.get((called, where))
    if matches is None:
        matches = {f"{name} {where}": float(bool(pattern.search(called))) for name, pattern in _NAME_FEATURES}
        known[called, where] = matches
    return matches


def _distances(candidate: PriceCandidate, title_order: int, buy_orders: Sequence[int]) -> dict[str, float]:
    """Return how far an amount stands from the title and from what buys."""
    if title_order < 0:
        distances = {"above title": 0.0, "from title": _UNKNOWN_DISTANCE, "under title": 0.0}
    else:
        after = candidate.order - title_order
        distances = {
            "above title": float(after < 0),
            "from title": math.log1p(abs(after)),
            "under title": float(0 <= after <= _NEAR),
        }
    to_buy = min((abs(candidate.order - order) for order in buy_orders), default=None)
    return {**distances, "from button": _UNKNOWN_DISTANCE if to_buy is None else math.log1p(to_buy)}


def _writing_features(candidate: PriceCandidate) -> dict[str, float]:
    """Return how an amount is written."""
    text = candidate.text.lower()
    return {
        "signed": float(bool(candidate.amount.sign)),
        "short": float(len(text) <= _SHORT),
        "from": float(bool(_FROM.search(text))),
        "condition": float(bool(_CONDITION.search(text))),
        "itemprop": float(candidate.element.attr("itemprop") in {"price", "lowPrice"}),
    }


def _shape(candidate: PriceCandidate) -> str:
    return f"{candidate.element.tag}.{candidate.element.attr('class')}"
