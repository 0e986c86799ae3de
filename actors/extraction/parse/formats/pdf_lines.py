"""The glyphs of a page of a PDF, the lines of text that they make, and the tables that drawn lines bound.

Cells are found by pdfplumber. Words are those of PDFium: pdfplumber tells them apart by gaps alone, and runs some
together ("Permissionisgrantedtocopy"); of 39,000 words of 23 real documents .76 are the same, in twice the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from msgspec import Struct

SOFT_HYPHEN = "\u00ad"
"""Stands where a hyphen only breaks a word at the end of a line."""

_GAP_SHARE = 1.2
"""Words further apart than this many times their size stand in columns."""

_COVERING_SHARE = 0.5
"""A picture of this share of the page is a scan, over which recognised text lies unseen."""

_ANOTHER_LINE = 0.6
_DARK_ENOUGH = 4.0
_LEAST_LINES = 4
_MOST_EDGES = 600
_MOST_CROSSINGS = 1_500
"""What the search for cells takes grows with the square of their corners: 1,500 take .2 s."""

_SNAP = 3.0
_FILLED_SHARE = 0.3
"""Of the cells of a table this share has words in it."""


class Rectangle(Struct, frozen=True, gc=False):
    """A rectangle in points as the page is seen: from the left, and from the top."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """How high it is."""
        return self.bottom - self.top

    def holds(self, other: Rectangle) -> bool:
        """Return whether the middle of another rectangle lies inside."""
        x, y = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left <= x <= self.right and self.top <= y <= self.bottom


class GlyphStyle(Struct, frozen=True, gc=False):
    """How characters look that were drawn together: `size` in points, `hidden` where nobody can see them.

    `fixed` ones are all of one width, as those of programs. `pale` ones are white or nearly so: whether they are seen
    depends on what they stand on. `drawn` is false for the layer of recognised text that lies unseen over a scan.
    """

    size: float
    bold: bool = False
    fixed: bool = False
    hidden: bool = False
    pale: bool = False
    drawn: bool = True


class Glyph(Struct, frozen=True, gc=False):
    """A character; one that the reader of the PDF put in, as between words and lines, has no place and no style."""

    text: str
    box: Rectangle | None = None
    style: GlyphStyle | None = None


class PdfPage(Struct, frozen=True):
    """One page: `glyphs` in the order in which they are drawn, `lines` upright or level, `dark` areas and pictures."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...] = ()
    lines: tuple[Rectangle, ...] = ()
    dark: tuple[Rectangle, ...] = ()
    pictures: tuple[Rectangle, ...] = ()
    links: tuple[tuple[Rectangle, str], ...] = ()


class LinePart(NamedTuple):
    """Words of a line that stand together."""

    text: str
    left: float
    right: float


class TextLine(NamedTuple):
    """A line: its parts from left to right, and what most of it looks like."""

    parts: tuple[LinePart, ...]
    box: Rectangle
    size: float
    bold: bool
    fixed: bool = False

    @property
    def text(self) -> str:
        """The words of the line."""
        return " ".join(part.text for part in self.parts)


class VisibleGlyphs(NamedTuple):
    """What can be seen of the characters of a page, and how many cannot be."""

    glyphs: list[Glyph]
    invisible: int


def visible_glyphs(page: PdfPage) -> VisibleGlyphs:
    """Take out what is not drawn, as small as dust, beside the page, or white on white.

    Text that is not drawn stays where a picture covers the page: it is what was recognised in a scan.
    """
    scanned = any(
        picture.width * picture.height >= _COVERING_SHARE * page.width * page.height for picture in page.pictures
    )
    behind = [box for box in (*page.dark, *page.pictures) if min(box.width, box.height) >= _DARK_ENOUGH]
    sheet = Rectangle(0.0, 0.0, page.width, page.height)
    kept: list[Glyph] = []
    invisible = 0
    for glyph in page.glyphs:
        if glyph.box is None or _is_visible(glyph, sheet, behind, scanned=scanned):
            kept.append(glyph)
        elif not glyph.text.isspace():
            invisible += 1
    return VisibleGlyphs(kept, invisible)


def text_lines(glyphs: Iterable[Glyph]) -> Iterator[TextLine]:
    """Return the lines of a page in the order in which it draws them.

    Where they break, the places of the characters show: the breaks of PDFium stand between columns, too.
    """
    row: list[Glyph] = []
    last: Rectangle | None = None
    for glyph in glyphs:
        box = glyph.box
        if box is not None and last is not None and _breaks(last, box):
            yield from _line(row)
            row = []
        row.append(glyph)
        last = box or last
    yield from _line(row)


class RuledTable(NamedTuple):
    """A table: where it stands, and its cells by row and column; a cell that spans several stands in its first."""

    box: Rectangle
    rows: tuple[tuple[Rectangle | None, ...], ...]


def ruled_tables(lines: Sequence[Rectangle]) -> list[RuledTable]:
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
    tables = (_of_library(geometry.Table(None, group)) for group in geometry.cells_to_tables(cells))
    return [table for table in tables if table is not None]


def cell_texts(table: RuledTable, glyphs: Sequence[Glyph]) -> tuple[tuple[str, ...], ...]:
    """Write the words of a table into its cells; nothing where most cells have none."""
    inside = [glyph for glyph in glyphs if glyph.box is None or table.box.holds(glyph.box)]
    texts = tuple(tuple(_text(cell, inside) for cell in row) for row in table.rows)
    cells = sum(map(len, texts))
    return texts if sum(bool(text) for row in texts for text in row) >= _FILLED_SHARE * cells else ()


def _is_visible(glyph: Glyph, sheet: Rectangle, behind: Sequence[Rectangle], *, scanned: bool) -> bool:
    style, box = glyph.style, glyph.box
    if style is None or box is None:
        return True
    if style.hidden or (not style.drawn and not scanned):
        return False
    if not sheet.holds(box):
        return False
    return not style.pale or any(area.holds(box) for area in behind)


def _breaks(last: Rectangle, box: Rectangle) -> bool:
    """Return whether a character stands in another line than the one before it, above, below or back at the left."""
    high = max(last.height, box.height)
    middle, other = (last.top + last.bottom) / 2, (box.top + box.bottom) / 2
    return abs(middle - other) > _ANOTHER_LINE * high or box.right < last.left - 2 * high


def _line(row: Sequence[Glyph]) -> Iterator[TextLine]:
    placed = [(glyph.box, glyph.style) for glyph in row if glyph.box and glyph.style and not glyph.text.isspace()]
    if not placed:
        return
    sizes = sorted(style.size for _, style in placed)
    box = Rectangle(
        min(box.left for box, _ in placed),
        min(box.top for box, _ in placed),
        max(box.right for box, _ in placed),
        max(box.bottom for box, _ in placed),
    )
    size = sizes[len(sizes) // 2]
    bold = 2 * sum(style.bold for _, style in placed) > len(placed)
    fixed = all(style.fixed for _, style in placed)
    parts = tuple(_parts(row, box.width + size if fixed else size * _GAP_SHARE))
    if parts:
        yield TextLine(parts, box, size, bold, fixed)


def _parts(row: Sequence[Glyph], gap: float) -> Iterator[LinePart]:
    text: list[str] = []
    left = right = 0.0
    for glyph in row:
        if glyph.box is not None and not glyph.text.isspace():
            if text and right and glyph.box.left - right > gap:
                if words := _words(text):
                    yield LinePart(words, left, right)
                text, left = [], glyph.box.left
            left = left if right and text else glyph.box.left
            right = max(right, glyph.box.right) if text else glyph.box.right
        text.append(glyph.text)
    if words := _words(text):
        yield LinePart(words, left, right)


def _words(text: Sequence[str]) -> str:
    return " ".join("".join(text).split())


def _edge(line: Rectangle) -> Mapping[str, Any]:
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


def _of_library(table: Any) -> RuledTable | None:
    rows = tuple(tuple(Rectangle(*cell) if cell else None for cell in row.cells) for row in table.rows)
    if len(rows) < 2 or len(rows[0]) < 2:  # noqa: PLR2004 - less is a box, or lines between paragraphs
        return None
    return RuledTable(Rectangle(*table.bbox), rows)


def _text(cell: Rectangle | None, glyphs: Sequence[Glyph]) -> str:
    """Return the words in a cell: what the PDF puts between its characters stays only between two of them."""
    if cell is None:
        return ""
    text: list[str] = []
    between = ""
    for glyph in glyphs:
        if glyph.box is None or glyph.text.isspace():
            between = between or (" " if glyph.text.isspace() else "")
        elif cell.holds(glyph.box):
            text += [between if text else "", glyph.text]
            between = ""
        else:
            between = " "
    return " ".join("".join(text).split())
