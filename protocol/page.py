"""What a page says of itself beyond its words: its fields, forms, lists and structured data, as typed values."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, structs


class PageType(StrEnum):
    """What a page is for."""

    ARTICLE = "article"
    DOCUMENTATION = "documentation"
    SERVICE = "service"
    FORUM = "forum"
    PRODUCT = "product"
    COLLECTION = "collection"
    LISTING = "listing"
    SEARCH = "search"
    HOME = "home"


class PageKind(StrEnum):
    """What stands in the place of the page that was asked for."""

    NOT_FOUND = "not_found"
    GONE = "gone"
    SERVER_ERROR = "server_error"
    MAINTENANCE = "maintenance"
    FORBIDDEN = "forbidden"
    RATE_LIMITED = "rate_limited"
    GEO_BLOCKED = "geo_blocked"
    CHALLENGE = "challenge"
    LOGIN_WALL = "login_wall"
    PAYWALL = "paywall"
    CONSENT_WALL = "consent_wall"
    AGE_GATE = "age_gate"
    PARKED = "parked"
    COMING_SOON = "coming_soon"
    SUSPENDED = "suspended"
    DEFAULT_SERVER_PAGE = "default_server_page"
    EMPTY_SHELL = "empty_shell"
    OFFLINE = "offline"


class Heading(Struct, frozen=True, kw_only=True):
    """A heading of the main content: `level` from 1 to 6."""

    level: int
    text: str


class Crumb(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of the way from the home page to this one; the last may have no address."""

    name: str
    url: str = ""


class FeedLink(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A feed that the page offers: its address, media type and title."""

    url: str
    type: str
    title: str = ""


class FormField(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field of a form; `type` is that of HTML ("text", "password", "select", …), `options` what may be chosen.

    What stands in a hidden or password field never leaves the page.
    """

    name: str
    type: str = "text"
    label: str = ""
    required: bool = False
    value: str = ""
    options: tuple[str, ...] = ()


class Form(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A form: `action` is absolute, `method` is GET, POST or DIALOG."""

    action: str
    method: str = "GET"
    name: str = ""
    fields: tuple[FormField, ...] = ()


class RecordList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Records that a page repeats (cards, rows of results): one row each, one cell per column, "" where it has none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


class StructuredItem(Struct, frozen=True, kw_only=True):
    """An item of structured data: `type` is a schema.org type without its address ("Product").

    `properties` holds JSON values: texts, numbers, lists, and objects with a `@type` of their own.
    """

    type: str
    format: Literal["json-ld", "microdata", "rdfa", "opengraph", "framework"]
    properties: dict[str, Any]


class Product(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a product page sells: `price` as a plain decimal number, `currency` as of ISO 4217.

    `availability` is a schema.org ItemAvailability without its address ("InStock").
    """

    name: str = ""
    price: str = ""
    currency: str = ""
    availability: str = ""
    brand: str = ""
    sku: str = ""
    mpn: str = ""
    gtin: str = ""
    rating: str = ""
    reviews: str = ""


class PageFields(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The fields of a page beyond its title and content; addresses are absolute, dates as of ISO 8601.

    `outline` holds the headings of the main content, `previous` and `next` the neighbours of a page in parts.
    `page_count` is that of a document with pages of its own (PDF).
    """

    description: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    modified: str = ""
    language: str = ""
    site_name: str = ""
    canonical_url: str = ""
    image: str = ""
    page_type: PageType | UnsetType = UNSET
    breadcrumb: tuple[Crumb, ...] = ()
    feeds: tuple[FeedLink, ...] = ()
    next: str = ""
    previous: str = ""
    outline: tuple[Heading, ...] = ()
    product: Product | UnsetType = UNSET
    page_count: int | UnsetType = UNSET


def wire_names(fields: PageFields) -> tuple[str, ...]:
    """Return the names, as they travel, of the fields that have a value."""
    return tuple(encoded for name, encoded in _names(type(fields)) if getattr(fields, name) not in ("", (), UNSET))


@cache
def _names(kind: type[PageFields]) -> tuple[tuple[str, str], ...]:
    return tuple((known.name, known.encode_name) for known in structs.fields(kind))
