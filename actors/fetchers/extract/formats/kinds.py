"""Tells what a body is, by the type that it is served as and by its first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from protocol.faults import Code, FaultError, fault


class Kind(StrEnum):
    """What can be read."""

    HTML = "html"
    JSON = "json"
    NDJSON = "ndjson"
    XML = "xml"
    CSV = "csv"
    MARKDOWN = "markdown"
    TEXT = "text"


_KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "text/html": Kind.HTML,
        "application/xhtml+xml": Kind.HTML,
        "application/json": Kind.JSON,
        "text/json": Kind.JSON,
        "text/x-json": Kind.JSON,
        "application/x-ndjson": Kind.NDJSON,
        "application/ndjson": Kind.NDJSON,
        "application/jsonl": Kind.NDJSON,
        "application/x-jsonlines": Kind.NDJSON,
        "application/json-seq": Kind.NDJSON,
        "application/xml": Kind.XML,
        "text/xml": Kind.XML,
        "text/csv": Kind.CSV,
        "application/csv": Kind.CSV,
        "text/tab-separated-values": Kind.CSV,
        "text/markdown": Kind.MARKDOWN,
        "text/x-markdown": Kind.MARKDOWN,
        "application/javascript": Kind.TEXT,
        "application/x-javascript": Kind.TEXT,
        "application/x-yaml": Kind.TEXT,
        "application/yaml": Kind.TEXT,
        "application/toml": Kind.TEXT,
        "application/x-sh": Kind.TEXT,
        "application/graphql": Kind.TEXT,
        "application/sql": Kind.TEXT,
    }
)
_UNTOLD = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_SNIFFED_BYTES = 1_024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BINARY = (
    *(b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"\x00asm", b"OggS", b"ID3"),
    *(b"\x7fELF", b"\xd0\xcf\x11\xe0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"BZh", b"\xfd7zXZ", b"wOFF", b"wOF2"),
    *(b"SQLite format 3", b"\x1aE\xdf\xa3"),
)
_HTML = re.compile(
    rb"^\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|title|script|div|p|h1|table)\b",
    re.IGNORECASE | re.DOTALL,
)
_XHTML = re.compile(rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!doctype\s+html[^>]{0,300}>\s*)?<html\b", re.IGNORECASE)
_FEED = re.compile(rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(?:rss|feed|rdf:RDF|urlset|sitemapindex)\b")
_JSON_LINES = re.compile(rb"^\s*\{[^\n]{0,1000}\}\s*\n\s*\{")


def kind_of(body: bytes, content_type: str) -> Kind:
    """Tell what a body is: by its type, and by its first bytes where the type says nothing or plainly errs.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    head = body[:_SNIFFED_BYTES].removeprefix(b"\xef\xbb\xbf")
    if head.startswith(_BINARY):
        raise _unsupported(media_type)
    kind = _sniffed(head, media_type) if media_type in _UNTOLD else _told(media_type)
    if kind is Kind.XML and _XHTML.match(head):
        return Kind.HTML
    if kind in (Kind.HTML, Kind.TEXT) and _FEED.match(head):
        return Kind.XML
    return kind


def _told(media_type: str) -> Kind:
    if kind := _KINDS.get(media_type):
        return kind
    if media_type.endswith("+json"):
        return Kind.JSON
    if media_type.endswith("+xml") and not media_type.startswith("image/"):
        return Kind.XML
    if media_type.startswith("text/"):
        return Kind.TEXT
    raise _unsupported(media_type)


def _sniffed(head: bytes, media_type: str) -> Kind:
    if head.startswith(_UTF16):
        return Kind.HTML if b"<\x00" in head else Kind.TEXT
    if _HTML.match(head):
        return Kind.HTML
    if _JSON_LINES.match(head):
        return Kind.NDJSON
    start = head.lstrip()[:1]
    if start in (b"{", b"["):
        return Kind.JSON
    if start == b"<":
        return Kind.XML
    if b"\x00" in head:
        raise _unsupported(media_type)
    return Kind.TEXT


def _unsupported(media_type: str) -> FaultError:
    message = f"The address serves {media_type or 'data'}, which has no text that could be read."
    return FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message))
