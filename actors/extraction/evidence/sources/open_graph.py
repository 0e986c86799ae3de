"""Reads what the Open Graph of a page says of it, shops' additions included."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.schema_org import OPEN_GRAPH_TYPES
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CLAIMS = 100
MAX_CHARS = 2_000

_FIELDS = {
    "og:title": Field.TITLE,
    "og:description": Field.DESCRIPTION,
    "og:image": Field.IMAGE,
    "og:image:url": Field.IMAGE,
    "og:image:secure_url": Field.IMAGE,
    "og:site_name": Field.SITE_NAME,
    "og:url": Field.CANONICAL_URL,
    "og:locale": Field.LANGUAGE,
    "og:updated_time": Field.MODIFIED,
    "og:article:modified_time": Field.MODIFIED,
    "og:article:published_time": Field.PUBLISHED,
    "og:published_time": Field.PUBLISHED,
    "og:pubdate": Field.PUBLISHED,
    "og:article:author": Field.AUTHOR,
    "og:author": Field.AUTHOR,
    "product:price:amount": Field.PRICE,
    "product:sale_price:amount": Field.PRICE,
    "og:price:amount": Field.PRICE,
    "og:product:price:amount": Field.PRICE,
    "product:price:currency": Field.CURRENCY,
    "product:sale_price:currency": Field.CURRENCY,
    "og:price:currency": Field.CURRENCY,
    "og:product:price:currency": Field.CURRENCY,
    "product:availability": Field.AVAILABILITY,
    "og:availability": Field.AVAILABILITY,
    "og:product:availability": Field.AVAILABILITY,
    "product:brand": Field.BRAND,
    "og:brand": Field.BRAND,
    "og:product:brand": Field.BRAND,
    "product:retailer_item_id": Field.SKU,
    "product:retailer_part_no": Field.SKU,
    "product:sku": Field.SKU,
    "product:mfr_part_no": Field.MPN,
    "product:mpn": Field.MPN,
    "product:ean": Field.GTIN,
    "product:upc": Field.GTIN,
    "product:gtin": Field.GTIN,
    "product:isbn": Field.GTIN,
    "og:upc": Field.GTIN,
    "og:rating": Field.RATING,
}
_ADDRESS = ("http://", "https://", "//")
_TYPES = {"Article": "article", "Product": "product", "Blog": "listing"}


def claims(page: Page) -> Iterable[Claim]:
    """Return what the properties say, in the order of the page."""
    for name, content in embedded(page).open_graph[:MAX_CLAIMS]:
        value = collapsed(content, MAX_CHARS)
        field = _FIELDS.get(name)
        if not value or (field is Field.AUTHOR and value.startswith(_ADDRESS)):
            continue
        if field:
            yield Claim(field, value, name, Source.META_TAGS)
        elif name == "og:type" and (kind := _TYPES.get(OPEN_GRAPH_TYPES.get(value.lower(), ""))):
            yield Claim(Field.PAGE_TYPE, kind, name, Source.META_TAGS)
