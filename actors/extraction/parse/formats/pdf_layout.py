"""Puts the lines of pages together to headings, paragraphs, lists and tables, in reading order.

Neither PDFium nor pdfplumber knows blocks; and the search of pdfplumber for tables without lines finds 76 on 86 pages
of prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from actors.extraction.parse.formats.pdf_lines import SOFT_HYPHEN, Rectangle, TextLine

MAX_LEVELS = 4
"""Sizes of letters beyond the largest four are no headings of their own."""

_LARGER = 1.15
"""From this many times the size of the body text on, a line is a heading."""

_MAX_HEADING_CHARS = 200
_MAX_BOLD_CHARS = 100
_SAME_SIZE = 0.12
_APART = 1.3
"""Lines of a paragraph lie apart as those of the document do, and up to this much more."""

_SPACING = 1.35
_BLANK_LINE = 3.0
_LEADER = re.compile(r"(?:\s?\.){4,}\s*\w{1,5}$")
"""How a line of a table of contents ends."""

_SHORT = 0.85
_INDENT = 0.8
_MARGIN_SHARE = 0.09
_REPEATED_PAGES = 3
_REPEATED_SHARE = 0.02
_BULLETS = "\u2022\u25e6\u25aa\u25ab\u25cf\u25cb\u2023\u2043\u00b7\u2219\uf0b7\uf0a7\u25a0\u27a2\u2013\u2014*-"
_BULLET = re.compile(rf"[{re.escape(_BULLETS)}]\s+(?=\S)")
_NUMBER = re.compile(r"(?:\d{1,3}[.)]|[a-zA-Z][.)]|\(\d{1,3}\)|\([a-z]\))\s+(?=\S)")
_DIGITS = re.compile(r"\d+")
_ENDED = re.compile("[.!?:;\u3002\uff01\uff1f\u2026][\"'\u201d\u2019)\\]]*$")
_MAX_BULLET = 8.0
_BULLET_REACH = 30.0
_MIN_ALIGNED = 3
_MAX_COLUMN_STEP = 6.0
_PROSE_CHARS = 25
_PROSE_ROWS = 5


class HeadingBlock(NamedTuple):
    """A heading; `level` from 1."""

    level: int
    text: str


class ParagraphBlock(NamedTuple):
    """Words that belong together."""

    text: str


class ItemBlock(NamedTuple):
    """An item of a list."""

    text: str
    ordered: bool


class ProgramBlock(NamedTuple):
    """Lines of a program, indented as they stand."""

    text: str


class TableBlock(NamedTuple):
    """A table; `ruled` where lines bound its cells, else its columns are seen by the gaps alone."""

    rows: tuple[tuple[str, ...], ...]
    ruled: bool


Block = HeadingBlock | ParagraphBlock | ItemBlock | ProgramBlock | TableBlock
Piece = TextLine | TableBlock


class PageLines(NamedTuple):
    """A page: its pieces in the order in which it draws them, its height, and the small filled areas on it."""

    pieces: Sequence[Piece]
    height: float
    marks: Sequence[Rectangle] = ()


class DocumentLayout(NamedTuple):
    """The blocks of a document, and how many lines were left out that stand on page after page."""

    blocks: tuple[Block, ...]
    repeated: int


def document_layout(pages: Sequence[PageLines]) -> DocumentLayout:
    """Put the pieces of all pages together."""
    running = _running(pages)
    kept = [_without(page, running) for page in pages]
    repeated = sum(len(page.pieces) - len(other.pieces) for page, other in zip(pages, kept, strict=True))
    body = _Body.of(kept)
    blocks: list[Block] = []
    for page in kept:
        own = list(_blocks(page, body))
        if blocks and own and (whole := _across(blocks[-1], own[0])):
            blocks[-1], own = whole, own[1:]
        blocks += own
    return DocumentLayout(tuple(blocks), repeated)


class _Body(NamedTuple):
    """What most of a document looks like: the size of its letters, how far apart its lines lie, and its headings."""

    size: float
    step: float
    levels: tuple[float, ...]

    @classmethod
    def of(cls, pages: Sequence[PageLines]) -> _Body:
        lines = [piece for page in pages for piece in page.pieces if isinstance(piece, TextLine)]
        weights: Counter[float] = Counter()
        for line in lines:
            weights[_rounded(line.size)] += len(line.text)
        size = weights.most_common(1)[0][0] if weights else 1.0
        steps = [
            (below.box.top - above.box.top) / size
            for above, below in pairwise(lines)
            if _rounded(above.size) == _rounded(below.size) == size and 0 < below.box.top - above.box.top < 3 * size
        ]
        larger = sorted({value for value in weights if value >= size * _LARGER}, reverse=True)
        return cls(size, median(steps) if steps else _SPACING, tuple(larger[:MAX_LEVELS]))

    def level(self, line: TextLine) -> int:
        """Return the level of the heading that a line is; 0 for none."""
        size = _rounded(line.size)
        if size < self.size * _LARGER or len(line.text) > _MAX_HEADING_CHARS:
            return 0
        return next((level for level, least in enumerate(self.levels, 1) if size >= least), len(self.levels))

    @property
    def below(self) -> int:
        """The level of bold lines of the size of the body."""
        return min(len(self.levels) + 1, 6)


def _across(last: Block, first: Block) -> ParagraphBlock | None:
    """Join a paragraph that goes on over the page."""
    if isinstance(last, ParagraphBlock) and isinstance(first, ParagraphBlock) and _goes_on(last.text, first.text):
        return ParagraphBlock(_joined([last.text, first.text]))
    return None


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _running(pages: Sequence[PageLines]) -> frozenset[str]:
    """Find the lines at the top and the bottom that stand, but for their numbers, on page after page."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_shape(piece) for piece in page.pieces if _in_margin(piece, page)})
    least = max(_REPEATED_PAGES, _REPEATED_SHARE * len(pages))
    return frozenset(shape for shape, count in counts.items() if count >= least)


def _without(page: PageLines, running: frozenset[str]) -> PageLines:
    kept = [piece for piece in page.pieces if not (_in_margin(piece, page) and _shape(piece) in running)]
    return page._replace(pieces=kept)


def _in_margin(piece: Piece, page: PageLines) -> bool:
    if not isinstance(piece, TextLine):
        return False
    margin = _MARGIN_SHARE * page.height
    return piece.box.bottom <= margin or piece.box.top >= page.height - margin


def _shape(piece: Piece) -> str:
    return _DIGITS.sub("#", piece.text) if isinstance(piece, TextLine) else ""


def _blocks(page: PageLines, body: _Body) -> Iterator[Block]:
    pieces = list(_in_columns(page.pieces))
    lines = [piece for piece in pieces if isinstance(piece, TextLine)]
    right = max((line.box.right for line in lines), default=0.0)
    open_lines: list[TextLine] = []
    for piece in pieces:
        if isinstance(piece, TableBlock):
            yield from _closed(open_lines, page, body)
            open_lines = []
            yield piece
            continue
        if open_lines and not _belongs(open_lines, piece, page, body, right):
            yield from _closed(open_lines, page, body)
            open_lines = []
        open_lines.append(piece)
    yield from _closed(open_lines, page, body)


def _belongs(above: Sequence[TextLine], line: TextLine, page: PageLines, body: _Body, right: float) -> bool:
    """Return whether a line goes on with the lines above it."""
    last, first = above[-1], above[0]
    if abs(line.size - last.size) > _SAME_SIZE * last.size or line.fixed != last.fixed:
        return False
    if line.fixed:
        return 0 < line.box.top - last.box.top <= _BLANK_LINE * line.size
    if _mark(line, page) is not None or _LEADER.search(last.text):
        return False
    step = line.box.top - last.box.top
    if step <= 0 or step > _APART * max(body.step, _SPACING) * line.size or line.bold != last.bold:
        # A step back is the next column: its first line may go on with a sentence.
        return step <= 0 and line.bold == last.bold and _goes_on(last.text, line.text)
    if body.level(line) or _mark(first, page) is not None:
        return True
    indented = line.box.left - last.box.left > _INDENT * line.size
    ended = bool(_ENDED.search(last.text)) and last.box.right < first.box.left + _SHORT * (right - first.box.left)
    return not ended and not (indented and len(above) > 1)


def _closed(lines: Sequence[TextLine], page: PageLines, body: _Body) -> Iterator[Block]:
    if not lines:
        return
    first = lines[0]
    if first.fixed and len(lines) > 1:
        yield ProgramBlock(_program(lines))
        return
    text = _joined([line.text for line in lines])
    marked = _mark(first, page)
    level = body.level(first)
    if level and len(text) <= _MAX_HEADING_CHARS:
        yield HeadingBlock(level, text)
    elif _is_bold_heading(lines, text) and marked is None:
        yield HeadingBlock(body.below, text)
    elif marked is not None:
        yield ItemBlock(text[marked.length :].strip(), marked.ordered)
    else:
        yield ParagraphBlock(text)


def _program(lines: Sequence[TextLine]) -> str:
    """Write lines as they stand: indented by the width of a character, with an empty line where there is room."""
    left = min(line.box.left for line in lines)
    longest = max(lines, key=lambda line: len(line.text))
    wide = longest.box.width / max(len(longest.text), 1) or 1.0
    written: list[str] = []
    for number, line in enumerate(lines):
        if number and line.box.top - lines[number - 1].box.top > 2 * line.size:
            written.append("")
        written.append(" " * round((line.box.left - left) / wide) + line.text)
    return "\n".join(written)


def _is_bold_heading(lines: Sequence[TextLine], text: str) -> bool:
    alone = all(line.bold and len(line.parts) == 1 for line in lines)
    return alone and len(text) <= _MAX_BOLD_CHARS and not _ENDED.search(text)


class _Mark(NamedTuple):
    length: int
    ordered: bool


def _mark(line: TextLine, page: PageLines) -> _Mark | None:
    """Find what makes a line an item of a list: a bullet or number before its words, or one that was drawn."""
    if bullet := _BULLET.match(line.text):
        return _Mark(bullet.end(), ordered=False)
    if number := _NUMBER.match(line.text):
        return _Mark(number.end(), ordered=True)
    middle = (line.box.top + line.box.bottom) / 2
    drawn = any(
        max(mark.width, mark.height) <= _MAX_BULLET
        and mark.top <= middle + mark.height
        and mark.bottom >= middle - mark.height
        and 0 < line.box.left - mark.right < _BULLET_REACH
        for mark in page.marks
    )
    return _Mark(0, ordered=False) if drawn else None


def _goes_on(text: str, more: str) -> bool:
    """Return whether a paragraph goes on in another place: it has not ended, and what follows begins in the middle."""
    return not _ENDED.search(text) and (text.endswith(SOFT_HYPHEN) or more[:1].islower())


def _joined(texts: Iterable[str]) -> str:
    """Join lines to a text; a hyphen that only breaks a word at the end of a line goes."""
    whole = ""
    for text in texts:
        broken = whole.endswith(SOFT_HYPHEN)
        whole = whole[:-1] + text if broken else f"{whole} {text}".lstrip()
    return whole


# Columns.


def _in_columns(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Return lines whose parts stand below each other as a table, or column by column where they hold prose."""
    run: list[TextLine] = []
    for piece in pieces:
        if isinstance(piece, TextLine) and len(piece.parts) > 1 and (not run or _aligned(run[-1], piece)):
            run.append(piece)
            continue
        yield from _run(run)
        run = []
        if isinstance(piece, TextLine) and len(piece.parts) > 1:
            run.append(piece)
        else:
            yield piece
    yield from _run(run)


def _aligned(above: TextLine, line: TextLine) -> bool:
    return len(above.parts) == len(line.parts) and all(
        min(abs(one.left - other.left), abs(one.right - other.right)) <= _MAX_COLUMN_STEP
        for one, other in zip(above.parts, line.parts, strict=True)
    )


def _run(run: Sequence[TextLine]) -> Iterator[Piece]:
    if len(run) < _MIN_ALIGNED:
        yield from run
        return
    if len(run) >= _PROSE_ROWS and median(len(part.text) for line in run for part in line.parts) >= _PROSE_CHARS:
        for column in range(len(run[0].parts)):
            yield from (_part(line, column) for line in run)
        return
    yield TableBlock(tuple(tuple(part.text for part in line.parts) for line in run), ruled=False)


def _part(line: TextLine, column: int) -> TextLine:
    part = line.parts[column]
    return line._replace(parts=(part,), box=Rectangle(part.left, line.box.top, part.right, line.box.bottom))
