"""What a source of evidence says of one field of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from actors.extraction.parse.tree import Page
from protocol.confidence import Source


class PageField(StrEnum):
    """The fields that sources speak of."""

    TITLE = "title"
    DESCRIPTION = "description"
    AUTHOR = "author"
    PUBLISHED = "published"
    MODIFIED = "modified"
    LANGUAGE = "language"
    SITE_NAME = "site_name"
    CANONICAL_URL = "canonical_url"
    IMAGE = "image"
    PAGE_TYPE = "page_type"
    TEXT = "text"
    PRODUCT_NAME = "product.name"
    PRICE = "product.price"
    CURRENCY = "product.currency"
    AVAILABILITY = "product.availability"
    BRAND = "product.brand"
    SKU = "product.sku"
    MPN = "product.mpn"
    GTIN = "product.gtin"
    RATING = "product.rating"
    REVIEWS = "product.reviews"


@dataclass(frozen=True, slots=True)
class Claim:
    """One value that one source gives one field, as the page writes it (dates, prices and addresses not yet read).

    `place` names where it stands ("og:title", "json-ld:Article.headline", "h1"); `source` is its kind (000 §2).
    """

    field: PageField
    value: str
    place: str
    source: Source


class EvidenceSource(Protocol):
    """A module of `sources/` that finds claims."""

    def claims(self, page: Page) -> Iterable[Claim]:
        """Return every claim that a page makes in this place, surest first; nothing is too broken to be read."""
        ...
