"""Keeps what a page draws instead of writing it: ticks of tasks and tables, raised and lowered figures."""

from __future__ import annotations

from collections.abc import Iterable

from turbohtml import Element, Text

from actors.extraction.decide.content import Content
from actors.extraction.select.icons import drawn
from actors.extraction.select.tables import is_layout
from actors.extraction.write.rendering import Verbatim

_MAX_CELLS = 20_000
_TASKS = "li input[type=checkbox],li[role=checkbox],li[aria-checked]"
_MAX_SIGN_CHARS = 40


def mark_tasks(body: Element, content: Content, own: Verbatim) -> None:
    """Write before each item of a list that is a task whether it is done."""
    for element in body.select(_TASKS):
        item = element.closest("li")
        if item is None or item not in content.holders:
            continue
        if element.tag == "li":
            mark = "[x] " if element.attr("aria-checked") == "true" else "[ ] "
            element.insert(0, own.element(mark))
        elif _begins(element, item):
            mark = "[x]" if element.attr("checked") is not None else "[ ]"
            after = element.next_sibling
            spaced = isinstance(after, Text) and after.data[:1].isspace()
            element.replace_with(own.element(mark if spaced else f"{mark} "))


def drawn_cells(body: Element, content: Content) -> list[tuple[Element, str]]:
    """Return the cells without text of the tables that were kept, each with what is drawn in it."""
    cells = body.select("td,th")[:_MAX_CELLS] if content.holders else []
    empty = [cell for cell in cells if cell.children and cell not in content.holders and cell.parent in content.holders]
    data: dict[Element | None, bool] = {}
    signs: list[tuple[Element, str]] = []
    for cell in empty:
        table = cell.closest("table")
        if table not in data:
            data[table] = table is not None and not is_layout(table) and len(table.select("tr")) > 1
        if data[table] and len(sign := drawn(cell)) in range(1, _MAX_SIGN_CHARS):
            signs.append((cell, sign))
    return signs


def write_drawn(cells: Iterable[tuple[Element, str]]) -> None:
    """Write into cells that pruning left empty what was drawn in them."""
    for cell, sign in cells:
        if cell.parent is not None and not cell.children:
            cell.append(Text(sign))


def _begins(element: Element, item: Element) -> bool:
    """Return whether nothing stands before a checkbox in its item."""
    for node in item.descendants:
        if node == element:
            return True
        if isinstance(node, Text) and not node.data.isspace():
            return False
    return False
