"""Reads data tables out of a tree; tables that only lay a page out are left alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lxml.html import HtmlElement
from msgspec import UNSET

from actors.fetchers.extract.dom import text_of
from actors.fetchers.extract.extraction import one_line
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedTable

_MAX_TABLES = 50
_MAX_ROWS = 1_000
_MAX_COLUMNS = 60
_MAX_CELL_CHARS = 1_000
_MAX_SPAN = 1_000

Grid = list[list[str]]


def tables(root: HtmlElement) -> tuple[tuple[ExtractedTable, ...], tuple[Confidence, ...]]:
    """Read every data table, with how sure it is: marked headers are sure, a first row taken for one is a guess."""
    found: list[ExtractedTable] = []
    sure: list[Confidence] = []
    for element in root.iter("table"):
        if len(found) == _MAX_TABLES:
            break
        if (read := _read(element)) is not None:
            table, marked = read
            found.append(table)
            sure.append(confidence(Source.SELECTOR_MATCH if marked else Source.HEURISTIC))
    return tuple(found), tuple(sure)


def _read(table: HtmlElement) -> tuple[ExtractedTable, bool] | None:
    if next(table.iterdescendants("table"), None) is not None or table.get("role") in ("presentation", "none"):
        return None
    rows = list(islice(_rows(table), _MAX_ROWS))
    grid = _grid(rows)
    width = max((len(line) for line in grid), default=0)
    if width < 2 or len(grid) < 2:  # noqa: PLR2004 - one column or one row is no table
        return None
    grid = [line + [""] * (width - len(line)) for line in grid]
    leading = _header_rows(rows)
    count = max(leading, 1)
    caption = next(table.iterchildren("caption"), None)
    return ExtractedTable(
        headers=tuple(_joined(grid[:count], column) for column in range(width)),
        rows=tuple(tuple(line) for line in grid[count:]),
        caption=one_line(text_of(caption), _MAX_CELL_CHARS) if caption is not None else UNSET,
    ), leading > 0


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """Give the rows in the order of a reader: head, bodies, foot."""
    order = {"thead": 0, "tfoot": 2}
    for group in sorted(
        table.iterchildren("thead", "tbody", "tfoot", "tr"), key=lambda part: order.get(str(part.tag), 1)
    ):
        if group.tag == "tr":
            yield group
        else:
            yield from group.iterchildren("tr")


def _grid(rows: list[HtmlElement]) -> Grid:
    grid: Grid = []
    hanging: dict[int, tuple[int, str]] = {}  # column -> rows still to fill, and with what
    for row in rows:
        line: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _fill(line, hanging)
            text = one_line(text_of(cell), _MAX_CELL_CHARS)
            for _ in range(min(_span(cell, "colspan"), _MAX_COLUMNS - len(line))):
                if (down := _span(cell, "rowspan") - 1) > 0:
                    hanging[len(line)] = (down, text)
                line.append(text)
        _fill(line, hanging)
        grid.append(line)
    return grid


def _fill(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while (held := hanging.pop(len(line), None)) is not None:
        left, text = held
        if left > 1:
            hanging[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(int(value), 1), _MAX_SPAN) if value.isascii() and value.isdigit() else 1


def _header_rows(rows: list[HtmlElement]) -> int:
    count = 0
    for row in rows[:-1]:
        cells = list(row.iterchildren("td", "th"))
        parent = row.getparent()
        in_head = parent is not None and parent.tag == "thead"
        if not in_head and not (cells and all(cell.tag == "th" for cell in cells)):
            break
        count += 1
    return count


def _joined(grid: Grid, column: int) -> str:
    return " ".join(dict.fromkeys(line[column] for line in grid if line[column]))
