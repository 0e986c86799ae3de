"""Maps objects of data to fields of the page: entities of schema.org, products with offers, records of states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from urllib.parse import unquote

from actors.extraction.evidence import schema_org
from actors.extraction.evidence.claim import PageField, Standing
from actors.extraction.evidence.json_values import Json, items, mapping, scalar, words
from actors.extraction.evidence.linked_data import Entity
from actors.extraction.evidence.schema_org import name as schema_name
from actors.extraction.evidence.states import MAX_RECORDS, StateRecord
from actors.extraction.parse.text import collapsed

MAX_AUTHORS = 12
MAX_TEXT_CHARS = 20_000
MAX_LINE_CHARS = 2_000

Resolve = Callable[[Json], Json]
"""Gives the object that a reference means, and anything else as it is."""

_PAGE_TYPES = {
    "Article": "article",
    "Recipe": "article",
    "Documentation": "documentation",
    "Product": "product",
    "Forum": "forum",
    "List": "listing",
}
_ANONYMOUS = frozenset({"Organization", "NewsMediaOrganization", "Corporation"})

MAX_VARIANTS = 300
MAX_OFFER_CHARS = 300

_NUMBERS = (
    (PageField.SKU, ("sku", "productID", "productId")),
    (PageField.MPN, ("mpn", "model")),
    (PageField.GTIN, ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean", "productID")),
)

MAX_RECORD_CHARS = 500

_NAMES: tuple[tuple[PageField, frozenset[str]], ...] = (
    (
        PageField.TITLE,
        frozenset({"headline", "title", "name", "productname", "displayname", "heading", "producttitle"}),
    ),
    (
        PageField.PUBLISHED,
        frozenset(
            {"datepublished", "publishedat", "publisheddate", "publishdate", "firstpublished", "firstpublishedat"}
            | {"publicationdate", "published", "pubdate", "publishedtime", "datefirstpublished", "displaydate"}
            | {"publishtime", "dateposted", "createdat", "datecreated", "creationdate", "created"}
        ),
    ),
    (
        PageField.MODIFIED,
        frozenset({"datemodified", "updatedat", "modifiedat", "lastmodified", "lastupdated", "dateupdated"}),
    ),
    (PageField.AUTHOR, frozenset({"author", "authors", "byline", "bylines", "authorname", "writer", "creator"})),
    (PageField.DESCRIPTION, frozenset({"description", "summary", "excerpt", "dek", "standfirst", "abstract"})),
)
_DATE = re.compile(r"\d{4}-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}/\d{1,2}/|\b(?:19|20)\d\d\b")
_SECONDS = (600_000_000, 2_400_000_000)
"""Numbers between these are taken for seconds since 1970, and a thousand times as large ones for milliseconds."""


def of_entity(entity: Entity, resolve: Resolve) -> Iterator[tuple[PageField, str, str]]:
    """Return each field that an entity speaks of: the value, and the property that it stands in."""
    node = entity.node
    if entity.family == "Site":
        yield from _present(PageField.SITE_NAME, node, "name", "alternateName")
        return
    if entity.standing is Standing.FIRST:
        return
    yield from _present(PageField.TITLE, node, "headline", "name", "title")
    yield from _present(PageField.DESCRIPTION, node, "description", "abstract")
    yield from _people(node, resolve)
    yield from _present(PageField.PUBLISHED, node, "datePublished", "dateCreated", "uploadDate", "datePosted")
    yield from _present(PageField.MODIFIED, node, "dateModified")
    yield from _present(PageField.LANGUAGE, node, "inLanguage")
    yield from _pictures(node, resolve)
    yield from _addresses(node)
    for holder in ("publisher", "isPartOf", "sourceOrganization"):
        if name := words(mapping(resolve(node.get(holder))).get("name"), MAX_LINE_CHARS):
            yield PageField.SITE_NAME, name, f"{holder}.name"
    for name in ("articleBody", "text", "reviewBody"):
        if text := words(node.get(name), MAX_TEXT_CHARS):
            yield PageField.TEXT, text, name
    if kind := _PAGE_TYPES.get(entity.family):
        yield PageField.PAGE_TYPE, kind, "@type"


def of_product(node: Mapping[str, Json], resolve: Resolve, url: str) -> Iterator[tuple[PageField, str, str]]:
    """Return each field of a product that an object speaks of: the value, and the property that it stands in.

    Of a group of variants the one is taken that the address of the page names, else the first.
    """
    variant = _variant(node, resolve, url)
    yield from _line(PageField.PRODUCT_NAME, node, "name", "name")
    yield from _offer(node, resolve, url) if not variant else _offer(variant, resolve, url)
    for holder in ("brand", "manufacturer"):
        value = resolve(node.get(holder) or variant.get(holder))
        text = words(mapping(value).get("name"), MAX_OFFER_CHARS) or words(value, MAX_OFFER_CHARS)
        if text and "://" not in text:
            yield PageField.BRAND, text, holder
    for field, names in _NUMBERS:
        for source in (variant, node):
            for name in names:
                yield from _line(field, source, name, name)
    rating = mapping(resolve(node.get("aggregateRating")))
    yield from _line(PageField.RATING, rating, "ratingValue", "aggregateRating.ratingValue")
    for name in ("reviewCount", "ratingCount"):
        yield from _line(PageField.REVIEWS, rating, name, f"aggregateRating.{name}")


def of_record(record: StateRecord) -> Iterator[tuple[PageField, str, str]]:
    """Return each field that a record speaks of: the value, and the property that it stands in."""
    for key, value in record.node.items():
        plain = key.replace("_", "").replace("-", "").lower()
        for field, names in _NAMES:
            if plain in names:
                for text in _texts(field, value):
                    yield field, text, plain


def _present(field: PageField, node: Mapping[str, Json], *names: str) -> Iterator[tuple[PageField, str, str]]:
    for name in names:
        value = node.get(name)
        described = mapping(value)
        text = scalar(value) or scalar(described.get("@value")) or scalar(described.get("name"))
        if text := words(text, MAX_LINE_CHARS):
            yield field, text, name


def _people(node: Mapping[str, Json], resolve: Resolve) -> Iterator[tuple[PageField, str, str]]:
    """Return each author by name; an organisation stands in another place than a person."""
    for role in ("author", "creator"):
        for person in items(resolve(node.get(role)))[:MAX_AUTHORS]:
            known = resolve(person)
            described = mapping(known)
            name = scalar(described.get("name")) or (scalar(known) if isinstance(known, str) else "")
            place = f"{role}.organization" if _ANONYMOUS.intersection(schema_org.types(described)) else role
            if name := words(name, MAX_LINE_CHARS):
                yield PageField.AUTHOR, name, place


def _pictures(node: Mapping[str, Json], resolve: Resolve) -> Iterator[tuple[PageField, str, str]]:
    for name in ("image", "thumbnailUrl", "primaryImageOfPage"):
        value = resolve(next(iter(items(node.get(name))), None))
        described = mapping(value)
        text = scalar(described.get("url")) or scalar(described.get("contentUrl")) or scalar(described.get("@id"))
        if text := collapsed(text or scalar(value), MAX_LINE_CHARS):
            yield PageField.IMAGE, text, name


def _addresses(node: Mapping[str, Json]) -> Iterator[tuple[PageField, str, str]]:
    page = node.get("mainEntityOfPage")
    for text, place in (
        (scalar(node.get("url")), "url"),
        (scalar(page) or scalar(mapping(page).get("@id")), "mainEntityOfPage"),
    ):
        if "/" in text and " " not in text and len(text) < MAX_LINE_CHARS:
            yield PageField.CANONICAL_URL, text, place


def _offer(product: Mapping[str, Json], resolve: Resolve, url: str) -> Iterator[tuple[PageField, str, str]]:
    """Return what the offer says that a visitor of the page would take."""
    listed = [mapping(resolve(item)) for item in items(product.get("offers"))[:MAX_VARIANTS]]
    listed = [inner for offer in listed for inner in (_inner(offer, resolve) or [offer])]
    if not listed:
        return
    offer = max(listed, key=lambda item: _nearness(item, url))
    several = "" if len(listed) == 1 else "several."
    specification = mapping(resolve(offer.get("priceSpecification")))
    for source, place in ((offer, f"{several}offers"), (specification, f"{several}offers.priceSpecification")):
        yield from _line(PageField.PRICE, source, "price", f"{place}.price")
        yield from _line(PageField.CURRENCY, source, "priceCurrency", f"{place}.priceCurrency")
    yield from _line(PageField.PRICE, offer, "lowPrice", f"{several}offers.lowPrice")
    if text := schema_name(collapsed(scalar(offer.get("availability")), MAX_OFFER_CHARS)):
        yield PageField.AVAILABILITY, text, f"{several}offers.availability"
    for name in ("sku", "mpn", "gtin13", "gtin"):
        field = {"sku": PageField.SKU, "mpn": PageField.MPN}.get(name, PageField.GTIN)
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


def _line(field: PageField, node: Mapping[str, Json], name: str, place: str) -> Iterator[tuple[PageField, str, str]]:
    if text := words(node.get(name), MAX_OFFER_CHARS):
        yield field, text, place


def _texts(field: PageField, value: Json) -> Iterator[str]:
    if field in {PageField.PUBLISHED, PageField.MODIFIED}:
        text = _moment(value) or scalar(value)
        if _DATE.search(text[:40]):
            yield text[:40]
        return
    for item in items(value)[:MAX_RECORDS]:
        described = mapping(item)
        text = scalar(described.get("name")) or scalar(described.get("displayName")) or scalar(item)
        if (text := collapsed(text, MAX_RECORD_CHARS)) and "<" not in text:
            yield text


def _moment(value: Json) -> str:
    """Write seconds or milliseconds since 1970 as a date and time."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ""
    seconds = value / 1000 if value > _SECONDS[1] else value
    return datetime.fromtimestamp(seconds, UTC).isoformat() if _SECONDS[0] < seconds < _SECONDS[1] else ""
