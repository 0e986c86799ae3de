"""Normalises structured data of every notation to the names of schema.org, and bounds its size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from turbohtml.extract import MicrodataItem, RdfaItem

from actors.extraction.evidence.json_values import Json
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.text import clean

MAX_DEPTH = 6
MAX_VALUES = 50
"""How many values of one property are kept."""

MAX_TEXT_CHARS = 2_000
"""How long a text may be: an article's body stands in the content."""

MAX_TOTAL_CHARS = 60_000
"""How much all items of one page may hold."""

_VOCABULARY = re.compile(r"^(?:https?:)?//(?:www\.)?schema\.org/|^schema:|^https?://(?:rdf\.)?data-vocabulary\.org/#?")
_ADDRESSES = frozenset(
    {"url", "image", "logo", "thumbnailUrl", "contentUrl", "embedUrl", "mainEntityOfPage", "item", "primaryImageOfPage"}
)

OPEN_GRAPH_TYPES = {
    "article": "Article",
    "blog": "Blog",
    "book": "Book",
    "event": "Event",
    "movie": "Movie",
    "music.album": "MusicAlbum",
    "music.song": "MusicRecording",
    "place": "Place",
    "product": "Product",
    "product.item": "Product",
    "og:product": "Product",
    "profile": "ProfilePage",
    "video.episode": "TVEpisode",
    "video.movie": "Movie",
    "video.other": "VideoObject",
    "video": "VideoObject",
    "website": "WebSite",
}

_OPEN_GRAPH_NAMES = {
    "og:title": "name",
    "og:description": "description",
    "og:image": "image",
    "og:image:secure_url": "image",
    "og:url": "url",
    "og:locale": "inLanguage",
    "article:published_time": "datePublished",
    "article:modified_time": "dateModified",
    "og:updated_time": "dateModified",
    "article:author": "author",
    "article:section": "articleSection",
    "article:tag": "keywords",
    "book:author": "author",
    "book:isbn": "isbn",
    "product:brand": "brand",
    "product:retailer_item_id": "sku",
    "product:mfr_part_no": "mpn",
    "product:ean": "gtin",
    "product:condition": "itemCondition",
}
_OFFER_NAMES = {
    "product:price:amount": "price",
    "og:price:amount": "price",
    "product:price:currency": "priceCurrency",
    "og:price:currency": "priceCurrency",
    "product:availability": "availability",
    "og:availability": "availability",
}


def name(term: str) -> str:
    """Return a type or property without the address of its vocabulary."""
    term = _VOCABULARY.sub("", term.strip())
    return term.rpartition("/")[2].rpartition("#")[2] if "://" in term else term


def types(node: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the types of an object of linked data."""
    declared = node.get("@type") or node.get("type")
    listed = declared if isinstance(declared, list) else [declared]
    return tuple(name(item) for item in listed[:8] if isinstance(item, str) and item)


def of_microdata(item: MicrodataItem) -> dict[str, Json]:
    """Write an item of microdata as linked data."""
    return _object((item.type or "").split(), item.properties, 0)


def of_rdfa(item: RdfaItem) -> dict[str, Json]:
    """Write a resource of RDFa as linked data."""
    return _object(item.type, item.properties, 0)


def of_open_graph(properties: Iterable[tuple[str, str]]) -> dict[str, Json]:
    """Write the properties of Open Graph as linked data; empty when the page has none but for its type."""
    node: dict[str, Json] = {}
    offer: dict[str, Json] = {}
    kind = "WebPage"
    for property_name, value in properties:
        if property_name == "og:type":
            kind = OPEN_GRAPH_TYPES.get(value.lower(), "WebPage")
        elif property_name == "og:site_name":
            node.setdefault("isPartOf", {"@type": "WebSite", "name": value})
        elif property_name in _OPEN_GRAPH_NAMES:
            node.setdefault(_OPEN_GRAPH_NAMES[property_name], value)
        elif property_name in _OFFER_NAMES:
            offer.setdefault(_OFFER_NAMES[property_name], value)
    if offer:
        node["offers"] = {"@type": "Offer", **offer}
    return {"@type": kind, **node} if node else {}


@dataclass
class Normaliser:
    """Normalises the objects of one page: it holds what they refer to, and how much of them may still be written."""

    base: str
    by_id: Mapping[str, dict[str, Json]]
    characters_left: int = MAX_TOTAL_CHARS

    def properties(self, node: Mapping[str, Json]) -> dict[str, Json]:
        """Return the properties of an object, its references resolved as far as circles and size allow."""
        return self._object(node, 0, frozenset({id(node)}))

    def _object(self, node: Mapping[str, Json], depth: int, above: frozenset[int]) -> dict[str, Json]:
        written: dict[str, Json] = {}
        if depth and (kinds := types(node)):
            written["@type"] = kinds[0]
        for key, value in node.items():
            if key in {"@context", "@type", "@graph", "@id"} or self.characters_left <= 0:
                continue
            self.characters_left -= len(key)
            normal = self._value(name(key), value, depth, above)
            if normal is not None and normal not in ("", [], {}):
                written[clean(name(key))] = normal
        return written

    def _value(self, key: str, value: Json, depth: int, above: frozenset[int]) -> Json:
        match value:
            case str():
                return self._text(key, value)
            case list():
                normalised = (
                    self._value(key, item, depth, above) for item in value[:MAX_VALUES] if not isinstance(item, list)
                )
                values: list[Json] = [item for item in normalised if item is not None]
                return values[0] if len(values) == 1 else values
            case {"@value": inner}:
                return self._value(key, inner, depth, above) if not isinstance(inner, (dict, list)) else None
            case {"@list": list() as inner}:
                return self._value(key, inner, depth + 1, above) if depth < MAX_DEPTH else None
            case dict():
                return self._inner(value, depth, above)
            case _:
                return value

    def _inner(self, value: dict[str, Json], depth: int, above: frozenset[int]) -> Json:
        reference = value.get("@id")
        if isinstance(reference, str) and len(value) <= 1 + ("@type" in value):
            target = self.by_id.get(reference)
            if target is None or id(target) in above:
                return reference
            value = target
        if depth >= MAX_DEPTH or id(value) in above:
            return None
        return self._object(value, depth + 1, above | {id(value)})

    def _text(self, key: str, text: str) -> str:
        text = clean(text).strip()[:MAX_TEXT_CHARS]
        self.characters_left -= len(text)
        if key in _ADDRESSES and self.base and text and "://" not in text[:12] and " " not in text:
            return _joined(self.base, text)
        return _VOCABULARY.sub("", text) if text.startswith(("http://schema.org/", "https://schema.org/")) else text


def _object(kinds: list[str], properties: Mapping[str, Iterable[object]], depth: int) -> dict[str, Json]:
    written: dict[str, Json] = {}
    if kinds:
        named = [name(kind) for kind in kinds]
        written["@type"] = named[0] if len(named) == 1 else list(named)
    for key, values in properties.items():
        written_values = [_value(value, depth) for value in values]
        if written_values:
            written[name(key)] = written_values[0] if len(written_values) == 1 else written_values
    return written


def _value(value: object, depth: int) -> Json:
    match value:
        case MicrodataItem() if depth < MAX_DEPTH:
            return _object((value.type or "").split(), value.properties, depth + 1)
        case RdfaItem() if depth < MAX_DEPTH:
            return _object(value.type, value.properties, depth + 1)
        case str():
            return " ".join(value.split())
        case _:
            return None


def _joined(base: str, address: str) -> str:
    return absolute(base, address) or address
