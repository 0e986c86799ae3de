"""Writes tables as plain rows, and those that only lay the page out as blocks and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from turbohtml import Element, Node, Text

from actors.extraction.parse.long_tables import LaterRows
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.tables import DataTable, data_table
from actors.extraction.write.rendering import Verbatim

_MAX_TABLES = 500
_MAX_LINE_CHARS = 300
_NOT_IN_LINES = "address,article,blockquote,br,div,dl,figure,h1,h2,h3,h4,h5,h6,hr,img,li,ol,p,pre,section,table,ul"
_PARTS_OF_TABLES = ("tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col")


def rewrite_tables(
    body: Element, hidden: Mapping[Element, Hiding], own: Verbatim, later_rows: Mapping[Element, LaterRows]
) -> None:
    """Rewrite each table of a pruned tree as plain rows; tables that only lay the page out become blocks."""
    for number, table in enumerate(body.select("table")):
        if table.tag != "table" or table.parent is None:
            continue
        later = later_rows.get(table)
        read = data_table(table, hidden, later) if number < _MAX_TABLES else None
        if read is None:
            _flatten(table)
        else:
            _rewrite(table, read, own, later.links if later else {})


def _flatten(table: Element) -> None:
    for part in [part for part in table.iter_elements(_PARTS_OF_TABLES) if part.closest("table") == table]:
        if part.tag == "tr" and _is_line(part):
            for cell in part.children:
                if isinstance(cell, Element):
                    cell.tag = "span"
                    cell.insert_after(Text(" "))
        if part.tag in _PARTS_OF_TABLES:
            part.tag = "div"
    table.tag = "div"


def _is_line(row: Element) -> bool:
    """Return whether the cells of a row are words of one line, as a number and what it counts."""
    if row.select_one(_NOT_IN_LINES) is not None or len(row.text) > _MAX_LINE_CHARS:
        return False
    cells = [cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")]
    return sum(1 for cell in cells if cell.text.strip()) > 1


def _rewrite(table: Element, read: DataTable, own: Verbatim, links: Mapping[str, str]) -> None:
    written = set[Element]()
    rows = [_header(read, written)] if read.header_rows else []
    later: list[tuple[str, ...]] = []
    for slots, texts in zip(read.rows[read.header_rows :], read.texts[read.header_rows :], strict=True):
        if slots[0] is not None and slots[0].parent is None:  # it stands not in the tree
            later.append(texts)
        else:
            whole = len(slots) > 1 and slots[0] is not None and all(slot == slots[0] for slot in slots)
            once = (texts[0], *("" for _ in texts[1:])) if whole else texts
            rows.append(Element("tr", None, [_cell("td", *pair, written) for pair in zip(slots, once, strict=True)]))
    if later:
        others = (Element("td") for _ in later[0][1:])
        rows.append(Element("tr", None, [Element("td", None, [own.rows(later, links)]), *others]))
    parts: list[Node] = [Element("p", None, [Text(read.caption)])] if read.caption else []
    table.replace_with(*parts, Element("table", None, rows))


def _header(read: DataTable, written: set[Element]) -> Element:
    slots: Sequence[Element | None] = read.rows[0] if read.header_rows == 1 else (None,) * len(read.headers)
    pairs = zip(slots, read.headers, strict=True)
    return Element("tr", None, [_cell("th", slot, text, written) for slot, text in pairs])


def _cell(tag: str, source: Element | None, text: str, written: set[Element]) -> Element:
    """Return a cell as a plain one, or one of its words where it stands in another slot as well."""
    if source is None or source in written or not source.children:
        return Element(tag, None, [Text(text)])
    written.add(source)
    # The very cell: each element that is made anew takes 6 KB.
    for name in list(source.attrs):
        del source.attrs[name]
    source.tag = tag
    return source
