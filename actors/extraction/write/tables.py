"""Writes tables as grids that Markdown can hold, and short where they are long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turbohtml import Element, Node, Text

from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.tables import Grid, grid
from actors.extraction.write.verbatim import Verbatim

_MOST_ROWS = 50
"""Rows up to which a table is written whole."""

_SHOWN_ROWS = 20
"""Rows that are written of a longer one."""

_MAX_TABLES = 500
_PARTS = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col")


def mend(body: Element, hidden: Mapping[Element, Hiding], own: Verbatim) -> None:
    """Rewrite each table of a pruned tree as plain rows; tables that only lay the page out become blocks."""
    for number, table in enumerate(body.select("table")):
        if table.tag != "table" or table.parent is None:
            continue
        read = grid(table, hidden) if number < _MAX_TABLES else None
        if read is None:
            _flatten(table)
        else:
            _rewrite(table, read, own)


def _flatten(table: Element) -> None:
    for part in [part for part in table.iter_elements(_PARTS) if part.closest("table") == table]:
        part.tag = "div"
    table.tag = "div"


def _rewrite(table: Element, read: Grid, own: Verbatim) -> None:
    count = len(read.rows) - read.header_rows
    shown = read.header_rows + (count if count <= _MOST_ROWS else _SHOWN_ROWS)
    written = set[Element]()
    rows = [_header(read, written)] if read.header_rows else []
    for slots, texts in zip(read.rows[read.header_rows : shown], read.texts[read.header_rows : shown], strict=True):
        rows.append(Element("tr", None, [_cell("td", *pair, written) for pair in zip(slots, texts, strict=True)]))
    parts: list[Node] = [Element("p", None, [Text(read.caption)])] if read.caption else []
    parts.append(Element("table", None, rows))
    if count > _MOST_ROWS:
        parts.append(own.paragraph(f"*({count:,} rows; the first {_SHOWN_ROWS} are shown)*"))
    table.replace_with(*parts)


def _header(read: Grid, written: set[Element]) -> Element:
    slots: Sequence[Element | None] = read.rows[0] if read.header_rows == 1 else (None,) * len(read.headers)
    pairs = zip(slots, read.headers, strict=True)
    return Element("tr", None, [_cell("th", slot, text, written) for slot, text in pairs])


def _cell(tag: str, source: Element | None, text: str, written: set[Element]) -> Element:
    """Make a cell of what stands in another; where that spans several, its words are repeated."""
    if source is None or source in written:
        return Element(tag, None, [Text(text)])
    written.add(source)
    return Element(tag, None, list(source.children) or [Text(text)])
