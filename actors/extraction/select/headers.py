"""Finds which of the first rows of a table are its headers, and by what."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from turbohtml import Element, Node

from actors.extraction.select.spans import Slots, is_heading

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


class Mark(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table with the text of every slot; `head` tells that it stands in the table's head."""

    slots: Slots
    texts: tuple[str, ...]
    head: bool

    @property
    def said(self) -> list[tuple[int, Element, str]]:
        """Its slots that say something: column, cell and text."""
        pairs = enumerate(zip(self.slots, self.texts, strict=True))
        return [(column, slot, text) for column, (slot, text) in pairs if slot is not None and text]

    @property
    def is_section(self) -> bool:
        """Return whether it says one thing over the whole width, or alone in the first column."""
        return bool(self.texts[0]) and len(set(self.slots) - {None}) == 1


def titles(rows: Sequence[Row]) -> list[str]:
    """Return the texts of the first rows that say one thing over the whole width: titles of the table, no headers."""
    found: list[str] = []
    for row in rows[: min(_MAX_HEADER_ROWS, len(rows) - 1)]:
        if not row.is_section:
            break
        found.append(row.texts[0])
    return found


def count(rows: Sequence[Row]) -> tuple[int, Mark]:
    """Count the rows of headers that a table begins with, and tell by what; the last row is never one."""
    most = len(rows) - 1
    if 0 < (leading := _leading(rows, _in_head)) <= min(most, _MAX_HEADER_ROWS):
        return leading, Mark.HEAD
    if most and (leading := _leading(rows, _of_headings)):
        return (leading if leading <= min(most, _MAX_HEADER_ROWS) else 1), Mark.CELLS
    if 0 < (leading := _leading(rows, _looks_so)) <= min(most, _MAX_LIKELY_ROWS):
        return leading, Mark.LOOKS
    if most and _has_corner(rows):
        return 1, Mark.CORNER
    keys = _has_keys(rows)
    if most and not (keys and len(rows[0].slots) == _PAIR) and _unlike_the_rest(rows):
        return 1, Mark.TYPES
    return 0, Mark.KEYS if keys else Mark.NONE


def joined(rows: Sequence[Row], width: int) -> tuple[str, ...]:
    """Join the headers above each column, top-down and without repeating what spans several rows."""
    columns = ([row.texts[column] for row in rows if row.texts[column]] for column in range(width))
    return tuple(" ".join(dict.fromkeys(column)) for column in columns)


def unlabelled(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Take a column's name off its cells where every one begins with it, as tables for narrow screens write them."""
    labelled = [column for column, name in enumerate(names) if name and _all_begin(rows, column, name)]
    if len(labelled) < _PAIR:  # in one column it may be what the cells say
        return list(rows)
    cuts = [len(name) if column in labelled else 0 for column, name in enumerate(names)]
    texts = (tuple([text[cut:].lstrip(" :") for text, cut in zip(row.texts, cuts, strict=True)]) for row in rows)
    return [Row(row.slots, cut, row.head) for row, cut in zip(rows, texts, strict=True)]


def is_bold(cell: Element, text: str) -> bool:
    """Return whether all that a cell says is bold."""
    strong = cell.select_one("b,strong,h1,h2,h3,h4,h5,h6")
    return strong is not None and len("".join(strong.text.split())) >= len("".join(text.split()))


def is_number(text: str) -> bool:
    """Return whether a text is a figure, with its sign, currency or unit."""
    return len(text) <= _MAX_FIGURE_CHARS and _NUMERIC.fullmatch(text) is not None


def _leading(rows: Sequence[Row], test: Callable[[Row], bool]) -> int:
    # A section below the first header is none of its rows.
    return sum(1 for _ in takewhile(lambda row: not row.is_section and test(row), rows))


def _all_begin(rows: Sequence[Row], column: int, name: str) -> bool:
    said = [row.texts[column] for row in rows if row.texts[column]]
    return bool(said) and all(text.startswith(name) for text in said) and any(text != name for text in said)


def _in_head(row: Row) -> bool:
    return row.head


def _of_headings(row: Row) -> bool:
    # One in the first column alone is the key of a row without value.
    return all(is_heading(cell) for _, cell, _ in row.said) and any(column for column, _, _ in row.said)


def _looks_so(row: Row) -> bool:
    return any(column for column, _, _ in row.said) and (
        _classed(row.said[0][1].parent)
        or all(is_heading(cell) or is_bold(cell, text) or _classed(cell) for _, cell, text in row.said)
    )


def _classed(element: Node | None) -> bool:
    return isinstance(element, Element) and _HEADER_CLASS.search((element.attr("class") or "").lower()) is not None


def _has_corner(rows: Sequence[Row]) -> bool:
    first, rest = rows[0], rows[1:]
    return not first.texts[0] and all(first.texts[1:]) and all(row.texts[0] for row in rest) and len(rest) > 1


def _has_keys(rows: Sequence[Row]) -> bool:
    firsts = [(slot, row.texts[0]) for row in rows if row.texts[0] and (slot := row.slots[0]) is not None]
    keys = sum(1 for slot, text in firsts if is_heading(slot) or text.endswith((":", "\uff1a")) or is_bold(slot, text))
    return keys >= max(_MOSTLY * len(firsts), 1)


def _unlike_the_rest(rows: Sequence[Row]) -> bool:
    names, width = rows[0].texts, len(rows[0].slots)
    if len(rows[0].said) < _PAIR or any(len(name) > _MAX_NAME_CHARS for name in names) or len(set(names)) < width:
        return False
    if width > _PAIR and len(rows) > _PAIR and rows[1].is_section and all(names) and not any(map(is_number, names)):
        return True
    if any(is_number(name) and not _YEAR.fullmatch(name) for name in names):
        return False
    columns = ([row.texts[column] for row in rows[1:]] for column in range(width) if names[column])
    return any(_all_figures(column, alike=width == _PAIR) for column in columns)


def _all_figures(texts: list[str], *, alike: bool) -> bool:
    # Two columns of which the second holds figures in different units are names and values.
    said = [text for text in texts if text]
    figures = [text for text in said if is_number(text) and not _YEAR.fullmatch(text)]
    units = {_FIGURES.sub("", text) for text in figures}
    return bool(said) and len(figures) >= _MOSTLY * len(said) and not (alike and len(units) > 1)
