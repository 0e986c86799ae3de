"""Finds the tables of a page whose cells are bounded by lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple, cast

from actors.extraction.parse.formats.pdf.glyphs import Box, Glyph

_LEAST_LINES = 4
_MOST_EDGES = 600
_MOST_CROSSINGS = 1_500
"""What the search for cells takes grows with the square of their corners: 1,500 take .2 s."""

_SNAP = 3.0
_FILLED_SHARE = 0.3
"""Of the cells of a table this share has words in it."""

_Edge = Mapping[str, Any]


class Grid(NamedTuple):
    """A table: where it stands, and its cells by row and column; a cell that spans several stands in its first."""

    box: Box
    rows: tuple[tuple[Box | None, ...], ...]


def grids(lines: Sequence[Box]) -> list[Grid]:
    """Return the tables that lines make, of two rows and two columns at least."""
    if len(lines) < _LEAST_LINES:
        return []
    geometry: Any = import_module("pdfplumber.table")
    edges = geometry.merge_edges([_edge(line) for line in lines], _SNAP, _SNAP, _SNAP, _SNAP)
    if not _LEAST_LINES <= len(edges) <= _MOST_EDGES:
        return []
    crossings = geometry.edges_to_intersections(edges, _SNAP, _SNAP)
    if len(crossings) > _MOST_CROSSINGS:
        return []
    cells = geometry.intersections_to_cells(crossings)
    found = (_grid([Box(*corners) for corners in group]) for group in geometry.cells_to_tables(cells))
    return [grid for grid in found if grid is not None]


def filled(grid: Grid, glyphs: Sequence[Glyph]) -> tuple[tuple[str, ...], ...]:
    """Write the words of a table into its cells; nothing where most cells have none."""
    inside = [glyph for glyph in glyphs if glyph.box is None or _within(grid.box, glyph)]
    texts = tuple(tuple(_text(cell, inside) for cell in row) for row in grid.rows)
    cells = sum(map(len, texts))
    return texts if sum(bool(text) for row in texts for text in row) >= _FILLED_SHARE * cells else ()


def _edge(line: Box) -> _Edge:
    level = line.width >= line.height
    x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    left, right = (line.left, line.right) if level else (x, x)
    top, bottom = (y, y) if level else (line.top, line.bottom)
    return {
        "orientation": "h" if level else "v",
        "object_type": "line",
        "x0": left,
        "x1": right,
        "top": top,
        "bottom": bottom,
        "doctop": top,
        "y0": -bottom,
        "y1": -top,
        "width": right - left,
        "height": bottom - top,
    }


def _grid(cells: Sequence[Box]) -> Grid | None:
    lefts = sorted({cell.left for cell in cells})
    ordered = sorted(cells, key=lambda cell: (cell.top, cell.left))
    rows: list[tuple[Box | None, ...]] = []
    for _, group in groupby(ordered, key=lambda cell: cell.top):
        by_left = {cell.left: cell for cell in group}
        rows.append(tuple(by_left.get(left) for left in lefts))
    if len(rows) < 2 or len(lefts) < 2:  # noqa: PLR2004 - less is a box, or lines between paragraphs
        return None
    box = Box(
        lefts[0],
        ordered[0].top,
        max(cell.right for cell in cells),
        max(cell.bottom for cell in cells),
    )
    return Grid(box, tuple(rows))


def _within(box: Box, glyph: Glyph) -> bool:
    place = cast("Box", glyph.box)
    return box.holds((place.left + place.right) / 2, (place.top + place.bottom) / 2)


def _text(cell: Box | None, glyphs: Sequence[Glyph]) -> str:
    """Return the words in a cell: what the PDF puts between its characters stays only between two of them."""
    if cell is None:
        return ""
    text: list[str] = []
    between = ""
    for glyph in glyphs:
        if glyph.box is None or glyph.text.isspace():
            between = between or (" " if glyph.text.isspace() else "")
        elif _within(cell, glyph):
            text += [between if text else "", glyph.text]
            between = ""
        else:
            between = " "
    return " ".join("".join(text).split())
