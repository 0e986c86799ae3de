"""Says what an object of structured data claims of a product and its offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from actors.extraction.evidence.claim import Field
from actors.extraction.evidence.data.schema_org import name as schema_name
from actors.extraction.parse.values import Json, items, mapping, one_line, scalar, words

MAX_VARIANTS = 300
MAX_CHARS = 300

Resolve = Callable[[Json], Json]

_NUMBERS = (
    (Field.SKU, ("sku", "productID", "productId")),
    (Field.MPN, ("mpn", "model")),
    (Field.GTIN, ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean", "productID")),
)


def of_product(node: Mapping[str, Json], resolve: Resolve, url: str) -> Iterator[tuple[Field, str, str]]:
    """Return each field of a product that an object speaks of: the value, and the property that it stands in.

    Of a group of variants the one is taken that the address of the page names, else the first.
    """
    variant = _variant(node, resolve, url)
    yield from _line(Field.PRODUCT_NAME, node, "name", "name")
    yield from _offer(node, resolve, url) if not variant else _offer(variant, resolve, url)
    for holder in ("brand", "manufacturer"):
        value = resolve(node.get(holder) or variant.get(holder))
        text = words(mapping(value).get("name"), MAX_CHARS) or words(value, MAX_CHARS)
        if text and "://" not in text:
            yield Field.BRAND, text, holder
    for field, names in _NUMBERS:
        for source in (variant, node):
            for name in names:
                yield from _line(field, source, name, name)
    rating = mapping(resolve(node.get("aggregateRating")))
    yield from _line(Field.RATING, rating, "ratingValue", "aggregateRating.ratingValue")
    for name in ("reviewCount", "ratingCount"):
        yield from _line(Field.REVIEWS, rating, name, f"aggregateRating.{name}")


def _offer(product: Mapping[str, Json], resolve: Resolve, url: str) -> Iterator[tuple[Field, str, str]]:
    """Return what the offer says that a visitor of the page would take."""
    listed = [mapping(resolve(item)) for item in items(product.get("offers"))[:MAX_VARIANTS]]
    listed = [inner for offer in listed for inner in (_inner(offer, resolve) or [offer])]
    if not listed:
        return
    offer = max(listed, key=lambda item: _nearness(item, url))
    several = "" if len(listed) == 1 else "several."
    specification = mapping(resolve(offer.get("priceSpecification")))
    for source, place in ((offer, f"{several}offers"), (specification, f"{several}offers.priceSpecification")):
        yield from _line(Field.PRICE, source, "price", f"{place}.price")
        yield from _line(Field.CURRENCY, source, "priceCurrency", f"{place}.priceCurrency")
    yield from _line(Field.PRICE, offer, "lowPrice", f"{several}offers.lowPrice")
    if text := schema_name(one_line(scalar(offer.get("availability")), MAX_CHARS)):
        yield Field.AVAILABILITY, text, f"{several}offers.availability"
    for name in ("sku", "mpn", "gtin13", "gtin"):
        field = {"sku": Field.SKU, "mpn": Field.MPN}.get(name, Field.GTIN)
        yield from _line(field, offer, name, f"{several}offers.{name}")


def _inner(offer: Mapping[str, Json], resolve: Resolve) -> list[dict[str, Json]]:
    """Return the offers that an aggregate holds, if it has no price of its own."""
    if "lowPrice" in offer or "price" in offer:
        return []
    return [mapping(resolve(item)) for item in items(offer.get("offers"))[:MAX_VARIANTS]]


def _variant(node: Mapping[str, Json], resolve: Resolve, url: str) -> Mapping[str, Json]:
    variants = [mapping(resolve(item)) for item in items(node.get("hasVariant") or node.get("model"))[:MAX_VARIANTS]]
    variants = [variant for variant in variants if "offers" in variant]
    return max(variants, key=lambda item: _nearness(item, url)) if variants else {}


def _nearness(item: Mapping[str, Json], url: str) -> int:
    """Return how surely the address of the page names an offer or variant."""
    address = unquote(url).lower()
    for name in ("url", "@id", "sku", "mpn", "gtin13"):
        text = scalar(item.get(name)).lower()
        tail = text.rpartition("?")[2] if "?" in text else text.rpartition("/")[2]
        if len(tail) > 3 and tail in address:  # noqa: PLR2004 - shorter ones are in every address
            return 2
    return 1 if scalar(item.get("price")) else 0


def _line(field: Field, node: Mapping[str, Json], name: str, place: str) -> Iterator[tuple[Field, str, str]]:
    if text := words(node.get(name), MAX_CHARS):
        yield field, text, place
