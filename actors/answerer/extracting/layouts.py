"""Finds pairs of a label and a text in the layouts that pages write them in, and the rows that they repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct, structs

from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.lines import Line
from actors.answerer.extracting.postal import addresses
from actors.answerer.extracting.words import MAX_LABEL_CHARS, is_known, is_unit, meanings
from protocol.answers import FieldOrigin
from protocol.documents import ExtractedTable
from protocol.page import RecordList

MAX_PAIRS = 600
MAX_ROWS = 1_000

_SURE, _KEYED, _LED, _NUMBERED, _NEXT, _BELOW = 0.92, 0.92, 0.9, 0.82, 0.8, 0.8
"""How sure a layout is: a label with a colon, a row of two cells, a label in bold, a label before a number, …"""

_MAX_LABEL_WORDS = 6
_MAX_VALUE_CHARS = 400
_MAX_LED_CHARS, _MIN_LED = 60, 3
_MAX_ROW_CHARS = 200
_MIN_ABOUT_WORDS, _ABOUT = 4, 0.8
_MIN_COMPARED, _MAX_COMPARED = 3, 20
_ACROSS = {2: 4, 3: 3}
"""Words of a text that stands in each of so few columns: "New York" may be the city, the county and the state."""

_COLON = re.compile(r"\s?[:\uff1a]\s*(?!//)")
_PARTS = re.compile(r"\s+[|·•‧/]\s+|\s{0,2}[|·•]\s{0,2}|\t|[,;]\s+(?=[^\W\d_][\w .-]{0,30}:\s)")
_NUMBERED_LABEL = re.compile(
    r"(?P<label>[^\W\d_][^\d:€$£+]{1,40}?)[.\s]{0,3}(?P<value>[+(€$£]?\s?\d.{0,60}?)(?:[,;]\s[^\W\d].*)?"
)
_COUNTED = re.compile(r"(?P<value>\d[\d.,]*)\s?(?P<label>[^\W\d][^\d:]{2,30})")
_ABBREVIATED = re.compile(r"[^\W\d_]{1,5}\.")
_SENTENCE = re.compile(r"[.!?]$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_END = Line("")
_TOTAL = re.compile(
    r"(?:grand )?total|sum|gesamt(?:summe)?|summe|suma|totale?|totaal|合计|总计|合計|итого", re.IGNORECASE
)
_CLOCK = re.compile(r"\d{1,2}$")


class RowSet(Struct, frozen=True):
    """Rows that a source repeats, each as pairs, what they are called, and how many there are of them."""

    rows: tuple[tuple[Pair, ...], ...]
    called: frozenset[str]
    origin: FieldOrigin
    count: int
    kind: str = ""


def labelled(text: SourceEvidence) -> list[Pair]:
    """Return the pairs that a source shows, in their order."""
    pairs: list[Pair] = []
    for table in grids(text):
        pairs.extend(_of_table(table))
    pairs.extend(_of_lines(text.lines))
    pairs.extend(_led(text.lines))
    return pairs[:MAX_PAIRS]


def grids(text: SourceEvidence) -> tuple[ExtractedTable, ...]:
    """Return the tables of a source: as they were extracted, else as its Markdown has them."""
    if text.source.tables:
        return text.source.tables
    tables: list[ExtractedTable] = []
    rows: list[tuple[str, ...]] = []
    for line in (*text.lines, Line("")):
        if line.cells and (not rows or len(line.cells) == len(rows[0])):
            rows.append(line.cells)
            continue
        if len(rows) > 1:
            tables.append(ExtractedTable(headers=rows[0], rows=tuple(rows[1:])))
        rows = [line.cells] if line.cells else []
    return tuple(tables)


def row_sets(text: SourceEvidence) -> tuple[RowSet, ...]:
    """Return the rows of the tables, of the lists of records, and of the sections that are alike."""
    return (
        *(rows for table in grids(text) if any(table.headers) for rows in _of_grid(table)),
        *(_of_records(records) for records in text.source.parts.lists),
        *_sections(text.lines, meanings(text.source.title)),
    )


def _of_grid(table: ExtractedTable) -> Iterator[RowSet]:
    words = meanings(table.caption) if isinstance(table.caption, str) else frozenset[str]()
    for columns, rows in ((table.headers, table.rows), *_turned(table)):
        labels = _labels_of_headers(columns)
        yield RowSet(tuple(_rows(columns, labels, rows, FieldOrigin.TABLE)), words, FieldOrigin.TABLE, len(rows))


def _labels_of_headers(headers: Sequence[str]) -> list[tuple[frozenset[str], ...]]:
    """Return what each column is: its header, and the part of it that its group of columns does not share."""
    own = [_beyond_group(headers, at) for at in range(len(headers))]
    alone = Counter(own)
    return [
        (meanings(header), meanings(rest)) if rest and rest != header and alone[rest] == 1 else (meanings(header),)
        for header, rest in zip(headers, own, strict=True)
    ]


def _beyond_group(headers: Sequence[str], at: int) -> str:
    """Return a header without the words that it begins with as the column beside it does."""
    words = headers[at].split()
    beside = [headers[near].split() for near in (at - 1, at + 1) if 0 <= near < len(headers)]
    shared = max((sum(1 for _ in takewhile(_are_same, zip(words, other, strict=False))) for other in beside), default=0)
    return " ".join(words[shared:])


def _are_same(words: tuple[str, str]) -> bool:
    return words[0] == words[1]


def _of_records(records: RecordList) -> RowSet:
    labels = [_labels_of(name, [row[at] for row in records.rows]) for at, name in enumerate(records.columns)]
    rows = tuple(_rows(records.columns, labels, records.rows, FieldOrigin.RECORD))
    return RowSet(rows, meanings(records.caption), FieldOrigin.RECORD, len(records.rows))


def _labels_of(name: str, cells: Sequence[str]) -> tuple[frozenset[str], ...]:
    """Return what a column of records is: one of sentences describes the thing, whatever its class is called."""
    counts = [len(cell.split()) for cell in cells if cell]
    described = bool(counts) and not is_known(name) and sum(counts) >= _MIN_ABOUT_WORDS * len(counts)
    return (meanings(name), frozenset({"description"})) if described else (meanings(name),)


def _rows(
    columns: Sequence[str],
    labels: Sequence[tuple[frozenset[str], ...]],
    rows: Sequence[Sequence[str]],
    origin: FieldOrigin,
) -> Iterator[tuple[Pair, ...]]:
    weight = 0.95 if origin is FieldOrigin.TABLE else 0.9
    for row in rows[:MAX_ROWS]:
        if origin is FieldOrigin.TABLE and _is_no_record(row):
            continue
        cells = [cell for cell in row if cell.strip()]
        quote, ends = "", ("", "")
        if origin is FieldOrigin.TABLE and sum(map(len, cells)) <= _MAX_ROW_CHARS:
            quote, ends = " ".join(cells), (cells[0], cells[-1]) if len(cells) > 1 else ("", "")
        yield tuple(
            Pair(
                label, cell, origin, weight, (cell,) if "://" in cell[:9] else (), quote=quote, ends=ends, column=column
            )
            for column, label, cell in zip(columns, labels, row, strict=False)
            if cell.strip() not in {"", "-", "\u2013", "\u2014"}
        )


def _is_no_record(row: Sequence[str]) -> bool:
    """Return whether a row is a sum, or one text across all columns: a heading within the table, or a note below it."""
    first = next(filter(None, row), "")
    is_across = len(row) > 1 and set(row) == {first} and any(map(str.isalpha, first))
    return (is_across and len(first.split()) >= _ACROSS.get(len(row), 1)) or bool(_TOTAL.fullmatch(first.strip(" :")))


def _turned(table: ExtractedTable) -> Iterator[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]:
    """Return a table whose columns are the things, and whose rows what is compared of them, the other way round."""
    width = len(table.headers)
    if not _MIN_COMPARED <= width <= _MAX_COMPARED or not 0 < len(table.rows) <= _MAX_COMPARED or table.headers[0]:
        return
    heading = "year" if all(_YEAR.fullmatch(header) for header in table.headers[1:]) else "name"
    yield (
        (heading, *(row[0] for row in table.rows)),
        tuple((table.headers[at], *(row[at] for row in table.rows)) for at in range(1, width)),
    )


def _sections(lines: Sequence[Line], page: frozenset[str]) -> Iterator[RowSet]:
    """Return the sections below headings of one level, each with its heading as its name and what is labelled in it."""
    for level in sorted({line.level for line in lines if line.level}):
        for above, sections in _neighbours(lines, level, page):
            rows = tuple(_of_section(lines[start], lines[start + 1 : stop]) for start, stop in sections)
            yield RowSet(rows, above, FieldOrigin.KEY_VALUE, len(rows), kind="section")


def _neighbours(
    lines: Sequence[Line], level: int, page: frozenset[str]
) -> Iterator[tuple[frozenset[str], list[tuple[int, int]]]]:
    """Return the sections of a level that stand below one heading: its words, and where each begins and ends."""
    above, starts = page, list[int]()
    for number, line in enumerate((*lines, _END)):
        if 0 < line.level < level or line is _END:
            if starts[1:]:
                yield above, list(zip(starts, [*starts[1:], number], strict=True))
            above, starts = meanings(line.text), []
        elif line.level == level:
            starts.append(number)


def _of_section(heading: Line, body: Sequence[Line]) -> tuple[Pair, ...]:
    name = Pair((frozenset({"name"}),), heading.text, FieldOrigin.KEY_VALUE, 0.9, links=heading.links)
    texts = [Pair((), line.text, FieldOrigin.KEY_VALUE, 0.8, links=line.links) for line in body if not line.cells]
    about = next((line for line in body if len(line.text.split()) >= _MIN_ABOUT_WORDS and not line.cells), None)
    described = [Pair((frozenset({"description"}),), about.text, FieldOrigin.TEXT, _ABOUT)] if about else []
    return (name, *_of_lines(body), *addresses(body), *described, *texts)


def _of_table(table: ExtractedTable) -> Iterator[Pair]:
    """Return the pairs of a table of keys and values, and of one that has a single row."""
    width = len(table.rows[0]) if table.rows else 0
    is_row = width == len(table.headers) == 2 and table.headers[0] and not is_known(table.headers[1])  # noqa: PLR2004 - a key and a value
    rows = [table.headers, *table.rows] if is_row else table.rows
    if width == 2 or (width == 4 and not any(table.headers)):  # noqa: PLR2004 - one or two keys a row
        for row in rows:
            for key, value in zip(row[::2], row[1::2], strict=False):
                if key and value and len(key) <= MAX_LABEL_CHARS:
                    yield Pair(
                        (meanings(key),), value, FieldOrigin.TABLE, _KEYED, quote=f"{key} {value}", ends=(key, value)
                    )
    elif len(table.rows) == 1 and any(table.headers):
        labels = [(meanings(header),) for header in table.headers]
        yield from next(iter(_rows(table.headers, labels, table.rows, FieldOrigin.TABLE)), ())


def _of_lines(lines: Sequence[Line]) -> Iterator[Pair]:
    section = frozenset[str]()
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else None
        if line.level:
            section = meanings(line.text)
        if line.cells:
            continue
        for pair in _of_line(line, following):
            yield structs.replace(pair, section=section) if not line.level else pair


def _led(lines: Sequence[Line]) -> Iterator[Pair]:
    """Return the pairs of neighbouring short lines most of which begin with words that are known as labels."""
    run = list[Pair | None]()
    for line in (*lines, Line("")):
        if line.text and not line.level and not line.cells and len(line.text) <= _MAX_LED_CHARS:
            run.append(_begun(line))
            continue
        pairs = [pair for pair in run if pair is not None]
        if len(pairs) >= _MIN_LED and 2 * len(pairs) > len(run):
            yield from pairs
        run = []


def _begun(line: Line) -> Pair | None:
    """Return a line as a label of one or two words and a text, where the label is in a table."""
    words = line.text.split()
    for length in (2, 1):
        label, rest = " ".join(words[:length]), " ".join(words[length:])
        if rest and is_known(label) and (rest[0].isupper() or not rest[0].isalpha()):
            return _pair(label, rest, _NEXT, line, line.text)
    return None


def _of_line(line: Line, following: Line | None) -> Iterator[Pair]:
    if following is not None and following.defines and not line.defines:
        yield _pair(line.text.rstrip(" :\uff1a"), following.text, _SURE, following)
        return
    if following is not None and _is_bare_label(line) and not following.level and not following.cells:
        weight = _SURE if line.text.endswith((":", "\uff1a")) else _BELOW if line.level else _NEXT
        yield _pair(line.text.rstrip(" :\uff1a"), following.text, weight, following)
    if line.level or len(line.text) > _MAX_VALUE_CHARS:
        return
    if line.lead and (value := line.text[len(line.lead) :].lstrip(" :\uff1a\u2013-")):
        yield _pair(
            line.lead.rstrip(" :\uff1a"), value, _SURE if ":" in line.text[: len(line.lead) + 2] else _LED, line
        )
    for part in _PARTS.split(line.text):
        yield from _of_part(part, line)


def _of_part(part: str, line: Line) -> Iterator[Pair]:
    colon = _COLON.search(part)
    if colon and _is_label(part[: colon.start()]) and part[colon.end() :] and not _CLOCK.search(part[: colon.start()]):
        yield _pair(part[: colon.start()], part[colon.end() :], _SURE, line, part)
        return
    if len(part) <= 80 and (match := _NUMBERED_LABEL.fullmatch(part)) and _labels_number(match["label"]):  # noqa: PLR2004 - a short line
        yield _pair(match["label"], match["value"], _NUMBERED, line, part)
    if len(part) <= 40 and (match := _COUNTED.fullmatch(part)) and not is_unit(match["label"]):  # noqa: PLR2004 - "42 employees", "20 min prep"
        yield _pair(match["label"], part, _NUMBERED, line, part)


def _pair(label: str, text: str, weight: float, line: Line, quote: str = "") -> Pair:
    links = line.links if len(line.links) == 1 or text == line.text else ()
    return Pair((meanings(label),), text.strip(), FieldOrigin.KEY_VALUE, weight, links, quote=quote or text)


def _is_label(text: str) -> bool:
    return (
        0 < len(text) <= MAX_LABEL_CHARS
        and len(text.split()) <= _MAX_LABEL_WORDS
        and (not _SENTENCE.search(text) or _ABBREVIATED.fullmatch(text) is not None)
    )


def _labels_number(text: str) -> bool:
    """Return whether a text may be the label of the number behind it: "Day 3" says which day, not how many."""
    return _is_label(text) and not is_unit(text)


def _is_bare_label(line: Line) -> bool:
    """Return whether a line may be the label of the next one: a few words that say nothing by themselves."""
    if line.text.endswith((":", "\uff1a")):
        return _is_label(line.text)
    if _COLON.search(line.text):
        return False  # it has its own text
    short = len(line.text) <= 40 and len(line.text.split()) <= 4  # noqa: PLR2004 - a few words
    return short and not line.item and not any(character.isdigit() for character in line.text) and _is_label(line.text)
