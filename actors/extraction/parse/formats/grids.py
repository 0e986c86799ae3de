"""Makes tables of records and rows, and writes them as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import cast

import msgspec
from msgspec import UNSET

from actors.extraction.parse.text import one_line
from protocol.documents import ExtractedTable

MAX_ROWS = 10_000
MAX_COLUMNS = 60
_MAX_CELL_CHARS = 1_000
_MAX_CELLS = 200_000
_SHOWN_ROWS = 100
_LIKE_SHARE = 0.5
"""Records are like each other when this share of their columns has a value on average."""


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> ExtractedTable:
    """Make a table whose rows have a cell for every header."""
    names = tuple(one_line(header, _MAX_CELL_CHARS) for header in headers[:MAX_COLUMNS])
    width = len(names)
    limit = min(MAX_ROWS, _MAX_CELLS // max(width, 1))
    filled = (tuple(one_line(cell, _MAX_CELL_CHARS) for cell in row[:width]) for row in islice(rows, limit))
    padded = tuple(row + ("",) * (width - len(row)) for row in filled)
    return ExtractedTable(headers=names, rows=padded, caption=caption or UNSET)


def of_records(items: Sequence[object], caption: str = "") -> ExtractedTable | None:
    """Make a table of records that are like each other; None where they are not."""
    records = [cast("Mapping[str, object]", item) for item in islice(items, MAX_ROWS) if isinstance(item, dict)]
    if len(records) < 2 or len(records) < min(len(items), MAX_ROWS):  # noqa: PLR2004 - one record is no table
        return None
    columns = dict.fromkeys(key for record in records for key in record)
    filled = sum(len(record) for record in records)
    if not columns or len(columns) > 2 * MAX_COLUMNS or filled < _LIKE_SHARE * len(columns) * len(records):
        return None
    names = list(columns)[:MAX_COLUMNS]
    return table(names, [[cell(record.get(name)) for name in names] for record in records], caption)


def cell(value: object) -> str:
    """Write a value of JSON as the text of a cell."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return str(value).lower()
        case _:
            return msgspec.json.encode(value)[: 4 * _MAX_CELL_CHARS].decode("utf-8", "ignore")


def to_markdown(read: ExtractedTable) -> str:
    """Write a table, short and with its count where it is long."""
    lines = [_line(read.headers), _line(["---"] * len(read.headers)), *map(_line, read.rows[:_SHOWN_ROWS])]
    count = len(read.rows)
    more = f"\n\n*({count:,} rows; the first {_SHOWN_ROWS} are shown)*" if count > _SHOWN_ROWS else ""
    return "\n".join(lines) + more


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(text.replace(chr(92), chr(92) * 2).replace('|', chr(92) + '|') for text in cells)} |"
