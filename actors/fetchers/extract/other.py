"""Takes the text out of what is no HTML: JSON, feeds, XML, CSV, Markdown and plain text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal, cast

import msgspec
from lxml import etree
from msgspec import UNSET

from actors.fetchers.extract.extraction import Extraction, one_line
from actors.fetchers.extract.title import name_of
from protocol.browse import SelectorAttempt, TitleAttempt
from protocol.confidence import Source, confidence
from protocol.documents import ExtractedLink, ExtractedTable, WebObservationSummary
from protocol.faults import Code, FaultError, fault
from protocol.pages import PageEvidence
from protocol.render import Block, CodeBlock, Doc, Heading, Link, Paragraph, Text, plain, to_markdown

_Element = etree._Element  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - lxml has no public name for it
Kind = Literal["html", "json", "xml", "csv", "markdown", "text"]

_KINDS: dict[str, Kind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/json": "json",
    "text/json": "json",
    "application/x-ndjson": "text",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/javascript": "text",
    "application/x-yaml": "text",
    "application/yaml": "text",
}
_UNTOLD = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_SNIFFED_BYTES = 1_024
_BINARY = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"\x00asm",
    b"OggS",
    b"ID3",
)
_HTML = re.compile(
    rb"^\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|title|script|div|p|h1|table)\b",
    re.IGNORECASE | re.DOTALL,
)
_XHTML = re.compile(rb"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!doctype\s+html[^>]{0,300}>\s*)?<html\b", re.IGNORECASE)

_MAX_ENTRIES = 200
_MAX_ROWS = 1_000
_MAX_COLUMNS = 60
_MAX_CELL_CHARS = 1_000
_MAX_TITLE_CHARS = 300
_MAX_SUMMARY_CHARS = 1_000
_TAGS = re.compile(r"<[^<>]{0,2000}>")


def kind_of(body: bytes, content_type: str) -> Kind:
    """Tell what a body is: by its type, and by its first bytes where the type says nothing.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    head = body[:_SNIFFED_BYTES]
    if head.startswith(_BINARY):
        raise _unsupported(media_type)
    if media_type in _UNTOLD:
        return _sniffed(head, media_type)
    if kind := _KINDS.get(media_type):
        return "html" if kind == "xml" and _XHTML.match(head) else kind
    if media_type.endswith("+json"):
        return "json"
    if media_type.endswith("+xml") and not media_type.startswith("image/"):
        return "xml"
    if media_type.startswith("text/"):
        return "text"
    raise _unsupported(media_type)


def extract(kind: Kind, text: str, url: str, captured_at: datetime | None = None) -> Extraction:
    """Extract from text that is no HTML; what is not what its type says is taken as plain text."""
    if kind == "json":
        found = _json(text)
    elif kind == "xml":
        found = _xml(text)
    elif kind == "csv":
        found = _csv(text)
    elif kind == "markdown":
        found = _Found(text, Source.STRUCTURED_DATA, _first_heading(text), Source.HEURISTIC)
    else:
        found = None
    return _shaped(found or _Found(to_markdown(plain(text)), Source.SELECTOR_MATCH), text, url, captured_at)


class _Found(msgspec.Struct, frozen=True):
    markdown: str
    source: Source
    title: str = ""
    text: str = ""
    """Its words, where the body is not made of them alone."""
    title_source: Source = Source.STRUCTURED_DATA
    tables: tuple[ExtractedTable, ...] = ()
    links: tuple[ExtractedLink, ...] = ()


def _shaped(found: _Found, text: str, url: str, captured_at: datetime | None) -> Extraction:
    name, name_source = (found.title, found.title_source) if found.title else (name_of(url), Source.FALLBACK)
    words = found.text or text.strip()
    sure, length = confidence(found.source), len(words)
    whole = SelectorAttempt(
        selector=":root",
        source="verbatim",
        matched=length > 0,
        content_length=length,
        confidence_score=sure.score,
        selected=True,
    )
    place = TitleAttempt(
        source="document" if found.title else "url",
        matched=True,
        confidence_score=confidence(name_source).score,
        selected=True,
        value=name,
    )
    return Extraction(
        summary=WebObservationSummary(
            url=url,
            title=name,
            markdown=found.markdown,
            captured_at=captured_at or UNSET,
            extracted_links=found.links,
            text=words,
            tables=found.tables,
        ),
        evidence=PageEvidence(content_length=length, markup=False),
        title=confidence(name_source),
        content=sure,
        tables=tuple(confidence(found.source) for _ in found.tables),
        selectors=(whole,),
        titles=(place,),
    )


def _json(text: str) -> _Found | None:
    try:
        pretty = msgspec.json.format(text, indent=2)
        parsed: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    top = cast("dict[str, object]", parsed) if isinstance(parsed, dict) else {}
    named = next((value for key in ("title", "name", "headline") if isinstance(value := top.get(key), str)), "")
    return _Found(_fenced(pretty, "json"), Source.API_RESPONSE, one_line(named, _MAX_TITLE_CHARS))


def _csv(text: str) -> _Found | None:
    opening = text.partition("\n")[0]
    delimiter = max(",;\t|", key=opening.count)
    try:
        lines = list(islice(csv.reader(text.splitlines(), delimiter=delimiter), _MAX_ROWS + 1))
    except csv.Error:
        return None
    lines = [[one_line(cell, _MAX_CELL_CHARS) for cell in line[:_MAX_COLUMNS]] for line in lines if line]
    if len(lines) < 2:  # noqa: PLR2004 - headers alone are no table
        return None
    width = len(lines[0])
    rows = tuple(tuple((line + [""] * width)[:width]) for line in lines[1:])
    table = ExtractedTable(headers=tuple(lines[0]), rows=rows)
    return _Found(_table(table), Source.STRUCTURED_DATA, tables=(table,))


def _xml(text: str) -> _Found | None:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    try:
        # Where nothing can be recovered lxml gives None, which its types leave out.
        root = cast("_Element | None", etree.fromstring(text.encode(), parser=parser))
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None:
        return None
    if _local(root) in ("rss", "feed", "RDF"):
        return _feed(root)
    return _Found(_fenced(text.strip(), "xml"), Source.STRUCTURED_DATA)


def _feed(root: _Element) -> _Found:
    entries = list(islice(root.iter("{*}item", "{*}entry"), _MAX_ENTRIES))
    links: list[ExtractedLink] = []
    blocks: list[Block] = []
    words: list[str] = []
    for entry in entries:
        name = _child(entry, "title") or "Untitled"
        summary = _child(entry, "description", "summary", "content")[:_MAX_SUMMARY_CHARS]
        href = _feed_link(entry)
        words += filter(None, (name, summary))
        label = Text(text=name)
        blocks.append(Heading(level=2, children=(Link(href=href, children=(label,)) if href else label,)))
        blocks += [Paragraph(children=(Text(text=summary),))] if summary else []
        links += [ExtractedLink(url=href, text=name, context=summary[:200])] if href else []
    channel = next(root.iter("{*}channel"), root)
    return _Found(
        to_markdown(Doc(children=tuple(blocks))),
        Source.STRUCTURED_DATA,
        _child(channel, "title"),
        text="\n".join(words),
        links=tuple(links),
    )


def _feed_link(entry: _Element) -> str:
    for link in entry.iterchildren("{*}link"):
        href = (link.get("href") or link.text or "").strip()
        if href.startswith(("http://", "https://")) and link.get("rel", "alternate") == "alternate":
            return href
    return ""


def _child(parent: _Element, *names: str) -> str:
    for name in names:
        for child in parent.iterchildren("{*}" + name):
            words = _TAGS.sub(" ", "".join(str(part) for part in child.itertext()))
            return one_line(words, _MAX_SUMMARY_CHARS)
    return ""


def _local(element: _Element) -> str:
    return etree.QName(element).localname


def _first_heading(markdown: str) -> str:
    found = re.search(r"^#{1,6} +(\S.{0,300})$", markdown, re.MULTILINE)
    return one_line(found[1].strip("# "), _MAX_TITLE_CHARS) if found else ""


def _fenced(text: str, language: str) -> str:
    return to_markdown(Doc(children=(CodeBlock(text=text, language=language),)))


def _table(table: ExtractedTable) -> str:
    return "\n".join(_rows((table.headers, tuple("---" for _ in table.headers), *table.rows)))


def _rows(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for line in lines:
        cells = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in line)
        yield f"| {' | '.join(cells)} |"


def _sniffed(head: bytes, media_type: str) -> Kind:
    if _HTML.match(head):
        return "html"
    start = head.lstrip()[:1]
    if start in (b"{", b"["):
        return "json"
    if start == b"<":
        return "xml"
    if b"\x00" in head:
        raise _unsupported(media_type)
    return "text"


def _unsupported(media_type: str) -> FaultError:
    message = f"The address serves {media_type or 'data'}, which has no text that could be read."
    return FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message))
