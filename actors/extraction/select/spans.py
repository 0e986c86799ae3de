"""Lays the cells of a table out on a grid, as a browser does (HTML Standard, "Forming a table")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from turbohtml import Element

from actors.extraction.parse.visibility import Hiding

MAX_ROWS = 10_000
MAX_COLUMNS = 100
MAX_SLOTS = 200_000
"""What one table may fill: 10,000 rows of 20 columns. More rows are left out."""

_MAX_PLACES = 2 * MAX_COLUMNS
"""Columns that are laid out before those in which no cell begins are dropped."""

_GROUPS = frozenset({"thead", "tbody", "tfoot", "tr"})
_ROWS = frozenset({"tr"})
_CELLS = frozenset({"td", "th"})
_ARIA = "[role=row],[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]"
_SPANNING = "[colspan],[rowspan],[aria-colspan],[aria-rowspan]"

Slots = tuple[Element | None, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A row on the grid: the cell of every column, and whether it stands in the table's head."""

    slots: Slots
    head: bool


@dataclass(frozen=True, slots=True)
class _Row:
    cells: list[Element]
    head: bool
    group: int


@dataclass(frozen=True, slots=True)
class _Span:
    """The columns from `start` until before `end`, and the last row, that a cell covers."""

    start: int
    end: int
    last: int
    cell: Element


def lines(table: Element, hidden: Mapping[Element, Hiding]) -> list[Line]:
    """Return the rows of a table in the order of a reader (head, bodies, foot), all of the same width.

    A column in which no cell begins is dropped: it only repeats the one before it.
    """
    found = _native_rows(table, hidden) if table.tag == "table" else _aria_rows(table, hidden)
    rows = list(islice(found, MAX_ROWS))
    laid_out = _plain(rows) if table.select_one(_SPANNING) is None else _spanned(rows)
    return [line for line, row in zip(laid_out, rows, strict=False) if row.cells]


def is_heading(cell: Element) -> bool:
    """Return whether a cell is marked as the header of a row or column."""
    return cell.tag == "th" or cell.attr("role") in ("columnheader", "rowheader")


def _native_rows(table: Element, hidden: Mapping[Element, Hiding]) -> Iterator[_Row]:
    for number, group in enumerate(_groups(table, hidden)):
        if group.tag == "tr":  # without a group around it: all of these share one
            yield _Row(list(islice(_children(group, _CELLS, hidden), MAX_COLUMNS)), head=False, group=-1)
            continue
        for row in _children(group, _ROWS, hidden):
            yield _Row(list(islice(_children(row, _CELLS, hidden), MAX_COLUMNS)), group.tag == "thead", number)


def _groups(table: Element, hidden: Mapping[Element, Hiding]) -> list[Element]:
    """Return the groups of rows with the first head at the top and the first foot at the end."""
    groups = list(_children(table, _GROUPS, hidden))
    head = next((group for group in groups if group.tag == "thead"), None)
    foot = next((group for group in groups if group.tag == "tfoot"), None)
    order = {head: 0, foot: 2}
    return sorted(groups, key=lambda group: order.get(group, 1))


def _children(parent: Element, tags: frozenset[str], hidden: Mapping[Element, Hiding]) -> Iterator[Element]:
    for child in parent.children:
        if isinstance(child, Element) and child.tag in tags and hidden.get(child) is not Hiding.INVISIBLE:
            yield child


def _aria_rows(table: Element, hidden: Mapping[Element, Hiding]) -> Iterator[_Row]:
    row: _Row | None = None
    for element in table.select(_ARIA):
        if hidden.get(element) is Hiding.INVISIBLE:
            continue
        if element.attr("role") == "row":
            if row is not None:
                yield row
            row = _Row([], head=False, group=-1)
        elif row is not None and len(row.cells) < MAX_COLUMNS:
            row.cells.append(element)
    if row is not None:
        yield row


def _plain(rows: list[_Row]) -> list[Line]:
    width = max((len(row.cells) for row in rows), default=0)
    rows = rows[: MAX_SLOTS // max(width, 1)]
    return [Line((*row.cells, *(None,) * (width - len(row.cells))), row.head) for row in rows]


def _spanned(rows: list[_Row]) -> list[Line]:
    placed = list(_placed(rows))
    kept = sorted({span.start for spans in placed for span in spans})[:MAX_COLUMNS]
    rows = rows[: MAX_SLOTS // max(len(kept), 1)]
    return [Line(_slots(spans, kept), row.head) for row, spans in zip(rows, placed, strict=False)]


def _placed(rows: list[_Row]) -> Iterator[list[_Span]]:
    """Return for every row the spans that cover it: first those that hang down from above, then its own."""
    last = {row.group: index for index, row in enumerate(rows)}
    hanging: list[_Span] = []
    for index, row in enumerate(rows):
        if index and rows[index - 1].group != row.group:
            hanging = []
        own = _own_spans(row, index, last[row.group], hanging)
        yield hanging + own
        hanging = [span for span in hanging + own if span.last > index]


def _own_spans(row: _Row, index: int, end_of_group: int, hanging: list[_Span]) -> list[_Span]:
    taken = sorted(hanging, key=lambda span: span.start)
    own: list[_Span] = []
    place = over = 0
    for cell in row.cells:
        while over < len(taken) and taken[over].start <= place:
            place = max(place, taken[over].end)
            over += 1
        if place >= _MAX_PLACES:
            break
        down = _span(cell, "rowspan", 65_534)
        end = place + (_span(cell, "colspan", MAX_COLUMNS) or 1)
        own.append(_Span(place, end, min(index + down - 1, end_of_group) if down else end_of_group, cell))
        place = end
    return own


def _slots(spans: list[_Span], kept: list[int]) -> Slots:
    row: list[Element | None] = [None] * (2 * _MAX_PLACES)
    # Where two cells want one slot, it stays with the one from above.
    for span in reversed(spans):
        row[span.start : span.end] = [span.cell] * (span.end - span.start)
    return tuple(row[place] for place in kept)


def _span(cell: Element, name: str, limit: int) -> int:
    value = (cell.attr(name) or cell.attr(f"aria-{name}") or "1").strip()
    return min(int(value[:9]), limit) if value.isascii() and value.isdigit() else 1
