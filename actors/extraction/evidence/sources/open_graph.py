"""Reads what the Open Graph of a page says of it, shops' additions included."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.schema_org import OPEN_GRAPH_TYPES
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CLAIMS = 100
MAX_CHARS = 2_000

_FIELDS = {
    "og:title": PageField.TITLE,
    "og:description": PageField.DESCRIPTION,
    "og:image": PageField.IMAGE,
    "og:image:url": PageField.IMAGE,
    "og:image:secure_url": PageField.IMAGE,
    "og:site_name": PageField.SITE_NAME,
    "og:url": PageField.CANONICAL_URL,
    "og:locale": PageField.LANGUAGE,
    "og:updated_time": PageField.MODIFIED,
    "og:article:modified_time": PageField.MODIFIED,
    "og:article:published_time": PageField.PUBLISHED,
    "og:published_time": PageField.PUBLISHED,
    "og:pubdate": PageField.PUBLISHED,
    "og:article:author": PageField.AUTHOR,
    "og:author": PageField.AUTHOR,
    "product:price:amount": PageField.PRICE,
    "product:sale_price:amount": PageField.PRICE,
    "og:price:amount": PageField.PRICE,
    "og:product:price:amount": PageField.PRICE,
    "product:price:currency": PageField.CURRENCY,
    "product:sale_price:currency": PageField.CURRENCY,
    "og:price:currency": PageField.CURRENCY,
    "og:product:price:currency": PageField.CURRENCY,
    "product:availability": PageField.AVAILABILITY,
    "og:availability": PageField.AVAILABILITY,
    "og:product:availability": PageField.AVAILABILITY,
    "product:brand": PageField.BRAND,
    "og:brand": PageField.BRAND,
    "og:product:brand": PageField.BRAND,
    "product:retailer_item_id": PageField.SKU,
    "product:retailer_part_no": PageField.SKU,
    "product:sku": PageField.SKU,
    "product:mfr_part_no": PageField.MPN,
    "product:mpn": PageField.MPN,
    "product:ean": PageField.GTIN,
    "product:upc": PageField.GTIN,
    "product:gtin": PageField.GTIN,
    "product:isbn": PageField.GTIN,
    "og:upc": PageField.GTIN,
    "og:rating": PageField.RATING,
}
_ADDRESS = ("http://", "https://", "//")
_TYPES = {"Article": "article", "Product": "product", "Blog": "listing"}


def claims(page: Page) -> Iterable[Claim]:
    """Return what the properties say, in the order of the page."""
    for name, content in embedded(page).open_graph[:MAX_CLAIMS]:
        value = collapsed(content, MAX_CHARS)
        field = _FIELDS.get(name)
        if not value or (field is PageField.AUTHOR and value.startswith(_ADDRESS)):
            continue
        if field:
            yield Claim(field, value, _place(name), Source.META_TAGS)
        elif name == "og:type" and (kind := _TYPES.get(OPEN_GRAPH_TYPES.get(value.lower(), ""))):
            yield Claim(PageField.PAGE_TYPE, kind, _place(name), Source.META_TAGS)


def _place(name: str) -> ClaimPlace:
    """Return the place of a property: those of Open Graph and those of its products have different prefixes."""
    prefix, _, detail = name.partition(":")
    return ClaimPlace(PlaceKind(prefix), detail)
