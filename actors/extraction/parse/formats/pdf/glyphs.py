"""What stands on a page of a PDF: characters, lines that were drawn, areas that were filled, and links."""

from __future__ import annotations

from msgspec import Struct


class Box(Struct, frozen=True, gc=False):
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

    def holds(self, x: float, y: float) -> bool:
        """Return whether a point lies inside."""
        return self.left <= x <= self.right and self.top <= y <= self.bottom


class Style(Struct, frozen=True, gc=False):
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
    box: Box | None = None
    style: Style | None = None


class Leaf(Struct, frozen=True):
    """One page: `glyphs` in the order in which they are drawn, `lines` upright or level, `dark` areas and pictures."""

    width: float
    height: float
    glyphs: tuple[Glyph, ...] = ()
    lines: tuple[Box, ...] = ()
    dark: tuple[Box, ...] = ()
    pictures: tuple[Box, ...] = ()
    links: tuple[tuple[Box, str], ...] = ()
