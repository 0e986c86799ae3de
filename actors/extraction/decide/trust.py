"""Says how far each place of a claim is to be trusted of a product, and how sure their agreement makes a value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from actors.extraction.evidence.claim import Claim, Field
from protocol.confidence import Confidence, Source, confidence

_KINDS: Mapping[str, float] = MappingProxyType(
    {
        "json-ld": 2.0,
        "microdata": 1.8,
        "rdfa": 1.6,
        "product": 1.5,
        "og": 1.3,
        "framework": 1.2,
        "embedded-json": 1.0,
    }
)
"""What a claim weighs by the notation that it stands in."""

_VISIBLE: Mapping[str, float] = MappingProxyType(
    {
        "price.sure": 2.4,
        "price.likely": 1.3,
        "price.possible": 0.4,
        "price.listed": 0.6,
        "stock": 1.6,
        "button": 1.7,
        "label.brand": 1.5,
        "label.sku": 3.0,
        "label.mpn": 2.4,
        "label.gtin": 2.4,
        "called.brand": 0.9,
        "called.sku": 1.0,
        "called.mpn": 1.0,
        "called.gtin": 1.6,
        "h1": 1.5,
    }
)
"""What a claim of the visible page weighs by its place."""

_STRUCTURED_MPN = 0.4
"""Shops put article numbers of their own there: none of 17 was the maker's."""

_WEAKENED = (("first.", 1.2), ("elsewhere.", 0.3), ("several.", 0.7), ("lowPrice", 0.4), ("productI", 1.0))
"""What lessens the weight of a claim: its object may not be the page's own."""


_INTERCEPTS: Mapping[str, float] = MappingProxyType(
    {
        "price": 0.4,
        "currency": -0.2,
        "availability": 1.2,
        "brand": -0.5,
        "sku": 0.0,
        "mpn": -0.4,
        "gtin": -0.4,
    }
)
"""How sure a value is that nothing speaks for or against, by field: log-odds, fitted on the gold of 36 domains."""

_OTHER_INTERCEPT = 0.0
_FOR, _AGAINST = 0.76, 0.48
"""What the weight for a value and that of its rival change of the log-odds, fitted likewise."""

_NOTHING_SOLD = frozenset({"article", "forum", "documentation"})
_NUMBERS_OF_ONE = 3
"""More article numbers than these stand on pages that list goods."""


class Weighed(Protocol):
    """A value with the weight of its claims."""

    @property
    def weight(self) -> float:
        """What its claims weigh together."""
        ...

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that give it."""
        ...


def weight(claim: Claim) -> float:
    """Return what a claim weighs."""
    kind, _, place = claim.place.partition(":")
    if kind == "visible":
        return _VISIBLE.get(place, 0.5)
    if claim.field is Field.MPN:
        return _STRUCTURED_MPN
    lessened = sum(less for part, less in _WEAKENED if part in place)
    return max(0.1, _KINDS.get(kind, 0.5) - lessened)


def selling(claims: Sequence[Claim]) -> bool:
    """Return whether a page sells one thing.

    Offers in structured data are believed unless they also call the page something else; what is only seen needs a
    price and a button or number beside it, and one price of many needs both. Open Graph calls most pages an article.
    """
    seen = {claim.place.removeprefix("visible:") for claim in claims if claim.place.startswith("visible:")}
    priced = bool(seen & {"price.sure", "price.likely"})
    called = {(claim.value, claim.place[:3]) for claim in claims if claim.field is Field.PAGE_TYPE and _is_own(claim)}
    if any(value in _NOTHING_SOLD and where != "og:" for value, where in called):
        return _offered(claims) and priced and "button" in seen
    stocked = "stock" in seen and "price.listed" not in seen
    described = any(value == "product" and where != "og:" for value, where in called)
    if _offered(claims) or (described and (priced or stocked)) or (("product", "og:") in called and priced):
        return True
    if ("article", "og:") in called:
        return "price.sure" in seen and "button" in seen
    numbered = 0 < sum(claim.place == "visible:label.sku" for claim in claims) <= _NUMBERS_OF_ONE
    labelled = numbered or any(place.startswith("label") for place in seen - {"label.sku"})
    listed = bool(seen & {"price.listed", "stock"})
    return (priced and ("button" in seen or labelled)) or (listed and "button" in seen and numbered)


def _is_own(claim: Claim) -> bool:
    """Return whether the object that a claim stands in is the page's own."""
    return "first." not in claim.place and "elsewhere." not in claim.place


def _offered(claims: Sequence[Claim]) -> bool:
    """Return whether structured data name an offer of the page's own.

    Paywalls put a price into the meta elements of articles; those of shops have a type, too.
    """
    offers = [claim.place for claim in claims if claim.field in {Field.PRICE, Field.AVAILABILITY} and _is_own(claim)]
    if any(not place.startswith(("visible:", "og:", "product:")) for place in offers):
        return True
    typed = any(claim.field is Field.PAGE_TYPE and claim.value == "product" for claim in claims)
    article = any(claim.field is Field.PAGE_TYPE and claim.value == "article" for claim in claims)
    return (typed or not article) and any(place.startswith(("og:", "product:")) for place in offers)


def confidence_of(name: str, standings: Sequence[Weighed]) -> Confidence:
    """Return how sure the weightiest value of a field is."""
    best = standings[0]
    against = standings[1].weight if len(standings) > 1 else 0.0
    odds = _INTERCEPTS.get(name, _OTHER_INTERCEPT) + _FOR * best.weight - _AGAINST * against
    score = 1.0 / (1.0 + math.exp(-odds))
    source = max(best.claims, key=weight).source if best.claims else Source.HEURISTIC
    return confidence(source, score)
