"""Decides among the claims of a page what it sells, and how sure that is; a page that sells nothing has no product."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from actors.extraction.decide import product_values
from actors.extraction.decide.selling import SalesEvidence, is_selling
from actors.extraction.evidence import product_data
from actors.extraction.evidence.claim import Claim, PageField, PlaceKind, ShopPlace, Standing
from actors.extraction.parse.tree import Page
from protocol.confidence import Confidence, Source, confidence
from protocol.page import Product

FIELDS = {
    PageField.PRODUCT_NAME: "name",
    PageField.PRICE: "price",
    PageField.CURRENCY: "currency",
    PageField.AVAILABILITY: "availability",
    PageField.BRAND: "brand",
    PageField.SKU: "sku",
    PageField.MPN: "mpn",
    PageField.GTIN: "gtin",
    PageField.RATING: "rating",
    PageField.REVIEWS: "reviews",
}
"""The fields of a product by those that claims speak of."""

_KIND_WEIGHTS: Mapping[PlaceKind, float] = MappingProxyType(
    {
        PlaceKind.JSON_LD: 2.0,
        PlaceKind.MICRODATA: 1.8,
        PlaceKind.RDFA: 1.6,
        PlaceKind.PRODUCT_META: 1.5,
        PlaceKind.OPEN_GRAPH: 1.3,
        PlaceKind.FRAMEWORK: 1.2,
        PlaceKind.EMBEDDED_JSON: 1.0,
    }
)
"""What a claim weighs by the notation that it stands in."""

_STRUCTURED = frozenset({PlaceKind.JSON_LD, PlaceKind.MICRODATA, PlaceKind.RDFA})

_VISIBLE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        ShopPlace.PRICE_SURE: 2.4,
        ShopPlace.PRICE_LIKELY: 1.3,
        ShopPlace.PRICE_POSSIBLE: 0.4,
        ShopPlace.PRICE_LISTED: 0.6,
        ShopPlace.STOCK: 1.6,
        ShopPlace.BUTTON: 2.1,
        ShopPlace.LABEL_BRAND: 1.5,
        ShopPlace.LABEL_SKU: 3.0,
        ShopPlace.LABEL_MPN: 2.4,
        ShopPlace.LABEL_GTIN: 2.4,
        ShopPlace.CALLED_BRAND: 0.9,
        ShopPlace.CALLED_SKU: 1.0,
        ShopPlace.CALLED_MPN: 1.0,
        ShopPlace.CALLED_GTIN: 1.6,
        ShopPlace.HEADING: 1.5,
    }
)
"""What a claim of the visible page weighs by its place."""

_STRUCTURED_MPN = 0.4
"""Shops put article numbers of their own there: none of 17 was the maker's."""

_KEYED = 0.6
"""What the only value of a key in scripts weighs."""

_OWN_PRICE = 0.8
"""What the price gains that structured data give the page's own offer: where others are seen, it is right."""

_STANDING_REDUCTIONS: Mapping[Standing, float] = MappingProxyType({Standing.FIRST: 1.2, Standing.ELSEWHERE: 0.3})
_REDUCTIONS = (("several.", 0.7), ("lowPrice", 0.4), ("productI", 1.0))
"""What lessens the weight of a claim: its object or offer may not be the page's own, its property not what it seems."""

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


class WeighedValue(Struct, frozen=True):
    """A value of one field, what its claims weigh together, and those claims."""

    value: str
    weight: float
    claims: tuple[Claim, ...]


def product(page: Page, claims: Iterable[Claim]) -> tuple[Product, Mapping[str, Confidence]] | None:
    """Return what the page sells with the confidence of each field that has a value; None where it sells nothing."""
    relevant = [claim for claim in claims if claim.field in FIELDS or claim.field is PageField.PAGE_TYPE]
    sales = SalesEvidence.of(relevant)
    if not is_selling(sales):
        return None
    relevant.extend(product_data.claims(page))
    reader = product_values.ValueReader.of(page, relevant)
    if not (sales.buyable or sales.offered or "product" in sales.og_types):  # then it may be any of them
        relevant = [claim for claim in relevant if claim.place.detail != ShopPlace.PRICE_LISTED]
    ranking = {name: _ranked(reader, field, relevant) for field, name in FIELDS.items()}
    if not ranking["price"] and not ranking["availability"] and not ranking["sku"]:
        return None
    ranking["availability"] = _with_orders(ranking["availability"])
    ranking["mpn"] = _makers_numbers(ranking["mpn"], ranking["sku"])
    best = {name: values[0].value for name, values in ranking.items() if values}
    return Product(**best), {name: _confidence(name, values) for name, values in ranking.items() if values}


def _with_orders(values: list[WeighedValue]) -> list[WeighedValue]:
    """Return what is said of the stock, the surest first; a button to buy does not speak against a later delivery.

    What is sold and nothing is said of is in stock.
    """
    if not values:
        return [WeighedValue(product_values.IN_STOCK, 0.0, ())]
    if all(claim.place.detail == ShopPlace.BUTTON for claim in values[0].claims):
        return sorted(values, key=lambda value: value.value not in product_values.ORDERED)
    return values


def _makers_numbers(numbers: Sequence[WeighedValue], own: Sequence[WeighedValue]) -> list[WeighedValue]:
    """Return the maker's numbers without those that structured data give as the shop's own, too."""
    taken = {product_values.value_key(PageField.SKU, value.value) for value in own}
    return [
        number
        for number in numbers
        if product_values.value_key(PageField.MPN, number.value) not in taken
        or (own[0].value != number.value and any(claim.place.kind is PlaceKind.SHOP for claim in number.claims))
    ]


def _ranked(reader: product_values.ValueReader, field: PageField, claims: Sequence[Claim]) -> list[WeighedValue]:
    """Return the values of a field by weight, the greatest first; each kind of source counts once for a value."""
    holders: dict[str, list[Claim]] = {}
    weights: dict[str, dict[PlaceKind, float]] = {}
    for claim in claims:
        if claim.field is not field or not (value := reader.read(claim)):
            continue
        key = product_values.value_key(field, value)
        holders.setdefault(key, []).append(claim)
        kind = claim.place.kind
        gained = _weight(claim) + reader.fit(field, value)
        kinds = weights.setdefault(key, {})
        kinds[kind] = max(kinds.get(kind, gained), gained)
    values = [WeighedValue(reader.read(own[0]), sum(weights[key].values()), tuple(own)) for key, own in holders.items()]
    return sorted((value for value in values if value.weight > 0), key=lambda value: -value.weight)


def _weight(claim: Claim) -> float:
    """Return what a claim weighs."""
    place = claim.place
    if place.kind is PlaceKind.SHOP:
        return _VISIBLE_WEIGHTS.get(place.detail, 0.5)
    if claim.field is PageField.MPN:
        return _STRUCTURED_MPN
    if place.detail.startswith(product_data.KEY):
        return _KEYED
    lessened = _STANDING_REDUCTIONS.get(place.standing, 0.0)
    lessened += sum(less for part, less in _REDUCTIONS if part in place.detail)
    gained = _OWN_PRICE if claim.field is PageField.PRICE and not lessened and place.kind in _STRUCTURED else 0.0
    return max(0.1, _KIND_WEIGHTS.get(place.kind, 0.5) + gained - lessened)


def _confidence(name: str, values: Sequence[WeighedValue]) -> Confidence:
    """Return how sure the weightiest value of a field is."""
    best = values[0]
    against = values[1].weight if len(values) > 1 else 0.0
    odds = _INTERCEPTS.get(name, _OTHER_INTERCEPT) + _FOR * best.weight - _AGAINST * against
    score = 1.0 / (1.0 + math.exp(-odds))
    source = max(best.claims, key=_weight).source if best.claims else Source.HEURISTIC
    return confidence(source, score)
