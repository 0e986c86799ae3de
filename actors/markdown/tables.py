"""Finds the tables of a Markdown document and their rows by number; shows the first rows of those that are long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from actors.markdown.structure import read_outline

MAX_WHOLE_ROWS = 50
"""Rows up to which a table is shown whole."""

SHOWN_ROWS = 20
"""Rows that are shown of a longer one."""

_TABLE = re.compile(r"^(\|[^\n]*\n\|[ :|-]+\|[ \t]*\n)((?:\|[^\n]*(?:\n|\Z))*)", re.MULTILINE)
_NAMED = re.compile(
    r"\brows?\s+(?:no\.?\s*|number\s+|#\s*)?(\d[\d,]{0,9})(?:\s*(?:-|\u2013|to)\s*(\d[\d,]{0,9}))?", re.IGNORECASE
)
_MAX_NAMED = 50
"""Rows that are given where rows are asked for by their numbers."""

_MAX_HEAD_CHARS = 1_500


class MarkdownTable(Struct, frozen=True):
    """A table: its two lines of head, and the place where each row begins, and where the last one ends."""

    head: str
    start: int
    rows: tuple[int, ...]
    end: int

    def place(self, row: int) -> int:
        """Return where a row begins, counted from 1, or where the last one ends."""
        return self.rows[row - 1] if row <= len(self.rows) else self.end


def tables(markdown: str, more_than: int = 0) -> list[MarkdownTable]:
    """Return the tables of a document that have more rows than that, in their order; none that stands in code."""
    matches = [table for match in _TABLE.finditer(markdown) if len((table := _table(match)).rows) > more_than]
    fences = read_outline(markdown).fences if matches and ("```" in markdown or "~~~" in markdown) else {}
    return [table for table in matches if table.start not in fences]


def abridged(markdown: str, cursor: Callable[[int, int], str]) -> str:
    """Return a document with the first rows of its long tables; what follows is had by the cursor that stands there.

    `cursor` makes one of the place where it begins and the one before which it ends.
    """
    parts: list[str] = []
    place = 0
    for table in tables(markdown, MAX_WHOLE_ROWS):
        first = table.place(SHOWN_ROWS + 1)
        count = len(table.rows)
        more = f'rows {SHOWN_ROWS + 1} to {count:,}: cursor "{cursor(first, table.end)}"'
        parts += [markdown[place:first], f"\n*({count:,} rows; the first {SHOWN_ROWS} are shown; {more})*\n"]
        place = table.end
    return "".join([*parts, markdown[place:]]) if parts else markdown


def lead(markdown: str, start: int, stop: int) -> str:
    """Return what a part needs before it that begins among the rows of a table: their numbers, and the head."""
    if not markdown.startswith("|", start) or markdown[start - 1 : start] != "\n":
        return ""
    begin = markdown.rfind("\n\n", 0, start) + 2
    match = _TABLE.match(markdown, begin if begin > 1 else 0)
    if match is None or not match.start(2) < start < match.end():
        return ""
    before = markdown.count("\n", match.start(2), start)
    last = before + markdown.count("\n|", start, min(stop, match.end())) + 1
    count = before + markdown.count("\n|", start, match.end()) + 1
    head = match[1] if len(match[1]) <= _MAX_HEAD_CHARS else ""
    return f"*[Rows {before + 1:,} to {min(last, count):,} of {count:,}]*\n\n{head}"


def named_rows(query: str, markdown: str) -> str:
    """Return the rows that a query asks for by their numbers ("row 731"), with their head; "" where it asks for none.

    They are those of the first table that has so many, and rows that bear the number in their first cell.
    """
    match = _NAMED.search(query)
    if match is None:
        return ""
    first, last = (int(digits.replace(",", "")) for digits in (match[1], match[2] or match[1]))
    table = next((table for table in tables(markdown) if len(table.rows) >= max(first, last)), None)
    if table is None or not 0 < first <= last:
        return ""
    numbers = set(range(first, min(last, first + _MAX_NAMED - 1) + 1))
    if first == last:
        numbers |= {number for number, cell in enumerate(_first_cells(markdown, table), 1) if _bears(cell, first)}
    shown = sorted(numbers)[:_MAX_NAMED]
    named = f"{shown[0]:,} to {shown[-1]:,}" if first < last else ", ".join(f"{number:,}" for number in shown)
    rows = "\n".join(markdown[table.place(number) : table.place(number + 1)].rstrip("\n") for number in shown)
    return f"*[Rows {named} of {len(table.rows):,}]*\n\n{table.head}{rows}"


def _first_cells(markdown: str, table: MarkdownTable) -> Iterator[str]:
    return (markdown[place + 1 : markdown.find(" |", place)] for place in table.rows)


def _bears(cell: str, number: int) -> bool:
    return cell.lower().removeprefix(" row").strip(" #.").replace(",", "") == str(number)


def _table(match: re.Match[str]) -> MarkdownTable:
    rows, place = list[int](), match.start(2)
    for line in match[2].splitlines(keepends=True):
        rows.append(place)
        place += len(line)
    return MarkdownTable(match[1], match.start(), tuple(rows), match.end())
