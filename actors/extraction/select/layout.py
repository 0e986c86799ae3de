"""Tells tables of data from tables that only lay a page out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from turbohtml import Element

from actors.extraction.select.headers import Mark, Row

_PROSE_CHARS = 120
"""Mean characters of the cells from which a table without headers is text in columns."""

_NAME_CHARS = 40
_FEW_ROWS = 3
_MOSTLY = 0.8
_FORM_SHARE = 0.3
_EMPTY_SHARE = 0.7
_MAX_NESTED = 20
"""A table that holds as many others has no data of its own."""

_LOOKED_AT = 200
"""Cells that are looked at: enough to know a table by."""

_WEEK = 7
_DAYS = frozenset(map(str, range(1, 32)))

_BLOCKS = "h1,h2,h3,h4,h5,h6,ul,ol,blockquote,section,article,figure,p+p,form,iframe,video"
_CONTROLS = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]),select,textarea"
_CODE = "[data-line-number],td.linenos,td.gutter,td.code>pre,td>pre.highlight"
_OWN_HEADINGS = ":scope>thead th,:scope>tbody>tr>th,:scope>tr>th,:scope>caption"
_UNMARKED = frozenset({Mark.NONE, Mark.TYPES, Mark.CORNER, Mark.LOOKS})


def is_layout(table: Element) -> bool:
    """Tell by its markup alone that a table holds no data: it says so, or holds another, and marks no header."""
    nested = sum(1 for _ in islice(table.iter_elements("table"), _MAX_NESTED))
    if nested or table.attr("role") in ("presentation", "none"):
        return nested == _MAX_NESTED or table.select_one(_OWN_HEADINGS) is None
    return table.select_one(_CODE) is not None


def lays_out(rows: Sequence[Row], mark: Mark) -> bool:
    """Tell by what its cells hold that a table holds no data: prose or blocks without headers, links, a form, days."""
    every = list(
        {
            cell: text for row in rows for cell, text in zip(row.slots, row.texts, strict=True) if cell is not None
        }.items()
    )
    cells = [(cell, text) for cell, text in every if text][:_LOOKED_AT]
    if not cells or _share(every[:_LOOKED_AT], _CONTROLS) > _FORM_SHARE or _is_calendar(rows):
        return True
    if mark not in _UNMARKED:
        return mark is Mark.KEYS and _linked(cells) > _MOSTLY
    if _share(cells, _BLOCKS) > 0 or _linked(cells) > _MOSTLY:
        return True
    slots = sum(len(row.slots) for row in rows)
    gaps = slots - sum(len(row.said) for row in rows)
    return _is_prose(rows, cells) or (mark is Mark.NONE and gaps > _EMPTY_SHARE * slots)


def _is_prose(rows: Sequence[Row], cells: list[tuple[Element, str]]) -> bool:
    # Prose beside a column of short names, row after row, is told of them.
    if len(rows) >= _FEW_ROWS and any(_is_short(column) for column in zip(*(row.texts for row in rows), strict=True)):
        return False
    return sum(len(text) for _, text in cells) > _PROSE_CHARS * len(cells)


def _is_short(texts: Sequence[str]) -> bool:
    return all(0 < len(text) <= _NAME_CHARS for text in texts)


def _share(cells: Sequence[tuple[Element, str]], selector: str) -> float:
    return sum(1 for cell, _ in cells if cell.select_one(selector) is not None) / len(cells)


def _linked(cells: list[tuple[Element, str]]) -> float:
    chars = sum(len(text) for _, text in cells)
    return sum(len(link.text.strip()) for cell, _ in cells for link in cell.iter_elements("a")) / max(chars, 1)


def _is_calendar(rows: Sequence[Row]) -> bool:
    if len(rows[0].slots) != _WEEK:
        return False
    days = [text for row in rows[1:] for text in row.texts if text]
    return len(days) > _WEEK and sum(text.lstrip("0") in _DAYS for text in days) >= _MOSTLY * len(days)
