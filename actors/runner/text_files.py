"""Writes a kept text as a file: Markdown, plain text, JSON, CSV, or the page that is printed as a PDF; pure."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from actors.markdown.plain_lines import LineKind, inline, plain_lines
from actors.markdown.plain_text import plain_text
from actors.markdown.tables import MarkdownTable, tables
from actors.runner.exports import defused
from actors.safe_html import html_page
from actors.text_citations import with_citations
from protocol.browse import stated_version
from protocol.codec import encode
from protocol.collection_views import TextInfo
from protocol.packets import Citation

Format = Literal["markdown", "text", "json", "csv", "pdf"]

ENDINGS: Final = MappingProxyType({"markdown": ".md", "text": ".txt", "json": ".json", "csv": ".csv", "pdf": ".pdf"})
MEDIA_TYPES: Final = MappingProxyType(
    {
        "markdown": "text/markdown",
        "text": "text/plain",
        "json": "application/json",
        "csv": "text/csv",
        "pdf": "application/pdf",
    }
)

_CELLS: Final = re.compile(r"(?<!\\)\|")
_BOM: Final = "\ufeff"
"""By which spreadsheets know UTF-8."""


class SharedSource(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A source that a text cites."""

    source_id: str = ""
    url: str = ""


class SharedText(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A kept text as JSON; times in ms since the epoch."""

    id: str
    type: str
    title: str
    markdown: str
    created_at: int
    updated_at: int
    collection_id: str = ""
    tags: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: tuple[SharedSource, ...] = ()
    schema_version: str = stated_version()


def as_file(info: TextInfo, form: Literal["markdown", "text", "json", "csv"]) -> bytes:
    """Return a text as a file of that format."""
    match form:
        case "markdown":
            return with_citations(info).encode(errors="replace")
        case "text":
            return f"{plain_text(with_citations(info))}\n".encode(errors="replace")
        case "json":
            return encode(_shared(info))
        case "csv":
            return as_csv(info).encode(errors="replace")


def as_page(info: TextInfo) -> str:
    """Return a text as a page of HTML that loads nothing and runs nothing."""
    return html_page(info.title, with_citations(info))


def as_csv(info: TextInfo) -> str:
    """Return the tables of a text, an empty line between them; a text without any as its lines below their headings."""
    grids = tables(info.content_markdown)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if not grids:
        writer.writerow(["section", "text"])
        writer.writerows([defused(cell) for cell in row] for row in _lines(info.content_markdown))
    for number, table in enumerate(grids):
        if number:
            writer.writerow([])
        writer.writerows([defused(cell) for cell in row] for row in _rows(info.content_markdown, table))
    return _BOM + out.getvalue()


def _shared(info: TextInfo) -> SharedText:
    pairs = dict.fromkeys(
        (one.source_id if isinstance(one.source_id, str) else "", one.url if isinstance(one.url, str) else "")
        for one in info.citations
    )
    return SharedText(
        id=info.id,
        type=info.type,
        title=info.title,
        markdown=info.content_markdown,
        created_at=info.created_at,
        updated_at=info.updated_at,
        collection_id=info.collection_id,
        tags=info.tags,
        citations=info.citations,
        sources=tuple(SharedSource(source_id=source, url=url) for source, url in pairs),
    )


def _rows(markdown: str, table: MarkdownTable) -> Iterator[Sequence[str]]:
    """Yield the head of a table and its rows."""
    lines = [table.head.split("\n", 1)[0]]
    lines += [markdown[start : table.place(number + 1)] for number, start in enumerate(table.rows, 1)]
    for line in lines:
        yield [inline(cell.strip()) for cell in _CELLS.split(line.strip().removeprefix("|").removesuffix("|"))]


def _lines(markdown: str) -> Iterator[Sequence[str]]:
    section = ""
    for line in plain_lines(markdown):
        if line.kind is LineKind.HEADING:
            section = line.text
        else:
            yield [section, line.text]
