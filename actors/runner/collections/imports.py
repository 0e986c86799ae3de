"""Reads lists of addresses that other programs write: OPML, bookmarks, site maps, feeds, CSV and plain lines."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Final, NamedTuple

from turbohtml import Element, parse

from actors.extraction.parse.formats import xml_data
from protocol.collection_views import ImportFormat
from protocol.collections import MAX_SOURCES

MAX_TAGS: Final = 400_000
MAX_TITLE_CHARS: Final = 500
MAX_FIELD_CHARS: Final = 100_000
_HEAD_CHARS: Final = 2_000
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S{1,8000}", re.IGNORECASE)
_BEGINNING: Final = re.compile(
    r"[a-z][a-z0-9+.-]*:|(?:localhost|\[[0-9a-f:.]+\]|[^\s/:.]+(?:\.[^\s/:.]+)+)\.?(?=[:/?#]|$)", re.IGNORECASE
)
"""What an address of a list begins with, which may lack its scheme: a word alone is none, though it may be a host."""

_EXPECTED: Final = "give OPML, bookmarks, a site map, a feed, CSV with a column url, or one address a line"
_URL_COLUMNS: Final = ("url", "link", "href", "address", "uri", "website", "resolved_url", "loc")
_TITLE_COLUMNS: Final = ("title", "name", "resolved_title", "text", "description")
_MARKS: Final[tuple[tuple[re.Pattern[str], ImportFormat], ...]] = (
    (re.compile(r"<!doctype\s+netscape-bookmark-file|<dl>\s*<p>\s*<dt>", re.IGNORECASE), "bookmarks"),
    (re.compile(r"<opml\b", re.IGNORECASE), "opml"),
    (re.compile(r"<(?:\w+:)?urlset\b|<(?:\w+:)?sitemapindex\b", re.IGNORECASE), "sitemap"),
    (re.compile(r"<rss\b|<feed\b|<rdf:rdf\b|<channel\b", re.IGNORECASE), "feed"),
)


class ListedPage(NamedTuple):
    """An address of a list, with the title that it has there."""

    url: str
    title: str = ""


def read_list(data: bytes, form: ImportFormat = "auto") -> tuple[ListedPage, ...]:
    """Return the addresses of a list in their order, each as it stands there; large ones are read beside the loop.

    Raises:
        ValueError: it is no such list, has too much markup, or more addresses than a collection may have.
    """
    text = _decoded(data)
    if "\0" in text:
        raise ValueError(f"it is no text; {_EXPECTED}")
    if text.count("<") > MAX_TAGS:
        raise ValueError(f"it has more than {MAX_TAGS} tags")
    known = _form_of(text) if form == "auto" else form
    pages = tuple(islice(_READERS[known](text), MAX_SOURCES + 1))
    if len(pages) > MAX_SOURCES:
        raise ValueError(f"it has more than {MAX_SOURCES} addresses")
    if not pages:
        raise ValueError(f"it has no address, read as {known}; {_EXPECTED}")
    return tuple(ListedPage(page.url.strip(), " ".join(page.title.split())[:MAX_TITLE_CHARS]) for page in pages)


def is_address(text: str) -> bool:
    """Return whether an entry of a list begins as an address does."""
    return _BEGINNING.match(text) is not None


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _form_of(text: str) -> ImportFormat:
    head = text[:_HEAD_CHARS]
    for mark, form in _MARKS:
        if mark.search(head):
            return form
    if head.lstrip().startswith("<"):
        raise ValueError(f"it is neither OPML nor bookmarks, nor a site map or a feed; {_EXPECTED}")
    first = head.splitlines()[0].lower() if head.strip() else ""
    names = {name.strip(' "') for name in re.split(r"[,;\t|]", first)}
    return "csv" if len(names) > 1 or names & set(_URL_COLUMNS) else "list"


def _opml(text: str) -> Iterator[ListedPage]:
    import listparser  # noqa: PLC0415 - imports requests and lxml: costs 150 ms and 14 MB, and few lists are OPML

    # As bytes: of a text that looks like an address it would fetch that.
    read = listparser.parse(text.encode())
    for feed in (*read["feeds"], *read["opportunities"], *read["lists"]):
        yield ListedPage(str(feed["url"]), str(feed.get("title") or ""))


def _bookmarks(text: str) -> Iterator[ListedPage]:
    for link in parse(text, positions=False).select("a[href]"):
        address = str(link.attrs.get("href") or "")
        # Browsers keep scripts and pages of their own among them, too.
        if _ADDRESS.match(address):
            yield ListedPage(address, link.text)


def _site_map(text: str) -> Iterator[ListedPage]:
    root = xml_data.parsed(text)
    if root is None:
        raise ValueError("it is no XML")
    if xml_data.local(root) == "sitemapindex":
        raise ValueError("it names other site maps, and no page; give those, or crawl the site")
    for element in root.iter_elements():
        if xml_data.local(element) == "url" and (address := xml_data.child(element, "loc")):
            yield ListedPage(address)


def _feed(text: str) -> Iterator[ListedPage]:
    root = xml_data.parsed(text)
    if root is None:
        raise ValueError("it is no XML")
    for entry in root.iter_elements():
        if xml_data.local(entry) in {"item", "entry"} and (address := _entry_address(entry)):
            yield ListedPage(address, xml_data.child(entry, "title"))


def _entry_address(entry: Element) -> str:
    for element in entry.iter_elements():
        if xml_data.local(element) == "link":
            href = element.attrs.get("href")
            if href and "alternate" in (element.attrs.get("rel") or "alternate"):
                return str(href)
    return xml_data.child(entry, "link", "guid")


def _csv(text: str) -> Iterator[ListedPage]:
    csv.field_size_limit(min(MAX_FIELD_CHARS, sys.maxsize))
    first = text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        yield from _rows(rows)
    except csv.Error as error:
        raise ValueError(f"it is no CSV: {error}") from None


def _rows(rows: Iterator[Sequence[str]]) -> Iterator[ListedPage]:
    nothing: Sequence[str] = ()
    header = next(rows, nothing)
    names = [name.strip().lower() for name in header]
    url = next((names.index(name) for name in _URL_COLUMNS if name in names), None)
    title = next((names.index(name) for name in _TITLE_COLUMNS if name in names), None)
    for row in rows if url is not None else chain((header,), rows):
        if url is None:
            place = next((number for number, cell in enumerate(row) if _ADDRESS.fullmatch(cell.strip())), None)
            others = [cell for number, cell in enumerate(row) if number != place and cell.strip()]
            if place is not None:
                yield ListedPage(row[place], others[0] if others else "")
        elif url < len(row) and row[url].strip():
            yield ListedPage(row[url], row[title] if title is not None and title < len(row) else "")


def _lines(text: str) -> Iterator[ListedPage]:
    numbered = ((number, line.split(None, 1)) for number, line in enumerate(text.splitlines(), 1))
    rows = [(number, words) for number, words in numbered if words and not words[0].startswith("#")]
    wrong = [number for number, words in rows if not is_address(words[0])]
    if 2 * len(wrong) > len(rows):
        raise ValueError(f"it is no list of addresses: line {wrong[0]} begins with none; {_EXPECTED}")
    for _, words in rows:
        yield ListedPage(*words)


_READERS: Final[Mapping[ImportFormat, Callable[[str], Iterator[ListedPage]]]] = MappingProxyType(
    {"opml": _opml, "bookmarks": _bookmarks, "sitemap": _site_map, "feed": _feed, "csv": _csv, "list": _lines}
)
