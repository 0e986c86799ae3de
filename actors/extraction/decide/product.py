"""Decides among the claims of a page what it sells, and how sure that is; a page that sells nothing has no product."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from actors.extraction.decide import product_values
from actors.extraction.decide.trust import confidence_of, selling, weight
from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.parse.tree import Page
from protocol.confidence import Confidence
from protocol.page import Product

FIELDS = {
    Field.PRODUCT_NAME: "name",
    Field.PRICE: "price",
    Field.CURRENCY: "currency",
    Field.AVAILABILITY: "availability",
    Field.BRAND: "brand",
    Field.SKU: "sku",
    Field.MPN: "mpn",
    Field.GTIN: "gtin",
    Field.RATING: "rating",
    Field.REVIEWS: "reviews",
}
"""The fields of a product by those that claims speak of."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A value of one field, what its claims weigh together, and those claims."""

    value: str
    weight: float
    claims: tuple[Claim, ...]


def product(page: Page, claims: Iterable[Claim]) -> tuple[Product, Mapping[str, Confidence]] | None:
    """Return what the page sells with the confidence of each field that has a value; None where it sells nothing."""
    spoken = [claim for claim in claims if claim.field in FIELDS or claim.field is Field.PAGE_TYPE]
    if not selling(spoken):
        return None
    reader = product_values.Reader.of(page, spoken)
    told = {name: ranked(reader, field, spoken) for field, name in FIELDS.items()}
    if not told["price"] and not told["availability"]:
        return None
    if not told["availability"] and told["price"]:
        told["availability"] = [Standing(product_values.IN_STOCK, 0.0, ())]
    if told["mpn"] and told["sku"] and told["mpn"][0].value == told["sku"][0].value:
        told["mpn"] = told["mpn"][1:]
    best = {name: standings[0] for name, standings in told.items() if standings}
    sure = {name: confidence_of(name, standings) for name, standings in told.items() if standings}
    return Product(**{name: standing.value for name, standing in best.items()}), sure


def ranked(reader: product_values.Reader, field: Field, claims: Sequence[Claim]) -> list[Standing]:
    """Return the values that claims give a field, the weightiest first; each kind of source counts once for a value."""
    holders: dict[str, list[Claim]] = {}
    weights: dict[str, dict[str, float]] = {}
    for claim in claims:
        if claim.field is not field or not (value := reader.read(claim)):
            continue
        key = product_values.key(field, value)
        holders.setdefault(key, []).append(claim)
        kind = claim.place.partition(":")[0]
        gained = weight(claim) + reader.fit(field, value)
        kinds = weights.setdefault(key, {})
        kinds[kind] = max(kinds.get(kind, gained), gained)
    standings = [
        Standing(reader.read(held[0]), sum(weights[key].values()), tuple(held)) for key, held in holders.items()
    ]
    return sorted((standing for standing in standings if standing.weight > 0), key=lambda standing: -standing.weight)
