"""Reads values apart by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from io import StringIO
from itertools import islice

from actors.extraction.parse.formats import grids
from actors.extraction.parse.formats.found import Found, bounded
from protocol.confidence import Source

_DELIMITERS = ",;\t|"
_SAMPLED_LINES = 20
_MIN_LINES = 2


def read(text: str, url: str) -> Found | None:
    """Read a table; None where it is none."""
    del url
    try:
        reader = csv.reader(StringIO(text.replace("\x00", ""), newline=""), delimiter=_delimiter(text))
        lines = [line for line in islice(reader, grids.MAX_ROWS + 1) if any(cell.strip() for cell in line)]
    except csv.Error:
        return None
    if len(lines) < _MIN_LINES:
        return None
    table = grids.table(lines[0], lines[1:])
    kept, left_out = bounded(text.strip())
    return Found(
        markdown=grids.to_markdown(table), text=kept, source=Source.STRUCTURED_DATA, tables=(table,), left_out=left_out
    )


def _delimiter(text: str) -> str:
    """Choose what cuts the first lines into the most parts, and all of them into as many."""
    lines = [line[:10_000] for line in islice(StringIO(text), _SAMPLED_LINES) if line.strip()]
    return max(
        _DELIMITERS,
        key=lambda mark: (min((line.count(mark) for line in lines), default=0), lines[0].count(mark) if lines else 0),
    )
