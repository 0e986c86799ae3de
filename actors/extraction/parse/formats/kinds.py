"""Detects what a body is, by the type that it is served as and by its first bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct

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
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_WIDE = re.compile(r"utf-?(?:16|32)|ucs-?[24]|unicode", re.IGNORECASE)
_NOISE = bytes({*range(9), *range(14, 27), *range(28, 32), 127})
"""Bytes that no text has but by accident; one escape is a part of some encodings."""

_NOISE_CHARS = frozenset(map(chr, _NOISE))
_TAG = re.compile(r"<[^<>]{0,2000}>")
_TAGS = re.compile(rb"<(?:!doctype|/?[a-z][a-z0-9]{0,10})[\s>/]", re.IGNORECASE)
_LEAST_TAGS = 2
"""What has so many is markup, whatever else lies in between."""

_NOISE_SHARE = 0.03
"""Of random bytes a tenth are such, of the worst of real pages one in a thousand."""

_NOISED_BYTES = 4_096
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
_PROLOGUE = re.compile(
    rb"\s*(?:<!--.*?-->|<\?[^>]{0,1000}>|<!doctype[^>\[]{0,500}(?:\[[^\]]{0,10000}\]\s*)?>)", re.IGNORECASE | re.DOTALL
)
"""A part of what may stand before the first tag of a document."""

_PROLOGUE_BYTES = 65_536
_MAX_PROLOGUE = 50
_FIRST_TAG = re.compile(rb"\s*<([a-z_][\w:.-]{0,60})([^>]{0,1000})", re.IGNORECASE)
_DOCTYPE_HTML = re.compile(rb"<!doctype\s+html", re.IGNORECASE)
_SAYS_XML = re.compile(rb"<\?xml\b|<!doctype", re.IGNORECASE)
_HTML_FIRST = frozenset(
    b"a abbr address article aside b base blockquote body br button center div dl em embed fieldset figure font footer"
    b" form frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input label li link main map meta nav noscript"
    b" object ol p pre q s script section select small span strong style sub sup table tbody td template textarea th"
    b" title tr u ul video".split()
)
"""Names of a first tag that make a document HTML, unless it says that it is XML."""

_HTML_TAG = re.compile(
    rb"<(?:html|head|div|span|br|img|p|script|style|meta|ul|li|h[1-6]|iframe|input|center|font|nav|button)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""Tags that make HTML of a document whose first tag has no name of HTML."""

_MARKUP_BYTES = 65_536
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
"""What a site may say of its type to be told: a name (RFC 6838 §4.2), no sentence."""
_FEEDS = frozenset({b"rss", b"feed", b"rdf:rdf", b"urlset", b"sitemapindex"})
_JSON_LINES = re.compile(rb"^\s*\{[^\n]{0,1000}\}\s*\n\s*\{")


def kind_of(body: bytes, content_type: str) -> BodyKind:
    """Return what a body is: by its type, and by its first bytes where the type says nothing or plainly errs.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    head = body[:_SNIFFED_BYTES].removeprefix(_UTF8_MARK)
    if binary := _binary_kind(head, media_type):
        return binary
    begins = _Beginning.of(body)
    kind = _sniffed(body, begins, media_type) if media_type in _UNTOLD else _declared(media_type)
    if _is_noise(body[:_NOISED_BYTES], content_type):
        raise _unsupported(media_type)
    if kind is BodyKind.XML and begins.tag == b"html":
        return BodyKind.HTML
    if kind in (BodyKind.HTML, BodyKind.TEXT) and begins.tag in _FEEDS:
        return BodyKind.XML
    if kind in (BodyKind.XML, BodyKind.TEXT) and begins.tag == b"svg":
        return BodyKind.SVG
    return kind


def is_binary(body: bytes) -> bool:
    """Return whether a body is a PDF or an image by its first bytes."""
    return bool(_PDF_BEGINS_WITHIN.search(body, 0, _SNIFFED_BYTES) or _IMAGE.match(body))


def check_shown(text: str, content_type: str) -> None:
    """Check that what a browser shows of an answer is text.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE.
    """
    opening = _TAG.sub("", text[: 2 * _NOISED_BYTES])[:_NOISED_BYTES]
    if sum(map(_NOISE_CHARS.__contains__, opening)) > len(opening) * _NOISE_SHARE:
        raise _unsupported(content_type.partition(";")[0].strip().lower())


def _is_noise(opening: bytes, content_type: str) -> bool:
    """Return whether a body is no text, whatever it is served as."""
    if len(opening) - len(opening.translate(None, _NOISE)) <= len(opening) * _NOISE_SHARE:
        return False
    if opening.startswith(_UTF16) or _WIDE.search(content_type) or opening.count(0) * _NULLS >= len(opening):
        return False
    return len(_TAGS.findall(opening)) < _LEAST_TAGS


_NULLS = 3
"""Of a text of two bytes a letter, about half are nulls in most scripts of Europe: more than a third."""


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


class _Beginning(Struct, frozen=True):
    """What a document begins with: comments and declarations, then the name of its first tag, in lower case."""

    prologue: bytes
    tag: bytes
    attributes: bytes

    @classmethod
    def of(cls, body: bytes) -> _Beginning:
        place = len(_UTF8_MARK) if body.startswith(_UTF8_MARK) else 0
        for _ in range(_MAX_PROLOGUE):
            part = _PROLOGUE.match(body, place, _PROLOGUE_BYTES)
            if part is None:
                break
            place = part.end()
        first = _FIRST_TAG.match(body, place)
        return cls(body[:place], first[1].lower() if first else b"", first[2] if first else b"")

    def is_html(self, body: bytes) -> bool:
        if self.tag == b"html" or _DOCTYPE_HTML.search(self.prologue):
            return True
        if not self.tag or _SAYS_XML.search(self.prologue) or b"xmlns" in self.attributes or self.tag in _FEEDS:
            return False
        return self.tag in _HTML_FIRST or _HTML_TAG.search(body, 0, _MARKUP_BYTES) is not None


def _sniffed(body: bytes, begins: _Beginning, media_type: str) -> BodyKind:
    head = body[:_SNIFFED_BYTES].removeprefix(_UTF8_MARK)
    if head.startswith(_UTF16):
        return BodyKind.HTML if b"<\x00" in head else BodyKind.TEXT
    if begins.is_html(body):
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
    named = media_type if _MEDIA_TYPE.fullmatch(media_type) else "data"
    message = f"The address serves {named}, which has no text that could be read."
    return FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message))
