"""Reads data tables as grids without spans; tables that only lay a page out are left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turbohtml import Element

from actors.fetchers.extract.choice.content import Content
from actors.fetchers.extract.tree import Page
from actors.fetchers.extract.visibility import Hiding
from protocol.confidence import Confidence
from protocol.documents import ExtractedTable


@dataclass(frozen=True, slots=True)
class Grid:
    """A data table as a grid: each of the `rows` has as many slots, each slot the cell that covers it, or None.

    A cell that spans several slots stands in each of them. The first `header_rows` of the rows are headers, and
    `headers` their texts joined top-down, one for each column ("" for a column without one; so are all of them where
    `header_rows` is 0). `caption` is the text of the caption, or of a first row that is one cell wide; then that row
    is not among `rows`. Where `key_value` is true the first column names what the second holds, and there is no header.
    """

    rows: tuple[tuple[Element | None, ...], ...]
    header_rows: int
    headers: tuple[str, ...]
    caption: str
    key_value: bool


def tables(page: Page, content: Content) -> list[tuple[ExtractedTable, Confidence]]:
    """Give the data tables of the main content, whole, each with how sure its shape is."""
    raise NotImplementedError(page, content)


def grid(table: Element, hidden: Mapping[Element, Hiding]) -> Grid | None:
    """Resolve the spans of a table (`<table>`, or an element of role table or grid); None where it is only layout."""
    raise NotImplementedError(table, hidden)
