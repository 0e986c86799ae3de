"""Reads data tables as grids without spans; tables that only lay a page out are left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from msgspec import UNSET, Struct
from turbohtml import Element

from actors.extraction.decide.content import Content
from actors.extraction.parse.long_tables import LaterRows
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select import table_rows
from actors.extraction.select.icons import drawn
from actors.extraction.select.table_rows import HeaderMark, TextRow
from actors.extraction.select.words import words
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedTable

MAX_TABLES = 200
MAX_CELL_CHARS = 2_000
MAX_SLOTS = 400_000
"""What all tables of a page may fill together; the table that goes beyond it is the last one, and cut."""

_MAX_ALT_CHARS = 200
_TABLES = "table,[role=table],[role=grid],[role=treegrid]"

_SCORES: Mapping[HeaderMark, tuple[Source, float]] = MappingProxyType(
    {
        HeaderMark.HEAD: (Source.SELECTOR_MATCH, 0.96),
        HeaderMark.KEYS: (Source.SELECTOR_MATCH, 0.95),
        HeaderMark.CELLS: (Source.SELECTOR_MATCH, 0.93),
        HeaderMark.LOOKS: (Source.HEURISTIC, 0.9),
        HeaderMark.TYPES: (Source.HEURISTIC, 0.85),
        HeaderMark.CORNER: (Source.HEURISTIC, 0.8),
        HeaderMark.NONE: (Source.HEURISTIC, 0.8),
    }
)
"""How sure a table is by what marks its headers: the share that a person who looked at 126 tables of the pages that the
extraction is measured on would draw the same, drawn towards the middle where a kind is rare."""

T = TypeVar("T")

_PROSE_CHARS = 120
"""Mean characters of the cells from which a table without headers is text in columns."""

_NAME_CHARS = 40
_FEW_ROWS = 3
_MOSTLY_LINKS = 0.8
_FORM_SHARE = 0.3
_EMPTY_SHARE = 0.7
_MAX_NESTED = 20
"""A table that holds as many others has no data of its own."""

_MAX_SAMPLED_CELLS = 200
"""Cells that are looked at: enough to know a table by."""

_BESIDE_DAYS = 30
"""Characters that the cells of a calendar hold beside its days at most, as marks of today; more are events."""

_WEEK = 7
_DAYS = frozenset(map(str, range(1, 32)))

_BLOCKS = "h1,h2,h3,h4,h5,h6,ul,ol,blockquote,section,article,figure,p+p,form,iframe,video"
_FORM_CONTROLS = "input:not([type=hidden]):not([type=checkbox]):not([type=radio]),select,textarea"
_CODE = "[data-line-number],td.linenos,td.gutter,td.code>pre,td>pre.highlight"
_OWN_HEADINGS = ":scope>thead th,:scope>tbody>tr>th,:scope>tr>th,:scope>caption"
_UNMARKED = frozenset({HeaderMark.NONE, HeaderMark.TYPES, HeaderMark.CORNER, HeaderMark.LOOKS})


class DataTable(Struct, frozen=True):
    """A data table as a grid: each of the `rows` has as many slots, each slot the cell that covers it, or None.

    A cell that spans several slots stands in each of them. `texts` is parallel to `rows`. The first `header_rows` of
    the rows are headers, and `headers` their texts joined top-down, one for each column ("" for a column without one;
    so are all of them where `header_rows` is 0: a table of keys and values says no name for either column).
    `caption` is the text of the caption and of first rows that say one thing over the whole width; such rows, and
    rows and columns without any text, are not among `rows`. `mark` says by what the headers are known.
    """

    rows: tuple[table_rows.Slots, ...]
    texts: tuple[tuple[str, ...], ...]
    header_rows: int
    headers: tuple[str, ...]
    caption: str
    mark: HeaderMark


def tables(page: Page, content: Content) -> list[tuple[ExtractedTable, Confidence]]:
    """Return the data tables of the main content, whole, each with how sure its shape is."""
    results: list[tuple[ExtractedTable, Confidence]] = []
    left = MAX_SLOTS
    for table in islice(_data_tables(page, content), MAX_TABLES):
        width = len(table.headers)
        rows = table.texts[table.header_rows : table.header_rows + left // width]
        if not rows:
            break
        left -= len(rows) * width
        source, score = _SCORES[table.mark]
        extracted = ExtractedTable(headers=table.headers, rows=rows, caption=table.caption or UNSET)
        results.append((extracted, confidence(source, score)))
    return results


def data_table(table: Element, hidden: Mapping[Element, Hiding], later: LaterRows | None = None) -> DataTable | None:
    """Resolve the spans of a table (`<table>`, or an element of role table or grid); None where it is only layout.

    `later` are rows of it that stand not in the tree: their slots are cells without a text.
    """
    if is_layout(table):
        return None
    rows = _rows(table, hidden)
    rows = _without_gaps([*rows, *_later_rows(later, len(rows[0].slots))] if later and rows else rows)
    titles = table_rows.title_rows(rows)
    if titles:
        rows = _without_gaps(rows[len(titles) :])
    if len(rows) < 2 or len(rows[0].slots) < 2:  # noqa: PLR2004 - one row or one column is no table
        return None
    header_rows, mark = table_rows.count_header_rows(rows)
    if header_rows == 1:
        rows = _aligned(rows)
    if _holds_no_data(rows, mark):
        return None
    names = table_rows.joined_headers(rows[:header_rows], len(rows[0].slots))
    body = table_rows.without_labels(_without_repeated_headers(rows, header_rows), names)
    rows = rows[:header_rows] + body
    return DataTable(
        rows=tuple(row.slots for row in rows),
        texts=tuple(row.texts for row in rows),
        header_rows=header_rows,
        headers=names,
        caption=" ".join(dict.fromkeys(filter(None, (_caption(table, hidden), *titles)))),
        mark=mark,
    )


def is_layout(table: Element) -> bool:
    """Return whether markup alone shows that a table holds no data: it says so, or holds another, without a header."""
    nested = sum(1 for _ in islice(table.iter_elements("table"), _MAX_NESTED))
    if nested or table.attr("role") in ("presentation", "none"):
        return nested == _MAX_NESTED or table.select_one(_OWN_HEADINGS) is None
    return table.select_one(_CODE) is not None


def _data_tables(page: Page, content: Content) -> Iterator[DataTable]:
    inside: set[Element] = set()
    for element in page.root.select(_TABLES):
        if element not in content.holders or element in inside:
            continue
        if (table := data_table(element, page.hidden, page.later_rows.get(element))) is not None:
            inside.update(element.select(_TABLES))
            yield table


def _rows(table: Element, hidden: Mapping[Element, Hiding]) -> list[TextRow]:
    texts: dict[Element | None, str] = {None: ""}
    rows: list[TextRow] = []
    for line in table_rows.grid_rows(table, hidden):
        for cell in line.slots:
            if cell is not None and cell not in texts:
                texts[cell] = words(cell, hidden, MAX_CELL_CHARS) or drawn(cell)
        rows.append(TextRow(line.slots, tuple([texts[cell] for cell in line.slots]), line.head))
    return rows


def _later_rows(later: LaterRows, width: int) -> Iterator[TextRow]:
    places = [Element("td") for _ in range(width)]
    for row in later.rows:
        texts = row[:width]
        missing = width - len(texts)
        yield TextRow((*places[: len(texts)], *(None,) * missing), (*texts, *("",) * missing), head=False)


def _without_gaps(rows: list[TextRow]) -> list[TextRow]:
    """Leave out rows and columns in which nothing stands, and columns in which no cell begins any more."""
    rows = [row for row in rows if any(row.texts)]
    if not rows:
        return rows
    width = len(rows[0].slots)
    kept = [column for column in range(width) if any(row.texts[column] for row in rows)]
    if len(kept) == width:
        return rows
    return [TextRow(_pick(row.slots, kept), _pick(row.texts, kept), row.head) for row in rows]


def _aligned(rows: list[TextRow]) -> list[TextRow]:
    """Take cells without text out of the header where all rows below are short of as many cells."""
    width, empty = len(rows[0].slots), [column for column, text in enumerate(rows[0].texts) if not text]
    short = min(row.slots[::-1].index(next(filter(None, row.slots[::-1]))) for row in rows[1:])
    if not 0 < short <= len(empty) or rows[0].slots[-1] is None:
        return rows
    kept = [column for column in range(width) if column not in empty[:short]]
    header = TextRow(_pick(rows[0].slots, kept), _pick(rows[0].texts, kept), rows[0].head)
    return [header, *(TextRow(row.slots[:-short], row.texts[:-short], row.head) for row in rows[1:])]


def _without_repeated_headers(rows: list[TextRow], header_rows: int) -> list[TextRow]:
    """Return the rows below the headers without those that say the headers once more (in the foot, on every page)."""
    header_texts = {row.texts for row in rows[:header_rows]}
    body = [row for row in rows[header_rows:] if row.texts not in header_texts]
    return body or rows[header_rows:]


def _pick(values: tuple[T, ...], kept: list[int]) -> tuple[T, ...]:
    return tuple([values[column] for column in kept])


def _caption(table: Element, hidden: Mapping[Element, Hiding]) -> str:
    if table.tag != "table":
        return one_line(table.attr("aria-label") or "", _MAX_ALT_CHARS)
    captions = (child for child in table.children if isinstance(child, Element) and child.tag == "caption")
    return next((words(caption, hidden, MAX_CELL_CHARS) for caption in captions), "")


def _holds_no_data(rows: Sequence[TextRow], mark: HeaderMark) -> bool:
    """Return whether the cells of a table hold no data: prose or blocks without headers, links, a form, days."""
    every = list(
        {
            cell: text for row in rows for cell, text in zip(row.slots, row.texts, strict=True) if cell is not None
        }.items()
    )
    cells = [(cell, text) for cell, text in every if text][:_MAX_SAMPLED_CELLS]
    if not cells or _share_with(every[:_MAX_SAMPLED_CELLS], _FORM_CONTROLS) > _FORM_SHARE or _is_calendar(rows):
        return True
    if mark not in _UNMARKED:
        return mark is HeaderMark.KEYS and _linked_share(cells) > _MOSTLY_LINKS
    if _share_with(cells, _BLOCKS) > 0 or _linked_share(cells) > _MOSTLY_LINKS:
        return True
    slots = sum(len(row.slots) for row in rows)
    gaps = slots - sum(len(row.filled) for row in rows)
    return _is_prose(rows, cells) or (mark is HeaderMark.NONE and gaps > _EMPTY_SHARE * slots)


def _is_prose(rows: Sequence[TextRow], cells: list[tuple[Element, str]]) -> bool:
    # Prose beside a column of short names, row after row, is told of them.
    if len(rows) >= _FEW_ROWS and any(_is_short(column) for column in zip(*(row.texts for row in rows), strict=True)):
        return False
    return sum(len(text) for _, text in cells) > _PROSE_CHARS * len(cells)


def _is_short(texts: Sequence[str]) -> bool:
    return all(0 < len(text) <= _NAME_CHARS for text in texts)


def _share_with(cells: Sequence[tuple[Element, str]], selector: str) -> float:
    return sum(1 for cell, _ in cells if cell.select_one(selector) is not None) / len(cells)


def _linked_share(cells: list[tuple[Element, str]]) -> float:
    chars = sum(len(text) for _, text in cells)
    return sum(len(link.text.strip()) for cell, _ in cells for link in cell.iter_elements("a")) / max(chars, 1)


def _is_calendar(rows: Sequence[TextRow]) -> bool:
    if len(rows[0].slots) != _WEEK:
        return False
    texts = [text for row in rows[1:] for text in row.texts if text]
    others = [text for text in texts if text.lstrip("0") not in _DAYS]
    more = sum(map(len, others))  # what happens on some days is told by a table
    return len(texts) > _WEEK and len(others) <= (1 - _MOSTLY_LINKS) * len(texts) and more <= _BESIDE_DAYS
