"""Reads structured data (schema.org) and the fields of a page as pairs, and what they list as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.layouts import MAX_ROWS, RowSet
from actors.answerer.extracting.words import meanings
from actors.extraction.evidence.json_values import Json
from protocol.answers import FieldOrigin
from protocol.page import Product, StructuredItem

MAX_ITEM_PAIRS = 300
MAX_NODES = 2_000
_MAX_DEPTH = 6

DATA_WEIGHT, FIELD_WEIGHT, PRODUCT_WEIGHT = 0.97, 0.85, 0.98
"""How sure data are: what a page says for programs, what was decided of the page, and of its product."""

_WEIGHTS = {"opengraph": 0.8, "framework": 0.85}
"""What data of other formats weigh."""

_ORGANISATIONS = frozenset(
    {"Organization", "Corporation", "LocalBusiness", "NGO", "EducationalOrganization", "GovernmentOrganization"}
    | {"Restaurant", "Hotel", "ProfessionalService", "MedicalBusiness", "SportsClub", "NewsMediaOrganization", "Store"}
)

_CONTAINERS = frozenset(
    {"offers", "offer", "address", "mainEntity", "itemListElement", "item", "geo", "value", "nutrition", "@value"}
    | {"aggregateRating", "priceSpecification", "contactPoint", "about", "reviewRating"}
)
"""Properties that only hold others, and say nothing themselves."""

_FIRST_SPEAKS = frozenset({"offers", "author", "creator", "performer", "image"})
"""Lists whose first member is what is asked for where one is."""

_OWN_ALONE = frozenset(
    {"name", "url", "description", "image", "id", "date", "start", "end", "category", "tag", "text", "min"}
)
"""What a thing within another says of itself alone: the address of the organizer is not that of the event."""

_COLONS = frozenset(":\uff1a")
"""No name has them: "Level: easy" is none."""

_PAGES = frozenset(
    {"WebPage", "WebSite", "BreadcrumbList", "ItemPage", "CollectionPage", "SearchAction", "ImageObject", "ListItem"}
)
"""Types that speak of the page, not of what it is about."""

_STAND_INS = ("name", "text", "value", "url", "@id", "streetAddress")
"""What stands for an object where a text is asked for."""

_Object: TypeAlias = dict[str, Json]
_Way: TypeAlias = tuple[str, ...]


def items(text: SourceEvidence) -> list[tuple[str, tuple[Pair, ...]]]:
    """Return the type and the pairs of each item of structured data; those of the page itself come last."""
    read = [
        (item.type, tuple(_pairs({"@type": item.type, **_properties(item)}, _WEIGHTS.get(item.format, DATA_WEIGHT))))
        for item in text.source.parts.structured
    ]
    return sorted(read, key=lambda each: each[0] in _PAGES)


def fields(text: SourceEvidence) -> tuple[Pair, ...]:
    """Return what extraction has decided of a page; a product's own fields are surest."""
    page = text.source.parts.fields
    sold = page.product if isinstance(page.product, Product) else Product()
    product = {
        "name": sold.name,
        "price": sold.price,
        "currency": sold.currency,
        "availability": sold.availability,
        "brand": sold.brand,
        "sku": sold.sku,
        "mpn": sold.mpn,
        "gtin": sold.gtin,
        "rating": sold.rating,
        "reviewCount": sold.reviews,
    }
    site = "" if "." in page.site_name else page.site_name
    own = {
        "name": text.source.title,
        "description": page.description,
        "author": " ".join(name for name in page.authors[:1] if _COLONS.isdisjoint(name)),
        "posted": page.published,
        "modified": page.modified,
        "language": page.language or text.source.language,
        "publisher": site,
        "image": page.image,
        "url": page.canonical_url or text.source.url,
    }
    return (*_fields(product, PRODUCT_WEIGHT), *_fields(own, FIELD_WEIGHT))


def row_sets(text: SourceEvidence) -> tuple[RowSet, ...]:
    """Return the objects of structured data that are of one kind and stand in one place: each is a row."""
    groups: dict[tuple[str, str], list[_Object]] = {}
    for item in text.source.parts.structured:
        if item.format == "opengraph":
            continue
        groups.setdefault(("", item.type), []).append(_properties(item))
        for key, node in _listed_objects(_properties(item)):
            groups.setdefault((key, _text_of(node.get("@type"))), []).append(node)
    return tuple(_rows(key, kind, nodes) for (key, kind), nodes in groups.items() if kind not in _PAGES)


def lists(text: SourceEvidence) -> Iterator[tuple[frozenset[str], tuple[str, ...]]]:
    """Return the meaning of each list of the items, and its texts."""
    for item in text.source.parts.structured:
        for key, value in _properties(item).items():
            if isinstance(value, list) or key == "keywords":
                yield meanings(key), _texts(value)


def _rows(key: str, kind: str, nodes: Sequence[_Object]) -> RowSet:
    rows = tuple(tuple(_pairs(node, DATA_WEIGHT)) for node in nodes[:MAX_ROWS])
    words = meanings(kind) | (meanings(key) if key not in _CONTAINERS else frozenset[str]())
    return RowSet(rows, words, FieldOrigin.STRUCTURED_DATA, len(nodes), kind="inner" if key else "top")


def _fields(values: dict[str, str], weight: float) -> Iterator[Pair]:
    for name, value in values.items():
        if value:
            yield Pair((meanings(name),), value, FieldOrigin.PAGE_FIELD, weight, data=True)


def _properties(item: StructuredItem) -> _Object:
    return cast("_Object", item.properties)


def _texts(value: Json) -> tuple[str, ...]:
    """Return the texts of a list: those of its members, or what stands for each."""
    members = value if isinstance(value, list) else [value]
    return tuple(text for member in members if (text := _text_of(member)))


def _listed_objects(properties: _Object) -> Iterator[tuple[str, _Object]]:
    """Return the objects that stand in lists below an item, with the property that holds the list."""
    stack: list[tuple[str, Json, int, bool]] = [(key, value, 0, False) for key, value in reversed(properties.items())]
    for _ in range(MAX_NODES):
        if not stack:
            return
        key, value, depth, is_listed = stack.pop()
        if isinstance(value, list) and depth < _MAX_DEPTH:
            stack.extend((key, member, depth + 1, True) for member in reversed(value))
        elif isinstance(value, dict) and depth < _MAX_DEPTH:
            inner = value.get("item")
            if value.get("@type") == "ListItem" and isinstance(inner, dict):
                stack.append((key, inner, depth + 1, is_listed))
                continue
            if is_listed:
                yield key, value
            stack.extend((name, each, depth + 1, False) for name, each in reversed(value.items()))


def _pairs(properties: _Object, weight: float) -> Iterator[Pair]:
    """Return a pair for each value below an item, labelled by the way to it; a name also by whose it is."""
    stack: list[tuple[_Way, Json, str]] = [((), properties, "")]
    for _ in range(MAX_ITEM_PAIRS):
        if not stack:
            return
        way, value, kind = stack.pop()
        if isinstance(value, dict):
            of = _text_of(value.get("@type"))
            if len(way) < _MAX_DEPTH:
                stack.extend(((*way, name), each, of) for name, each in reversed(value.items()) if name != "@type")
            if way and way[-1] not in _CONTAINERS and (text := _text_of(value)):
                yield _pair(way, text, weight)
        elif isinstance(value, list):
            if value and isinstance(value[0], dict) and (len(value) == 1 or way[-1] in _FIRST_SPEAKS):
                stack.append((way, value[0], kind))
            elif len(way) == 1 and (texts := _flat_texts(value)):
                yield _pair(way, ", ".join(texts), weight - 0.1 * (len(texts) > 1))
        elif value is not None:
            yield _pair(way, str(value), weight, kind if way == ("name",) else "")


def _flat_texts(value: list[Json]) -> tuple[str, ...]:
    """Return the texts of a list of texts and numbers."""
    return _texts(value) if value and not isinstance(value[0], dict) else ()


def _pair(way: _Way, text: str, weight: float, kind: str = "") -> Pair:
    keys = [key for key in way if key not in _CONTAINERS] or list(way[-1:])
    last = meanings(keys[-1])
    full = frozenset[str]().union(*(meanings(key) for key in keys))
    labels = (full,) if len(keys) == 1 or last <= _OWN_ALONE else (full, last)
    if kind and kind not in _PAGES:
        labels = (*labels, meanings("company" if kind in _ORGANISATIONS else kind) | {"name"})
    return Pair(labels, text, FieldOrigin.STRUCTURED_DATA, weight - 0.01 * (len(way) - 1), data=True)


def _text_of(value: Json) -> str:
    """Return a value as a text, of an object what stands for it."""
    if isinstance(value, dict):
        return next((text for name in _STAND_INS if (text := _text_of(value.get(name)))), "")
    if isinstance(value, list):
        return _text_of(value[0]) if value else ""
    return str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
