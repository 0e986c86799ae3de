"""Decides among the claims of a page what it sells, and how sure that is; a page that sells nothing has no product."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from actors.extraction.decide import product_values
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

_VISIBLE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        ShopPlace.PRICE_SURE: 2.4,
        ShopPlace.PRICE_LIKELY: 1.3,
        ShopPlace.PRICE_POSSIBLE: 0.4,
        ShopPlace.PRICE_LISTED: 0.6,
        ShopPlace.STOCK: 1.6,
        ShopPlace.BUTTON: 1.7,
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

_META_KINDS = frozenset({PlaceKind.OPEN_GRAPH, PlaceKind.PRODUCT_META})
"""The meta elements in which shops name their offers."""

_NOTHING_SOLD = frozenset({"article", "forum", "documentation"})
_OTHER_LABELS = frozenset({ShopPlace.LABEL_BRAND, ShopPlace.LABEL_MPN, ShopPlace.LABEL_GTIN})
_MAX_NUMBERS = 3
"""More article numbers than these stand on pages that list goods."""


@dataclass(frozen=True, slots=True)
class WeighedValue:
    """A value of one field, what its claims weigh together, and those claims."""

    value: str
    weight: float
    claims: tuple[Claim, ...]


def product(page: Page, claims: Iterable[Claim]) -> tuple[Product, Mapping[str, Confidence]] | None:
    """Return what the page sells with the confidence of each field that has a value; None where it sells nothing."""
    relevant = [claim for claim in claims if claim.field in FIELDS or claim.field is PageField.PAGE_TYPE]
    if not _is_selling(_SalesEvidence.of(relevant)):
        return None
    reader = product_values.ValueReader.of(page, relevant)
    ranking = {name: _ranked(reader, field, relevant) for field, name in FIELDS.items()}
    if not ranking["price"] and not ranking["availability"]:
        return None
    if not ranking["availability"] and ranking["price"]:
        ranking["availability"] = [WeighedValue(product_values.IN_STOCK, 0.0, ())]
    if ranking["mpn"] and ranking["sku"] and ranking["mpn"][0].value == ranking["sku"][0].value:
        ranking["mpn"] = ranking["mpn"][1:]
    best = {name: values[0].value for name, values in ranking.items() if values}
    return Product(**best), {name: _confidence(name, values) for name, values in ranking.items() if values}


@dataclass(frozen=True, slots=True)
class _SalesEvidence:
    """What the claims of a page say of whether it sells one thing.

    `shown` are the places of the visible page that speak of goods, `numbers` counts the article numbers among them.
    `data_types` and `og_types` are what structured data and Open Graph call the page; `offered` holds where structured
    data name an offer of the page's own.
    """

    shown: frozenset[str]
    numbers: int
    data_types: frozenset[str]
    og_types: frozenset[str]
    offered: bool

    @staticmethod
    def of(claims: Sequence[Claim]) -> _SalesEvidence:
        """Read the claims of a page once."""
        shown = [claim.place.detail for claim in claims if claim.place.kind is PlaceKind.SHOP]
        types = [claim for claim in claims if claim.field is PageField.PAGE_TYPE and _is_own(claim)]
        return _SalesEvidence(
            shown=frozenset(shown),
            numbers=shown.count(ShopPlace.LABEL_SKU),
            data_types=frozenset(claim.value for claim in types if claim.place.kind is not PlaceKind.OPEN_GRAPH),
            og_types=frozenset(claim.value for claim in types if claim.place.kind is PlaceKind.OPEN_GRAPH),
            offered=_is_offered(claims),
        )

    @property
    def priced(self) -> bool:
        """Whether one price stands out."""
        return not self.shown.isdisjoint({ShopPlace.PRICE_SURE, ShopPlace.PRICE_LIKELY})

    @property
    def listed(self) -> bool:
        """Whether it shows one price of many, or what is in stock."""
        return not self.shown.isdisjoint({ShopPlace.PRICE_LISTED, ShopPlace.STOCK})

    @property
    def stocked(self) -> bool:
        """Whether it shows that its one thing is in stock."""
        return ShopPlace.STOCK in self.shown and ShopPlace.PRICE_LISTED not in self.shown

    @property
    def buyable(self) -> bool:
        """Whether it shows a button to buy."""
        return ShopPlace.BUTTON in self.shown

    @property
    def numbered(self) -> bool:
        """Whether it shows an article number, and not those of a list."""
        return 0 < self.numbers <= _MAX_NUMBERS

    @property
    def labelled(self) -> bool:
        """Whether it shows a number, brand or code beside its label."""
        return self.numbered or not self.shown.isdisjoint(_OTHER_LABELS)


def _is_selling(page: _SalesEvidence) -> bool:
    """Return whether a page sells one thing.

    Offers in structured data are believed unless they also call the page something else; what is only seen needs a
    price and a button or number beside it, and one price of many needs both. Open Graph calls most pages an article.
    """
    if page.data_types & _NOTHING_SOLD:
        return page.offered and page.priced and page.buyable
    if page.offered or ("product" in page.data_types and (page.priced or page.stocked)):
        return True
    if "product" in page.og_types and page.priced:
        return True
    if "article" in page.og_types:
        return ShopPlace.PRICE_SURE in page.shown and page.buyable
    if page.priced and (page.buyable or page.labelled):
        return True
    return page.listed and page.buyable and page.numbered


def _is_own(claim: Claim) -> bool:
    """Return whether the object that a claim stands in is the page's own."""
    return claim.place.standing not in _STANDING_REDUCTIONS


def _is_offered(claims: Sequence[Claim]) -> bool:
    """Return whether structured data name an offer of the page's own.

    Paywalls put a price into the meta elements of articles; those of shops have a type, too.
    """
    offered = {PageField.PRICE, PageField.AVAILABILITY}
    kinds = {claim.place.kind for claim in claims if claim.field in offered and _is_own(claim)} - {PlaceKind.SHOP}
    if kinds - _META_KINDS:
        return True
    typed = any(claim.field is PageField.PAGE_TYPE and claim.value == "product" for claim in claims)
    article = any(claim.field is PageField.PAGE_TYPE and claim.value == "article" for claim in claims)
    return (typed or not article) and bool(kinds)


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
    lessened = _STANDING_REDUCTIONS.get(place.standing, 0.0)
    lessened += sum(less for part, less in _REDUCTIONS if part in place.detail)
    return max(0.1, _KIND_WEIGHTS.get(place.kind, 0.5) - lessened)


def _confidence(name: str, values: Sequence[WeighedValue]) -> Confidence:
    """Return how sure the weightiest value of a field is."""
    best = values[0]
    against = values[1].weight if len(values) > 1 else 0.0
    odds = _INTERCEPTS.get(name, _OTHER_INTERCEPT) + _FOR * best.weight - _AGAINST * against
    score = 1.0 / (1.0 + math.exp(-odds))
    source = max(best.claims, key=_weight).source if best.claims else Source.HEURISTIC
    return confidence(source, score)
