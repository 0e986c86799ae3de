"""What a source of evidence says of one field of a page."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

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


class PlaceKind(StrEnum):
    """Where claims stand: in a notation of data, or in a part of what is seen."""

    JSON_LD = "json-ld"
    MICRODATA = "microdata"
    RDFA = "rdfa"
    OPEN_GRAPH = "og"
    PRODUCT_META = "product"
    META = "meta"
    LINK = "link"
    FRAMEWORK = "framework"
    EMBEDDED_JSON = "embedded-json"
    SCRIPT = "script"
    ADDRESS = "url"
    TITLE = "title"
    H1 = "h1"
    H2 = "h2"
    CALLED_TITLE = "called title"
    CALLED_AUTHOR = "byline called"
    LABELLED_LINE = "byline line"
    NAME_LINE = "byline name"
    MIXED_LINE = "byline mixed"
    TIME = "visible time"
    DATE_LINE = "visible text"
    SHOP = "visible"


class Standing(StrEnum):
    """How surely an object of data is the one that its page is about."""

    OWN = ""
    TITLED = "titled"
    """One of several, after which the page is titled."""

    FIRST = "first"
    """The first of several."""

    ELSEWHERE = "elsewhere"
    """It names another address than the page's."""


class ShopPlace(StrEnum):
    """Where the visible page of a shop speaks of its product: the details of `PlaceKind.SHOP`."""

    PRICE_SURE = "price.sure"
    PRICE_LIKELY = "price.likely"
    PRICE_POSSIBLE = "price.possible"
    PRICE_LISTED = "price.listed"
    STOCK = "stock"
    BUTTON = "button"
    LABEL_BRAND = "label.brand"
    LABEL_SKU = "label.sku"
    LABEL_MPN = "label.mpn"
    LABEL_GTIN = "label.gtin"
    CALLED_BRAND = "called.brand"
    CALLED_SKU = "called.sku"
    CALLED_MPN = "called.mpn"
    CALLED_GTIN = "called.gtin"
    HEADING = "h1"


_TIGHT = frozenset(
    {
        PlaceKind.JSON_LD,
        PlaceKind.MICRODATA,
        PlaceKind.RDFA,
        PlaceKind.OPEN_GRAPH,
        PlaceKind.PRODUCT_META,
        PlaceKind.FRAMEWORK,
        PlaceKind.EMBEDDED_JSON,
        PlaceKind.SHOP,
    }
)
"""Kinds of places whose details follow their colon at once."""


class ClaimPlace(Struct, frozen=True):
    """Where a claim stands: `detail` is the path or name there, or words for what stands around it.

    Written it is "og:title", "json-ld:first.Article.headline", "h1: only": its words are what the vote is trained on.
    """

    kind: PlaceKind
    detail: str = ""
    standing: Standing = Standing.OWN

    def __str__(self) -> str:
        """Write the place as a trace shows it."""
        if not self.detail:
            return self.kind
        standing = f"{self.standing}." if self.standing else ""
        return f"{self.kind}:{standing}{self.detail}" if self.kind in _TIGHT else f"{self.kind}: {self.detail}"


class Claim(Struct, frozen=True):
    """One value that one source gives one field, as the page writes it (dates, prices and addresses not yet read).

    `source` is the kind of its evidence (000 §2).
    """

    field: PageField
    value: str
    place: ClaimPlace
    source: Source


class EvidenceSource(Protocol):
    """A module of `sources/` that finds claims."""

    def claims(self, page: Page) -> Iterable[Claim]:
        """Return every claim that a page makes in this place, surest first; nothing is too broken to be read."""
        ...
