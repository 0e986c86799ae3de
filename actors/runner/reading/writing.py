"""Writes what is told of pages as Markdown; the words of the web stay words, and keep to their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import UNSET, UnsetType

from actors.runner.reading.told import PageItem
from protocol.render import Doc, Paragraph, Text, to_markdown

_LINE_END = re.compile(r"\r\n?|\n")
_MAX_CELL_CHARS = 300

Cell = str | float | bool | tuple[str, ...] | UnsetType | None


def words(text: str) -> str:
    """Write a text in one line, of which nothing is markup."""
    return to_markdown(Doc(children=(Paragraph(children=(Text(text=" ".join(text.split())),)),)))


def cell(value: Cell) -> str:
    """Write a value into a cell of a table."""
    match value:
        case None | UnsetType():
            return ""
        case bool():
            return "yes" if value else "no"
        case tuple():
            return "; ".join(cell(part) for part in value)
        case _:
            text = str(value)
            return words(text if len(text) <= _MAX_CELL_CHARS else f"{text[: _MAX_CELL_CHARS - 1]}…")


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def quoted(markdown: str) -> str:
    """Write Markdown that was made of a page as a quote, out of which nothing gets: neither headings nor fences."""
    lines = _LINE_END.split(markdown.strip())
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def overview(items: Iterable[PageItem]) -> str:
    """Write a table of pages, a row for each."""
    head = ("#", "URL", "Title", "Type", "Elements", "Tier", "Result")
    return table(head, (_overview(item) for item in items))


def _overview(item: PageItem) -> Sequence[Cell]:
    error = item.error
    became = "read" if error is UNSET else f"{error.code}: {error.error}"
    return (item.index + 1, item.url, item.title, item.page_type, item.element_count, item.tier, became)


def pages(items: Iterable[PageItem]) -> list[str]:
    """Write the words of pages, each below a heading of its own."""
    parts = list[str]()
    for item in items:
        if item.content:
            title, where = item.title or item.url, item.final_url or item.url
            parts += [f"## {item.index + 1}. {words(title)}", words(where), quoted(item.content)]
    return parts
