"""Reads the addresses of a site from its site maps, its feeds and lists: XML of sitemaps.org or text, packed or not."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct
from turbohtml import Element

from actors.extraction.parse.formats import xml_data
from actors.runner.crawling.frontier import FoundAddress

MAX_FILE_BYTES: Final = 52_428_800
"""A site map at most, unpacked (sitemaps.org: 50 MB)."""

MAX_ADDRESSES: Final = 50_000
MAX_FILES: Final = 50
MAX_TAGS: Final = 1_000_000
"""Tags of a site map at most, as of any page: each takes up to 800 bytes."""

_PACKED: Final = b"\x1f\x8b"
_ADDRESS: Final = re.compile(r"https?://\S{1,2000}")
_GZIP: Final = 31
_HEAD: Final = 512


class SiteMap(Struct, frozen=True):
    """What a file says: pages, and further site maps, those that changed last first."""

    pages: tuple[FoundAddress, ...] = ()
    maps: tuple[FoundAddress, ...] = ()


def read_site_map(body: bytes, url: str) -> SiteMap:
    """Read a site map, whatever its form; nothing of what is none, and no entity is ever expanded.

    Files of 50,000 addresses take about a second: call it beside the loop.
    """
    text = _unpacked(body).decode("utf-8-sig", "replace").strip()
    if not text.startswith("<"):
        lines = islice((line.strip() for line in text.splitlines()), MAX_ADDRESSES)
        return SiteMap(pages=tuple(FoundAddress(url=line) for line in lines if _ADDRESS.fullmatch(line)))
    is_page = "<html" in text[:_HEAD].lower()
    root = None if is_page or text.count("<") > MAX_TAGS else xml_data.parsed(text)
    if root is None:
        return SiteMap()
    match xml_data.local(root):
        case "urlset":
            return SiteMap(pages=tuple(islice(_entries(root, "url"), MAX_ADDRESSES)))
        case "sitemapindex":
            maps = sorted(_entries(root, "sitemap"), key=lambda one: one.last_modified, reverse=True)
            return SiteMap(maps=tuple(maps[:MAX_FILES]))
        case "rss" | "feed" | "RDF":
            document = xml_data.read(text, url)
            links = document.links if document is not None else ()
            return SiteMap(pages=tuple(FoundAddress(url=link.url) for link in links))
        case _:
            return SiteMap()


def _entries(root: Element, name: str) -> Iterator[FoundAddress]:
    for entry in root.children:
        if isinstance(entry, Element) and xml_data.local(entry) == name:
            place = xml_data.child(entry, "loc")
            if _ADDRESS.fullmatch(place):
                yield FoundAddress(url=place, last_modified=xml_data.child(entry, "lastmod")[:32])


def _unpacked(body: bytes) -> bytes:
    """Unpack a file, which may be packed to a thousandth: no more is read of it than a site map may have."""
    if not body.startswith(_PACKED):
        return body[:MAX_FILE_BYTES]
    try:
        return zlib.decompressobj(_GZIP).decompress(body, MAX_FILE_BYTES)
    except zlib.error:
        return b""
