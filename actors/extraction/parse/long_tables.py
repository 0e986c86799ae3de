"""Takes the later rows of very long tables out of the tree: they are read at once, and cost nothing in later rooms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct
from turbohtml import Element

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line

MAX_ROWS = 50_000
"""Rows of a table that are read; what follows is left out."""

_PLAIN_ROWS, _KEPT_PLAIN_ROWS = 300, 100
"""From how many rows the later ones of a table are taken whose cells hold nothing but text, and how many are kept."""

_LONG_ROWS, _KEPT_ROWS = 1_500, 500
"""From how many those of any table are, and how many of it stay in the tree, where headers and kind are told by them.

Their links and their marks are lost, which is why more of them stay.
"""

_NOT_PLAIN = "a,b,code,del,em,i,img,input,ol,s,strong,sub,sup,svg,ul,[aria-label],[role]"

_MAX_COLUMNS = 100
_MAX_SLOTS = 400_000
_MAX_CELL_CHARS = 2_000
_SPANNING = "[rowspan],[colspan]"
_IN_LINES = "br,p,div,li"
_CELLS = frozenset({"td", "th"})


class LaterRows(Struct, frozen=True):
    """The texts of the rows of a table that stand no more in the tree, a cell for each column.

    `links` are the addresses that cells lead to, by the text of the cell, where all cells of that text lead there.
    """

    rows: tuple[tuple[str, ...], ...]
    links: Mapping[str, str]

    @property
    def lines(self) -> Iterator[str]:
        """The texts that say something, one after the other."""
        return (text for row in self.rows for text in row if text)


def take_later_rows(root: Element, base: str) -> Mapping[Element, LaterRows]:
    """Take the later rows of very long tables out of a tree; a table with cells that span others there stays whole."""
    if len(root.select("tr")) <= _PLAIN_ROWS:
        return {}
    taken: dict[Element, LaterRows] = {}
    for group in root.select("table>tbody"):
        table = group.parent
        if isinstance(table, Element) and table not in taken and (later := _taken(group)) is not None:
            taken[table] = _read(later, base)
    return taken


def _taken(group: Element) -> Element | None:
    """Take the later rows out of a group of rows, if they are so many and of such a kind."""
    rows = [row for row in group.children if isinstance(row, Element) and row.tag == "tr"]
    if len(rows) <= _PLAIN_ROWS:
        return None
    kept = _KEPT_PLAIN_ROWS
    later = Element("tbody", None, rows[kept:])
    if later.select_one(_NOT_PLAIN) is not None:
        group.extend(list(later.children))
        if len(rows) <= _LONG_ROWS:
            return None
        kept = _KEPT_ROWS
        later = Element("tbody", None, rows[kept:])
    if later.select_one(_SPANNING) is None and later.select_one("table,pre") is None:
        return later
    group.extend(list(later.children))
    return None


def _read(later: Element, base: str) -> LaterRows:
    in_lines = later.select_one(_IN_LINES) is not None
    linked = later.select_one("a[href]") is not None
    rows: list[tuple[str, ...]] = []
    links: dict[str, str] = {}
    left = _MAX_SLOTS
    for row in islice(later.children, MAX_ROWS):
        if not isinstance(row, Element) or _is_hidden(row):
            continue
        cells = [cell for cell in row.children if isinstance(cell, Element) and cell.tag in _CELLS][:_MAX_COLUMNS]
        texts = tuple([one_line(_text(cell, in_lines=in_lines), _MAX_CELL_CHARS) for cell in cells])
        left -= len(texts)
        if left < 0:
            break
        rows.append(texts)
        for cell, text in zip(cells, texts, strict=True) if linked else ():
            link = cell.select_one("a[href]")
            url = on_the_web(base, link.attr("href") or "") if link is not None else ""
            links[text] = url if links.get(text, url) == url else ""
    return LaterRows(tuple(rows), {text: url for text, url in links.items() if text and url})


def _is_hidden(row: Element) -> bool:
    return row.attr("hidden") is not None or "none" in (row.attr("style") or "")


def _text(cell: Element, *, in_lines: bool) -> str:
    return " ".join(cell.stripped_strings) if in_lines and cell.select_one(_IN_LINES) is not None else cell.text
