"""What the reader of a body that is no HTML returns, and the bounds, fences and tables that all readers write with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, cast

import msgspec
from msgspec import UNSET, Struct

from actors.extraction.parse.text import cell_markdown, one_line
from protocol.confidence import Confidence, Source
from protocol.documents import ExtractedLink, ExtractedTable, Signal
from protocol.page import PageFields

MAX_CHARS = 1_000_000
"""How much of a body is written."""

MAX_TITLE_CHARS = 300
MAX_WORDS_CHARS = 200

Clock: TypeAlias = Callable[[], float]
"""Returns the seconds of a processor that the thread has used."""

MAX_ROWS = 50_000
MAX_COLUMNS = 60
_MAX_CELL_CHARS = 1_000
_MAX_CELLS = 500_000
_LIKE_SHARE = 0.5
"""Records are like each other when this share of their columns has a value on average."""


def no_clock() -> float:
    """Return no time: what is read is then bounded by its size alone."""
    return 0.0


class ParsedDocument(Struct, frozen=True, kw_only=True):
    """The content as Markdown and as its `text`, where it is from (000 §2), and what else the body says.

    `title` is "" where the body has none. `left_out` counts what is not written, in characters, and `kept_back` by kind
    what nobody is meant to see or could be read. Scores are those of the sources, where the body gave no better ones.
    """

    markdown: str
    text: str
    source: Source
    title: str = ""
    title_source: Source = Source.STRUCTURED_DATA
    tables: tuple[ExtractedTable, ...] = ()
    links: tuple[ExtractedLink, ...] = ()
    fields: PageFields = msgspec.field(default_factory=PageFields)
    left_out: int = 0
    kept_back: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    signals: tuple[Signal, ...] = ()
    title_score: float | None = None
    sure: Mapping[str, Confidence] = msgspec.field(default_factory=dict[str, Confidence])
    tables_sure: tuple[Confidence, ...] = ()
    declared_language: str | None = None
    """What the body declares where that is still to be weighed against its text; `fields.language` is then unset."""


def bounded(text: str) -> tuple[str, int]:
    """Cut a text at the end of a line where it is too long, and tell how many characters are left out."""
    if len(text) <= MAX_CHARS:
        return text, 0
    end = text.rfind("\n", MAX_CHARS // 2, MAX_CHARS)
    kept = text[: end if end > 0 else MAX_CHARS]
    return kept, len(text) - len(kept)


def fenced(text: str, language: str) -> tuple[str, int]:
    """Write a text as a block of code; where it is cut a line says so."""
    kept, left_out = bounded(text)
    longest = run = 0
    for character in kept if "```" in kept else "":
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    more = f"\n\n*({left_out:,} more characters)*" if left_out else ""
    return f"{fence}{language}\n{kept}\n{fence}{more}", left_out


def table_of(headers: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> ExtractedTable:
    """Make a table whose rows have a cell for every header."""
    names = tuple(one_line(header, _MAX_CELL_CHARS) for header in headers[:MAX_COLUMNS])
    width = len(names)
    limit = min(MAX_ROWS, _MAX_CELLS // max(width, 1))
    filled = (tuple(one_line(cell_text, _MAX_CELL_CHARS) for cell_text in row[:width]) for row in islice(rows, limit))
    padded = tuple(row + ("",) * (width - len(row)) for row in filled)
    return ExtractedTable(headers=names, rows=padded, caption=caption or UNSET)


def table_of_records(items: Sequence[object], caption: str = "") -> ExtractedTable | None:
    """Make a table of records that are like each other; None where they are not."""
    records = [cast("Mapping[str, object]", item) for item in islice(items, MAX_ROWS) if isinstance(item, dict)]
    if len(records) < 2 or len(records) < min(len(items), MAX_ROWS):  # noqa: PLR2004 - one record is no table
        return None
    columns = dict.fromkeys(key for record in records for key in record)
    filled = sum(len(record) for record in records)
    if not columns or len(columns) > 2 * MAX_COLUMNS or filled < _LIKE_SHARE * len(columns) * len(records):
        return None
    names = list(columns)[:MAX_COLUMNS]
    return table_of(names, [[cell_text(record.get(name)) for name in names] for record in records], caption)


def cell_text(value: object) -> str:
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


def table_markdown(read: ExtractedTable) -> str:
    """Write a table, with all of its rows unless that is more than is written of any body."""
    lines = [_row_markdown(read.headers), _row_markdown(["---"] * len(read.headers))]
    length, count = 0, len(read.rows)
    for number, row in enumerate(read.rows):
        line = _row_markdown(row)
        length += len(line) + 1
        if length > MAX_CHARS:
            return "\n".join([*lines, "", f"*({count:,} rows; the first {number:,} are written)*"])
        lines.append(line)
    return "\n".join(lines)


def _row_markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(cell_markdown, cells))} |"
