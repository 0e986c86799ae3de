"""Reads the rows of a list by scrolling through it, each once: one that draws only what is shown keeps no others."""

from __future__ import annotations

import time
from typing import Final

import anyio
from msgspec import Struct

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import ElementSignature, TabDocument, main_document
from actors.fetchers.playwright.view.finding import document_of, locate
from protocol.browsers.gestures import ReadRows
from protocol.browsers.results import ListRow, RowsRead
from protocol.faults import Code, FaultError, fault

_POLL_S: Final = 0.05
_PATIENCE_S: Final = 0.8
"""How long a list may take to draw what it was scrolled to, or to load more at its end."""

_DRAWN: Final = """Promise.race([
  new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true)))),
  new Promise((late) => setTimeout(() => late(false), 500))])"""


class _Row(Struct, frozen=True):
    """A row that is drawn: `key` is what it is known again by."""

    key: str
    text: str
    ids: tuple[str, ...]


class _DrawnRows(Struct, frozen=True):
    """The rows that are drawn now, and whether the list is scrolled to its end."""

    gone: bool
    url: str
    fresh: tuple[ElementSignature, ...]
    rows: tuple[_Row, ...] = ()
    top: float = 0.0
    end: bool = False


class _Turned(Struct, frozen=True):
    """Whether there was anything to scroll."""

    done: bool


async def read_rows(tab: Tab, do: ReadRows) -> RowsRead:
    """Read the rows of a list from its beginning, and scroll back to where it was.

    Raises:
        FaultError: ELEMENT_NOT_FOUND where the list is gone; PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    until_s = time.monotonic() + do.milliseconds / 1000
    document, name = main_document(tab), ""
    if do.element_id is not None:
        await locate(tab, do.element_id)
        within, name = await document_of(tab, do.element_id)
        document = within or document
    rows: dict[str, ListRow] = {}
    begin = await _drawn(document, name)
    await _turn(document, name, to=0.0)
    drawn = await _drawn(document, name)
    complete = False
    while not complete:
        _put(rows, drawn, document.number)
        if len(rows) > do.max_rows or time.monotonic() > until_s:
            break
        await _turn(document, name)
        drawn, complete = await _further(document, name, rows)
    await _turn(document, name, to=begin.top)
    kept = tuple(rows.values())[: do.max_rows]
    return RowsRead(rows=kept, complete=complete and len(kept) == len(rows))


async def _further(document: TabDocument, name: str, rows: dict[str, ListRow]) -> tuple[_DrawnRows, bool]:
    """Wait until a list draws other rows; returns them, and whether there are none beyond those that were read."""
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        drawn = await _drawn(document, name)
        if any(row.key not in rows for row in drawn.rows):
            return drawn, False
        if time.monotonic() > until_s:
            return drawn, drawn.end
        await anyio.sleep(_POLL_S)


async def _drawn(document: TabDocument, name: str) -> _DrawnRows:
    drawn = await document.call("rows", _DrawnRows, id=name)
    document.memory.remember(drawn.url, drawn.fresh)
    if drawn.gone:
        message = "The list is gone from the page: look again, and ask again."
        raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))
    return drawn


async def _turn(document: TabDocument, name: str, to: float | None = None) -> None:
    """Scroll, and wait until the page has drawn what it draws at once."""
    await document.call("turn", _Turned, id=name, to=to)
    await document.tab.run(_DRAWN, bool)


def _put(rows: dict[str, ListRow], drawn: _DrawnRows, frame: int) -> None:
    """Add those rows that were not read yet."""
    for row in drawn.rows:
        if row.key not in rows:
            ids = tuple(f"f{frame}_{number}" if frame else number for number in row.ids)
            rows[row.key] = ListRow(text=row.text, ids=ids)
