"""Reads data tables as grids without spans; tables that only lay a page out are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from msgspec import UNSET
from turbohtml import Element

from actors.extraction.decide.content.content import Content
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select import headers, layout, spans
from actors.extraction.select.headers import Mark, Row
from actors.extraction.select.words import words
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedTable

MAX_TABLES = 200
MAX_CELL_CHARS = 2_000
MAX_SLOTS = 200_000
"""What all tables of a page may fill together; the table that goes beyond it is the last one, and cut."""

_MAX_ALT_CHARS = 200
_MAX_PICTURES = 5
_FILE_NAME = re.compile(r"\.(?:svg|png|jpe?g|gif|webp|avif)\s*$", re.IGNORECASE)
_PICTURES = "img,[role=img]"
_TABLES = "table,[role=table],[role=grid],[role=treegrid]"

_SCORES: Mapping[Mark, tuple[Source, float]] = MappingProxyType(
    {
        Mark.HEAD: (Source.SELECTOR_MATCH, 0.96),
        Mark.KEYS: (Source.SELECTOR_MATCH, 0.95),
        Mark.CELLS: (Source.SELECTOR_MATCH, 0.93),
        Mark.LOOKS: (Source.HEURISTIC, 0.9),
        Mark.TYPES: (Source.HEURISTIC, 0.85),
        Mark.CORNER: (Source.HEURISTIC, 0.8),
        Mark.NONE: (Source.HEURISTIC, 0.8),
    }
)
"""How sure a table is by what marks its headers: the share that a person who looked at 126 tables of the pages that the
extraction is measured on would draw the same, drawn towards the middle where a kind is rare."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grid:
    """A data table as a grid: each of the `rows` has as many slots, each slot the cell that covers it, or None.

    A cell that spans several slots stands in each of them. `texts` is parallel to `rows`. The first `header_rows` of
    the rows are headers, and `headers` their texts joined top-down, one for each column ("" for a column without one;
    so are all of them where `header_rows` is 0: a table of keys and values says no name for either column).
    `caption` is the text of the caption and of first rows that say one thing over the whole width; such rows, and
    rows and columns without any text, are not among `rows`. `mark` tells by what the headers are known.
    """

    rows: tuple[spans.Slots, ...]
    texts: tuple[tuple[str, ...], ...]
    header_rows: int
    headers: tuple[str, ...]
    caption: str
    mark: Mark


def tables(page: Page, content: Content) -> list[tuple[ExtractedTable, Confidence]]:
    """Return the data tables of the main content, whole, each with how sure its shape is."""
    found: list[tuple[ExtractedTable, Confidence]] = []
    left = MAX_SLOTS
    for read in islice(_grids(page, content), MAX_TABLES):
        width = len(read.headers)
        rows = read.texts[read.header_rows : read.header_rows + left // width]
        if not rows:
            break
        left -= len(rows) * width
        source, score = _SCORES[read.mark]
        table = ExtractedTable(headers=read.headers, rows=rows, caption=read.caption or UNSET)
        found.append((table, confidence(source, score)))
    return found


def grid(table: Element, hidden: Mapping[Element, Hiding]) -> Grid | None:
    """Resolve the spans of a table (`<table>`, or an element of role table or grid); None where it is only layout."""
    if layout.is_layout(table):
        return None
    rows = _without_gaps(_rows(table, hidden))
    titles = headers.titles(rows)
    if titles:
        rows = _without_gaps(rows[len(titles) :])
    if len(rows) < 2 or len(rows[0].slots) < 2:  # noqa: PLR2004 - one row or one column is no table
        return None
    header_rows, mark = headers.count(rows)
    if header_rows == 1:
        rows = _aligned(rows)
    if layout.lays_out(rows, mark):
        return None
    names = headers.joined(rows[:header_rows], len(rows[0].slots))
    body = headers.unlabelled(_without_repeats(rows, header_rows), names)
    rows = rows[:header_rows] + body
    return Grid(
        rows=tuple(row.slots for row in rows),
        texts=tuple(row.texts for row in rows),
        header_rows=header_rows,
        headers=names,
        caption=" ".join(dict.fromkeys(filter(None, (_caption(table, hidden), *titles)))),
        mark=mark,
    )


def _grids(page: Page, content: Content) -> Iterator[Grid]:
    inside: set[Element] = set()
    for element in page.root.select(_TABLES):
        if element not in content.holders or element in inside:
            continue
        if (read := grid(element, page.hidden)) is not None:
            inside.update(element.select(_TABLES))
            yield read


def _rows(table: Element, hidden: Mapping[Element, Hiding]) -> list[Row]:
    texts: dict[Element | None, str] = {None: ""}
    rows: list[Row] = []
    for line in spans.lines(table, hidden):
        for cell in line.slots:
            if cell is not None and cell not in texts:
                texts[cell] = words(cell, hidden, MAX_CELL_CHARS) or _pictured(cell)
        rows.append(Row(line.slots, tuple([texts[cell] for cell in line.slots]), line.head))
    return rows


def _without_gaps(rows: list[Row]) -> list[Row]:
    """Leave out rows and columns in which nothing stands, and columns in which no cell begins any more."""
    rows = [row for row in rows if any(row.texts)]
    if not rows:
        return rows
    width = len(rows[0].slots)
    kept = [column for column in range(width) if any(row.texts[column] for row in rows)]
    if len(kept) == width:
        return rows
    return [Row(_picked(row.slots, kept), _picked(row.texts, kept), row.head) for row in rows]


def _aligned(rows: list[Row]) -> list[Row]:
    """Take cells without text out of the header where all rows below are short of as many cells."""
    width, empty = len(rows[0].slots), [column for column, text in enumerate(rows[0].texts) if not text]
    short = min(row.slots[::-1].index(next(filter(None, row.slots[::-1]))) for row in rows[1:])
    if not 0 < short <= len(empty) or rows[0].slots[-1] is None:
        return rows
    kept = [column for column in range(width) if column not in empty[:short]]
    header = Row(_picked(rows[0].slots, kept), _picked(rows[0].texts, kept), rows[0].head)
    return [header, *(Row(row.slots[:-short], row.texts[:-short], row.head) for row in rows[1:])]


def _without_repeats(rows: list[Row], header_rows: int) -> list[Row]:
    """Return the rows below the headers without those that say the headers once more (in the foot, on every page)."""
    said = {row.texts for row in rows[:header_rows]}
    body = [row for row in rows[header_rows:] if row.texts not in said]
    return body or rows[header_rows:]


def _picked(values: tuple[T, ...], kept: list[int]) -> tuple[T, ...]:
    return tuple([values[column] for column in kept])


def _pictured(cell: Element) -> str:
    """Return the names of the pictures in a cell that has no text."""
    names = (picture.attr("alt") or picture.attr("aria-label") or "" for picture in cell.select(_PICTURES))
    told = (name for name in names if name.strip() and _FILE_NAME.search(name) is None)
    return one_line(" ".join(islice(told, _MAX_PICTURES)), _MAX_ALT_CHARS)


def _caption(table: Element, hidden: Mapping[Element, Hiding]) -> str:
    if table.tag != "table":
        return one_line(table.attr("aria-label") or "", _MAX_ALT_CHARS)
    captions = (child for child in table.children if isinstance(child, Element) and child.tag == "caption")
    return next((words(caption, hidden, MAX_CELL_CHARS) for caption in captions), "")
