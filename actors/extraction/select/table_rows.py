"""Lays the cells of a table out on a grid as a browser does (HTML, "Forming a table"), and finds its headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice, takewhile

from msgspec import Struct
from turbohtml import Element, Node

from actors.extraction.parse.visibility import Hiding

MAX_ROWS = 50_000
MAX_COLUMNS = 100
MAX_SLOTS = 400_000
"""What one table may fill: 20,000 rows of 20 columns. More rows are left out."""

_MAX_PLACES = 2 * MAX_COLUMNS
"""Columns that are laid out before those in which no cell begins are dropped."""

_GROUPS = frozenset({"thead", "tbody", "tfoot", "tr"})
_ROWS = frozenset({"tr"})
_CELLS = frozenset({"td", "th"})
_ARIA = "[role=row],[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]"
_SPANNING = "[colspan],[rowspan],[aria-colspan],[aria-rowspan]"

Slots = tuple[Element | None, ...]

_MAX_HEADER_ROWS = 5
"""More leading rows of headers than a table has: one that marks more of them marks all its cells."""

_MAX_LIKELY_ROWS = 2
"""The same for rows that only look like headers."""

_MAX_NAME_CHARS = 60
"""What stands longer in a first row that nothing marks is a record, no name of a column."""

_MAX_FIGURE_CHARS = 40
_MOSTLY = 0.8
_PAIR = 2

_FIGURE = (
    r"[^\w\s]{0,3}\s?(?:[A-Z]{1,3}\s?)?[$\u20ac\u00a3\u00a5\u20b9%]?\s?\d[\d\s.,:/'\u2019]*\s?(?:[^\s\d]{1,4}\s?)?"
)
_NUMERIC = re.compile(rf"{_FIGURE}(?:[-\u2013\u2014~\u00b1x\u00d7/+(]{_FIGURE}){{0,3}}")
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d")
_FIGURES = re.compile(r"[\d\s\W_]+")
_HEADER_CLASS = re.compile(r"(?:^|[\s_-])(?:t?head(?:er|ing|line)?s?|th|titles?|column-?names?)(?:$|[\s_-])")


class GridRow(Struct, frozen=True):
    """A row on the grid: the cell of every column, and whether it stands in the table's head."""

    slots: Slots
    head: bool


class _MarkedRow(Struct, frozen=True):
    cells: list[Element]
    head: bool
    group: int


class _Span(Struct, frozen=True):
    """The columns from `start` until before `end`, and the last row, that a cell covers."""

    start: int
    end: int
    last: int
    cell: Element


def grid_rows(table: Element, hidden: Mapping[Element, Hiding]) -> list[GridRow]:
    """Return the rows of a table in the order of a reader (head, bodies, foot), all of the same width.

    A column in which no cell begins is dropped: it only repeats the one before it.
    """
    marked = _native_rows(table, hidden) if table.tag == "table" else _aria_rows(table, hidden)
    rows = list(islice(marked, MAX_ROWS))
    laid_out = _unspanned(rows) if table.select_one(_SPANNING) is None else _spanned(rows)
    return [line for line, row in zip(laid_out, rows, strict=False) if row.cells]


def _is_heading(cell: Element) -> bool:
    """Return whether a cell is marked as the header of a row or column."""
    return cell.tag == "th" or cell.attr("role") in ("columnheader", "rowheader")


def _native_rows(table: Element, hidden: Mapping[Element, Hiding]) -> Iterator[_MarkedRow]:
    for number, group in enumerate(_groups(table, hidden)):
        if group.tag == "tr":  # without a group around it: all of these share one
            yield _MarkedRow(list(islice(_children(group, _CELLS, hidden), MAX_COLUMNS)), head=False, group=-1)
            continue
        for row in _children(group, _ROWS, hidden):
            yield _MarkedRow(list(islice(_children(row, _CELLS, hidden), MAX_COLUMNS)), group.tag == "thead", number)


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


def _aria_rows(table: Element, hidden: Mapping[Element, Hiding]) -> Iterator[_MarkedRow]:
    row: _MarkedRow | None = None
    for element in table.select(_ARIA):
        if hidden.get(element) is Hiding.INVISIBLE:
            continue
        if element.attr("role") == "row":
            if row is not None:
                yield row
            row = _MarkedRow([], head=False, group=-1)
        elif row is not None and len(row.cells) < MAX_COLUMNS:
            row.cells.append(element)
    if row is not None:
        yield row


def _unspanned(rows: list[_MarkedRow]) -> list[GridRow]:
    width = max((len(row.cells) for row in rows), default=0)
    rows = rows[: MAX_SLOTS // max(width, 1)]
    return [GridRow((*row.cells, *(None,) * (width - len(row.cells))), row.head) for row in rows]


def _spanned(rows: list[_MarkedRow]) -> list[GridRow]:
    placed = list(_spans_by_row(rows))
    kept = sorted({span.start for spans in placed for span in spans})[:MAX_COLUMNS]
    rows = rows[: MAX_SLOTS // max(len(kept), 1)]
    return [GridRow(_slots(spans, kept), row.head) for row, spans in zip(rows, placed, strict=False)]


def _spans_by_row(rows: list[_MarkedRow]) -> Iterator[list[_Span]]:
    """Return for every row the spans that cover it: first those that hang down from above, then its own."""
    last = {row.group: index for index, row in enumerate(rows)}
    hanging: list[_Span] = []
    for index, row in enumerate(rows):
        if index and rows[index - 1].group != row.group:
            hanging = []
        own = _own_spans(row, index, last[row.group], hanging)
        yield hanging + own
        hanging = [span for span in hanging + own if span.last > index]


def _own_spans(row: _MarkedRow, index: int, end_of_group: int, hanging: list[_Span]) -> list[_Span]:
    taken = sorted(hanging, key=lambda span: span.start)
    own: list[_Span] = []
    place = over = 0
    for cell in row.cells:
        while over < len(taken) and taken[over].start <= place:
            place = max(place, taken[over].end)
            over += 1
        if place >= _MAX_PLACES:
            break
        down = _span_attribute(cell, "rowspan", 65_534)
        end = place + (_span_attribute(cell, "colspan", MAX_COLUMNS) or 1)
        own.append(_Span(place, end, min(index + down - 1, end_of_group) if down else end_of_group, cell))
        place = end
    return own


def _slots(spans: list[_Span], kept: list[int]) -> Slots:
    row: list[Element | None] = [None] * (2 * _MAX_PLACES)
    # Where two cells want one slot, it stays with the one from above.
    for span in reversed(spans):
        row[span.start : span.end] = [span.cell] * (span.end - span.start)
    return tuple(row[place] for place in kept)


def _span_attribute(cell: Element, name: str, limit: int) -> int:
    value = (cell.attr(name) or cell.attr(f"aria-{name}") or "1").strip()
    return min(int(value[:9]), limit) if value.isascii() and value.isdigit() else 1


class HeaderMark(StrEnum):
    """By what the headers of a table are known."""

    HEAD = "head"
    """They stand in `<thead>`."""

    CELLS = "cells"
    """Their cells are `<th>`, or columnheaders of ARIA."""

    LOOKS = "looks"
    """They are bold, or of a class for headers."""

    CORNER = "corner"
    """The first row has all cells but the first, where the other rows have theirs."""

    TYPES = "types"
    """The first row is words where numbers stand below: a guess."""

    KEYS = "keys"
    """The cells of the first column are headers of their rows, and there are none of columns."""

    NONE = "none"
    """There are none."""


class TextRow(Struct, frozen=True):
    """A row of a table with the text of every slot; `head` means that it stands in the table's head."""

    slots: Slots
    texts: tuple[str, ...]
    head: bool

    @property
    def filled(self) -> list[tuple[int, Element, str]]:
        """Its slots with text: column, cell and text."""
        pairs = enumerate(zip(self.slots, self.texts, strict=True))
        return [(column, slot, text) for column, (slot, text) in pairs if slot is not None and text]

    @property
    def is_section(self) -> bool:
        """Return whether it says one thing over the whole width, or alone in the first column."""
        return bool(self.texts[0]) and len(set(self.slots) - {None}) == 1


def title_rows(rows: Sequence[TextRow]) -> list[str]:
    """Return the texts of the first rows that say one thing over the whole width: titles of the table, no headers."""
    titles: list[str] = []
    for row in rows[: min(_MAX_HEADER_ROWS, len(rows) - 1)]:
        if not row.is_section:
            break
        titles.append(row.texts[0])
    return titles


def count_header_rows(rows: Sequence[TextRow]) -> tuple[int, HeaderMark]:
    """Count the rows of headers that a table begins with, and say by what they are known; the last row is never one."""
    most = len(rows) - 1
    if 0 < (leading := _count_leading(rows, _in_head)) <= min(most, _MAX_HEADER_ROWS):
        return leading, HeaderMark.HEAD
    if most and (leading := _count_leading(rows, _is_of_headings)):
        return (leading if leading <= min(most, _MAX_HEADER_ROWS) else 1), HeaderMark.CELLS
    if 0 < (leading := _count_leading(rows, _looks_like_header)) <= min(most, _MAX_LIKELY_ROWS):
        return leading, HeaderMark.LOOKS
    if most and _has_corner(rows):
        return 1, HeaderMark.CORNER
    keys = _has_key_column(rows)
    if most and not (keys and len(rows[0].slots) == _PAIR) and _differs_from_body(rows):
        return 1, HeaderMark.TYPES
    return 0, HeaderMark.KEYS if keys else HeaderMark.NONE


def joined_headers(rows: Sequence[TextRow], width: int) -> tuple[str, ...]:
    """Join the headers above each column, top-down and without repeating what spans several rows."""
    columns = ([row.texts[column] for row in rows if row.texts[column]] for column in range(width))
    return tuple(" ".join(dict.fromkeys(column)) for column in columns)


def without_labels(rows: Sequence[TextRow], names: Sequence[str]) -> list[TextRow]:
    """Take a column's name off its cells where every one begins with it, as tables for narrow screens write them."""
    labelled = [column for column, name in enumerate(names) if name and _all_begin_with(rows, column, name)]
    if len(labelled) < _PAIR:  # in one column it may be what the cells say
        return list(rows)
    cuts = [len(name) if column in labelled else 0 for column, name in enumerate(names)]
    texts = (tuple([text[cut:].lstrip(" :") for text, cut in zip(row.texts, cuts, strict=True)]) for row in rows)
    return [TextRow(row.slots, cut, row.head) for row, cut in zip(rows, texts, strict=True)]


def _is_bold(cell: Element, text: str) -> bool:
    """Return whether all that a cell says is bold."""
    strong = cell.select_one("b,strong,h1,h2,h3,h4,h5,h6")
    return strong is not None and len("".join(strong.text.split())) >= len("".join(text.split()))


def _is_number(text: str) -> bool:
    """Return whether a text is a figure, with its sign, currency or unit."""
    return len(text) <= _MAX_FIGURE_CHARS and _NUMERIC.fullmatch(text) is not None


def _count_leading(rows: Sequence[TextRow], test: Callable[[TextRow], bool]) -> int:
    # A section below the first header is none of its rows.
    return sum(1 for _ in takewhile(lambda row: not row.is_section and test(row), rows))


def _all_begin_with(rows: Sequence[TextRow], column: int, name: str) -> bool:
    texts = [row.texts[column] for row in rows if row.texts[column]]
    return bool(texts) and all(text.startswith(name) for text in texts) and any(text != name for text in texts)


def _in_head(row: TextRow) -> bool:
    return row.head


def _is_of_headings(row: TextRow) -> bool:
    # One in the first column alone is the key of a row without value.
    return all(_is_heading(cell) for _, cell, _ in row.filled) and any(column for column, _, _ in row.filled)


def _looks_like_header(row: TextRow) -> bool:
    return any(column for column, _, _ in row.filled) and (
        _has_header_class(row.filled[0][1].parent)
        or all(_is_heading(cell) or _is_bold(cell, text) or _has_header_class(cell) for _, cell, text in row.filled)
    )


def _has_header_class(element: Node | None) -> bool:
    return isinstance(element, Element) and _HEADER_CLASS.search((element.attr("class") or "").lower()) is not None


def _has_corner(rows: Sequence[TextRow]) -> bool:
    first, rest = rows[0], rows[1:]
    return not first.texts[0] and all(first.texts[1:]) and all(row.texts[0] for row in rest) and len(rest) > 1


def _has_key_column(rows: Sequence[TextRow]) -> bool:
    firsts = [(slot, row.texts[0]) for row in rows if row.texts[0] and (slot := row.slots[0]) is not None]
    keys = sum(
        1 for slot, text in firsts if _is_heading(slot) or text.endswith((":", "\uff1a")) or _is_bold(slot, text)
    )
    return keys >= max(_MOSTLY * len(firsts), 1)


def _differs_from_body(rows: Sequence[TextRow]) -> bool:
    names, width = rows[0].texts, len(rows[0].slots)
    if len(rows[0].filled) < _PAIR or any(len(name) > _MAX_NAME_CHARS for name in names) or len(set(names)) < width:
        return False
    if width > _PAIR and len(rows) > _PAIR and rows[1].is_section and all(names) and not any(map(_is_number, names)):
        return True
    if any(_is_number(name) and not _YEAR.fullmatch(name) for name in names):
        return False
    columns = ([row.texts[column] for row in rows[1:]] for column in range(width) if names[column])
    return any(_all_figures(column, alike=width == _PAIR) for column in columns)


def _all_figures(texts: list[str], *, alike: bool) -> bool:
    # Two columns of which the second holds figures in different units are names and values.
    filled = [text for text in texts if text]
    figures = [text for text in filled if _is_number(text) and not _YEAR.fullmatch(text)]
    units = {_FIGURES.sub("", text) for text in figures}
    return bool(filled) and len(figures) >= _MOSTLY * len(filled) and not (alike and len(units) > 1)
