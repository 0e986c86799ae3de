"""Detects what a body is, by the type that it is served as and by its first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from protocol.faults import Code, FaultError, fault


class BodyKind(StrEnum):
    """What can be read."""

    HTML = "html"
    JSON = "json"
    NDJSON = "ndjson"
    XML = "xml"
    CSV = "csv"
    MARKDOWN = "markdown"
    TEXT = "text"
    SVG = "svg"
    PDF = "pdf"
    IMAGE = "image"


BINARY = frozenset({BodyKind.PDF, BodyKind.IMAGE})
"""What is no text, and is read by a library in C."""

_KINDS: Mapping[str, BodyKind] = MappingProxyType(
    {
        "text/html": BodyKind.HTML,
        "application/xhtml+xml": BodyKind.HTML,
        "application/json": BodyKind.JSON,
        "text/json": BodyKind.JSON,
        "text/x-json": BodyKind.JSON,
        "application/x-ndjson": BodyKind.NDJSON,
        "application/ndjson": BodyKind.NDJSON,
        "application/jsonl": BodyKind.NDJSON,
        "application/x-jsonlines": BodyKind.NDJSON,
        "application/json-seq": BodyKind.NDJSON,
        "application/xml": BodyKind.XML,
        "text/xml": BodyKind.XML,
        "text/csv": BodyKind.CSV,
        "application/csv": BodyKind.CSV,
        "text/tab-separated-values": BodyKind.CSV,
        "text/markdown": BodyKind.MARKDOWN,
        "text/x-markdown": BodyKind.MARKDOWN,
        "image/svg+xml": BodyKind.SVG,
        "application/javascript": BodyKind.TEXT,
        "application/x-javascript": BodyKind.TEXT,
        "application/x-yaml": BodyKind.TEXT,
        "application/yaml": BodyKind.TEXT,
        "application/toml": BodyKind.TEXT,
        "application/x-sh": BodyKind.TEXT,
        "application/graphql": BodyKind.TEXT,
        "application/sql": BodyKind.TEXT,
    }
)
_UNTOLD = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_SNIFFED_BYTES = 1_024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_PDF = re.compile(rb"\s{0,100}%PDF-")
_PDF_BEGINS_WITHIN = re.compile(rb"%PDF-\d")
_IMAGE = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|.{4}ftypavi[fs]|BM.{12}[\x0c\x28\x38\x40\x6c\x7c]\x00\x00\x00|"
    rb"II\*\x00|MM\x00\*|\x00\x00[\x01\x02]\x00.{2}.{16}",
    re.DOTALL,
)
_BINARY = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"RIFF", b"\x00asm", b"OggS", b"ID3"),
    *(b"\x7fELF", b"\xd0\xcf\x11\xe0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"BZh", b"\xfd7zXZ", b"wOFF", b"wOF2"),
    *(b"SQLite format 3", b"\x1aE\xdf\xa3"),
)
_HTML = re.compile(
    rb"^\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|title|script|div|p|h1|table)\b",
    re.IGNORECASE | re.DOTALL,
)
_XHTML = re.compile(rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!doctype\s+html[^>]{0,300}>\s*)?<html\b", re.IGNORECASE)
_SVG = re.compile(
    rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)?(?:<!doctype\s+svg[^>]{0,300}>\s*)?<svg[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_FEED = re.compile(rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?<(?:rss|feed|rdf:RDF|urlset|sitemapindex)\b")
_JSON_LINES = re.compile(rb"^\s*\{[^\n]{0,1000}\}\s*\n\s*\{")


def kind_of(body: bytes, content_type: str) -> BodyKind:
    """Return what a body is: by its type, and by its first bytes where the type says nothing or plainly errs.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    head = body[:_SNIFFED_BYTES].removeprefix(b"\xef\xbb\xbf")
    if binary := _binary_kind(head, media_type):
        return binary
    kind = _sniffed(head, media_type) if media_type in _UNTOLD else _declared(media_type)
    if kind is BodyKind.XML and _XHTML.match(head):
        return BodyKind.HTML
    if kind in (BodyKind.HTML, BodyKind.TEXT) and _FEED.match(head):
        return BodyKind.XML
    if kind in (BodyKind.XML, BodyKind.TEXT) and _SVG.match(head):
        return BodyKind.SVG
    return kind


def is_binary(body: bytes) -> bool:
    """Return whether a body is a PDF or an image by its first bytes."""
    return bool(_PDF_BEGINS_WITHIN.search(body, 0, _SNIFFED_BYTES) or _IMAGE.match(body))


def _binary_kind(head: bytes, media_type: str) -> BodyKind | None:
    """Return what a body that is no text is, whatever type it is served as."""
    said_pdf = media_type == "application/pdf" and _PDF_BEGINS_WITHIN.search(head)  # as readers do: rubbish may precede
    if _PDF.match(head) or said_pdf:
        return BodyKind.PDF
    if _IMAGE.match(head):
        return BodyKind.IMAGE
    if head.startswith(_BINARY):
        raise _unsupported(media_type)
    return None


def _declared(media_type: str) -> BodyKind:
    if kind := _KINDS.get(media_type):
        return kind
    if media_type.endswith("+json"):
        return BodyKind.JSON
    if media_type.endswith("+xml") and not media_type.startswith("image/"):
        return BodyKind.XML
    if media_type.startswith("text/"):
        return BodyKind.TEXT
    raise _unsupported(media_type)


def _sniffed(head: bytes, media_type: str) -> BodyKind:
    if head.startswith(_UTF16):
        return BodyKind.HTML if b"<\x00" in head else BodyKind.TEXT
    if _HTML.match(head):
        return BodyKind.HTML
    if _JSON_LINES.match(head):
        return BodyKind.NDJSON
    start = head.lstrip()[:1]
    if start in (b"{", b"["):
        return BodyKind.JSON
    if start == b"<":
        return BodyKind.XML
    if b"\x00" in head:
        raise _unsupported(media_type)
    return BodyKind.TEXT


def _unsupported(media_type: str) -> FaultError:
    message = f"The address serves {media_type or 'data'}, which has no text that could be read."
    return FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message))
