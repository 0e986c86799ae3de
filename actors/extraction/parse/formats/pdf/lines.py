"""Puts the characters of a page together to lines of text, without what nobody sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from actors.extraction.parse.formats.pdf.glyphs import Box, Glyph, Leaf

SOFT_HYPHEN = "\u00ad"
"""Stands where a hyphen only breaks a word at the end of a line."""

_GAP_SHARE = 1.2
"""Words further apart than this many times their size stand in columns."""

_COVERING_SHARE = 0.5
"""A picture of this share of the page is a scan, over which recognised text lies unseen."""

_ANOTHER_LINE = 0.6
_DARK_ENOUGH = 4.0


class Part(NamedTuple):
    """Words of a line that stand together."""

    text: str
    left: float
    right: float


class Line(NamedTuple):
    """A line: its parts from left to right, and what most of it looks like."""

    parts: tuple[Part, ...]
    box: Box
    size: float
    bold: bool
    fixed: bool = False

    @property
    def text(self) -> str:
        """The words of the line."""
        return " ".join(part.text for part in self.parts)


class Seen(NamedTuple):
    """What can be seen of the characters of a page, and how many cannot be."""

    glyphs: list[Glyph]
    invisible: int


def seen(leaf: Leaf) -> Seen:
    """Take out what is not drawn, as small as dust, beside the page, or white on white.

    Text that is not drawn stays where a picture covers the page: it is what was recognised in a scan.
    """
    scanned = any(
        picture.width * picture.height >= _COVERING_SHARE * leaf.width * leaf.height for picture in leaf.pictures
    )
    behind = [box for box in (*leaf.dark, *leaf.pictures) if min(box.width, box.height) >= _DARK_ENOUGH]
    page = Box(0.0, 0.0, leaf.width, leaf.height)
    kept: list[Glyph] = []
    invisible = 0
    for glyph in leaf.glyphs:
        if glyph.box is None or _is_seen(glyph, page, behind, scanned=scanned):
            kept.append(glyph)
        elif not glyph.text.isspace():
            invisible += 1
    return Seen(kept, invisible)


def _is_seen(glyph: Glyph, page: Box, behind: Sequence[Box], *, scanned: bool) -> bool:
    style, box = glyph.style, glyph.box
    if style is None or box is None:
        return True
    if style.hidden or (not style.drawn and not scanned):
        return False
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    if not page.holds(x, y):
        return False
    return not style.pale or any(area.holds(x, y) for area in behind)


def lines(glyphs: Iterable[Glyph]) -> Iterator[Line]:
    """Return the lines of a page in the order in which it draws them.

    Where they break is told by the places of the characters: the breaks of PDFium stand between columns, too.
    """
    row: list[Glyph] = []
    last: Box | None = None
    for glyph in glyphs:
        box = glyph.box
        if box is not None and last is not None and _breaks(last, box):
            yield from _line(row)
            row = []
        row.append(glyph)
        last = box or last
    yield from _line(row)


def _breaks(last: Box, box: Box) -> bool:
    """Return whether a character stands in another line than the one before it, above, below or back at the left."""
    high = max(last.height, box.height)
    middle, other = (last.top + last.bottom) / 2, (box.top + box.bottom) / 2
    return abs(middle - other) > _ANOTHER_LINE * high or box.right < last.left - 2 * high


def _line(row: Sequence[Glyph]) -> Iterator[Line]:
    placed = [(glyph.box, glyph.style) for glyph in row if glyph.box and glyph.style and not glyph.text.isspace()]
    if not placed:
        return
    sizes = sorted(style.size for _, style in placed)
    box = Box(
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
        yield Line(parts, box, size, bold, fixed)


def _parts(row: Sequence[Glyph], gap: float) -> Iterator[Part]:
    text: list[str] = []
    left = right = 0.0
    for glyph in row:
        if glyph.box is not None and not glyph.text.isspace():
            if text and right and glyph.box.left - right > gap:
                if words := _words(text):
                    yield Part(words, left, right)
                text, left = [], glyph.box.left
            left = left if right and text else glyph.box.left
            right = max(right, glyph.box.right) if text else glyph.box.right
        text.append(glyph.text)
    if words := _words(text):
        yield Part(words, left, right)


def _words(text: Sequence[str]) -> str:
    return " ".join("".join(text).split())
