"""Opens PDFs with PDFium, which parses what it is given and runs nothing of it."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from math import atan2, pi
from typing import Any

from actors.extraction.parse.formats.pdf.glyphs import Box, Glyph, Leaf, Style
from protocol.faults import Action, Code, FaultError, fault

MAX_GLYPHS = 60_000
MAX_OBJECTS = 20_000
MAX_LINKS = 200
"""What is looked at of one page."""

_SAMPLES = 200
_MAX_SEGMENTS = 400
_MAX_LINES = 2_000
_MAX_DEPTH = 4
_MAX_LANGUAGE_CHARS = 64
_MAX_ADDRESS_BYTES = 2_048
_THIN = 2.5
"""Up to this many points a filled area is a line."""

_LONG = 4.0
_ROOMY = 8.0
"""From here on a filled area may be the cell of a table; what is smaller is a bullet or an ornament."""

_PALE = 235
_SMALLEST = 1.5
"""Points below which nobody reads a letter."""

_INVISIBLE_MODES = (3, 7)
"""Text rendering modes that draw nothing (ISO 32000-1 §9.3.6)."""

_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
_MONO = re.compile(r"courier|mono|nimbusmon|consolas|menlo|typewriter|cmtt", re.IGNORECASE)
_BOLD_WEIGHT = 600
_MAX_CHARACTER = 0x10FFFF
_NO_CHARACTER = frozenset({0, 2, 0xFFFE, 0xFFFF})
_SPACES = frozenset({9, 10, 13, 32, 0xA0, 0x2002, 0x2003, 0x2009, 0x202F, 0x3000})
_SURROGATES = (0xD800, 0xDFFF)
"""Halves of characters, which no text may hold."""

_FIXED_PITCH = 1
"""The flag of a font whose characters are of one width (ISO 32000-1 table 123)."""

_HYPHENS = frozenset({2, 0xFFFE})
"""What PDFium gives in the place of a hyphen that only breaks a word at the end of a line."""

SOFT_HYPHEN = "\u00ad"
_INFO = ("Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate")

_UNLOCK = Action(
    action="use_another_source", description="Find a version of the document that opens without a password."
)


@contextmanager
def opened(body: bytes) -> Generator[Document]:
    """Open a PDF; one at a time in a process, for PDFium keeps what it knows in one place.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what needs a password or is no PDF: no other tier reads it.
    """
    library: Any = import_module("pypdfium2")
    try:
        inner = library.PdfDocument(body)
    except library.PdfiumError as error:
        if getattr(error, "err_code", 0) in (_raw().FPDF_ERR_PASSWORD, _raw().FPDF_ERR_SECURITY):
            message = "The PDF is encrypted, and opens only with a password."
            raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message, actions=(_UNLOCK,))) from None
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, "The PDF is damaged and cannot be opened.")) from None
    try:
        yield Document(inner, library.PdfiumError)
    finally:
        inner.close()


@cache
def _raw() -> Any:
    return import_module("pypdfium2.raw")


class Document:
    """A PDF that is open."""

    def __init__(self, inner: Any, broken: type[Exception]) -> None:
        """Use what PDFium opened; `broken` is what it raises for a page that cannot be read."""
        self._inner = inner
        self._broken = broken

    def __len__(self) -> int:
        """Count the pages."""
        return len(self._inner)

    def info(self) -> Mapping[str, str]:
        """Return what the document says of itself."""
        return {name: self._said(name) for name in _INFO}

    def _said(self, name: str) -> str:
        try:
            return str(self._inner.get_metadata_value(name))
        except UnicodeDecodeError:
            return ""

    def language(self) -> str:
        """Return the language that the document says it is in."""
        room = (ctypes.c_ushort * _MAX_LANGUAGE_CHARS)()
        length = int(_raw().FPDFCatalog_GetLanguage(self._inner, room, ctypes.sizeof(room)))
        return bytes(room)[: max(min(length, ctypes.sizeof(room)) - 2, 0)].decode("utf-16-le", "replace")

    def leaf(self, index: int) -> Leaf | None:
        """Read one page; None where it is broken."""
        try:
            page = self._inner[index]
        except self._broken:
            return None
        try:
            words = page.get_textpage()
            try:
                return _Reader(self._inner, page, words).read()
            finally:
                words.close()
        except self._broken:
            return None
        finally:
            page.close()


class _Reader:
    """Reads one page."""

    def __init__(self, document: Any, page: Any, words: Any) -> None:
        self._document, self._page, self._words = document, page, words.raw
        self._left, bottom, right, top = (float(side) for side in page.get_bbox())
        self._bottom = bottom
        self._wide, self._high = right - self._left, top - bottom
        self._head = top
        self._turns = self._direction()
        self._lines: list[Box] = []
        self._dark: list[Box] = []
        self._pictures: list[Box] = []

    def read(self) -> Leaf:
        count = min(_raw().FPDFPage_CountObjects(self._page), MAX_OBJECTS)
        objects = (_raw().FPDFPage_GetObject(self._page, index) for index in range(count))
        self._look(objects, _WHOLE, 0)
        turned = self._turns % 2
        return Leaf(
            width=self._high if turned else self._wide,
            height=self._wide if turned else self._high,
            glyphs=tuple(self._glyphs()),
            lines=tuple(self._lines[:_MAX_LINES]),
            dark=tuple(self._dark[:_MAX_LINES]),
            pictures=tuple(self._pictures[:_MAX_LINES]),
            links=tuple(self._links()),
        )

    def _direction(self) -> int:
        """Tell in quarters against the clock where most words run: so is the page turned when they are read."""
        raw = _raw()
        matrix, turns = raw.FS_MATRIX(), Counter[int]()
        count = int(raw.FPDFText_CountChars(self._words))
        for index in range(0, count, count // _SAMPLES + 1):
            if raw.FPDFText_GetMatrix(self._words, index, matrix):
                turns[round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4] += 1
        return turns.most_common(1)[0][0] if turns else 0

    def _box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Turn a rectangle of the PDF, whose y grows upwards, as the page is read."""
        if not self._turns:
            return Box(left - self._left, self._head - top, right - self._left, self._head - bottom)
        (x0, y0), (x1, y1) = (self._seen(left, bottom), self._seen(right, top))
        return Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def _seen(self, x: float, y: float) -> tuple[float, float]:
        across, up = x - self._left, y - self._bottom
        match self._turns:
            case 0:
                return across, self._high - up
            case 1:
                return up, across
            case 2:
                return self._wide - across, up
            case _:
                return self._high - up, self._wide - across

    def _glyphs(self) -> Iterator[Glyph]:
        raw, words, looks = _raw(), self._words, _Looks()
        unicode_of, bounds_of = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
        object_of, bounds = raw.FPDFText_GetTextObject, raw.FS_RECTF()
        for index in range(min(raw.FPDFText_CountChars(words), MAX_GLYPHS)):
            code = unicode_of(words, index)
            if code in _NO_CHARACTER or code > _MAX_CHARACTER:
                if code in _HYPHENS:
                    yield Glyph(SOFT_HYPHEN)
                continue
            owner = None if code in _SPACES else object_of(words, index)
            character = " " if code in _SPACES else "\ufffd" if _SURROGATES[0] <= code <= _SURROGATES[1] else chr(code)
            if not owner or not bounds_of(words, index, bounds):
                looks.next_word()
                yield Glyph(character)
                continue
            box = self._box(bounds.left, bounds.bottom, bounds.right, bounds.top)
            yield Glyph(character, box, looks.of(words, index, owner, box.bottom - box.top))

    def _look(self, objects: Iterator[Any], place: _Matrix, depth: int) -> None:
        """Note what was drawn: lines, dark areas and pictures, of forms what they hold."""
        raw = _raw()
        for drawn in objects:
            match int(raw.FPDFPageObj_GetType(drawn)):
                case raw.FPDF_PAGEOBJ_PATH:
                    self._path(drawn, place)
                case raw.FPDF_PAGEOBJ_IMAGE:
                    self._pictures.append(self._bounds(drawn, place))
                case raw.FPDF_PAGEOBJ_FORM if depth < _MAX_DEPTH:
                    count = min(max(raw.FPDFFormObj_CountObjects(drawn), 0), MAX_OBJECTS)
                    inside = (raw.FPDFFormObj_GetObject(drawn, index) for index in range(count))
                    self._look(inside, _matrix(drawn).then(place), depth + 1)
                case _:
                    pass
            if len(self._lines) + len(self._dark) > 2 * _MAX_LINES:
                return

    def _path(self, drawn: Any, place: _Matrix) -> None:
        raw = _raw()
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(drawn, fill, stroke)
        box = self._bounds(drawn, place)
        if min(box.width, box.height) <= _THIN:
            if max(box.width, box.height) >= _LONG and (fill.value or stroke.value):
                self._lines.append(box)
        elif fill.value and not _pale(drawn):
            self._dark.append(box)
            if min(box.width, box.height) >= _ROOMY:
                self._lines += _sides(box)
        if stroke.value and min(box.width, box.height) > _THIN:
            self._lines += self._strokes(drawn, _matrix(drawn).then(place))

    def _strokes(self, drawn: Any, place: _Matrix) -> Iterator[Box]:
        """Return the upright and the level lines of a path."""
        raw = _raw()
        start = here = (0.0, 0.0)
        x, y = ctypes.c_float(), ctypes.c_float()
        for index in range(min(raw.FPDFPath_CountSegments(drawn), _MAX_SEGMENTS)):
            segment = raw.FPDFPath_GetPathSegment(drawn, index)
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            there = self._seen(*place.of(x.value, y.value))
            kind = int(raw.FPDFPathSegment_GetType(segment))
            if kind == raw.FPDF_SEGMENT_MOVETO:
                start = there
            elif kind == raw.FPDF_SEGMENT_LINETO:
                yield from _line(here, there)
            if raw.FPDFPathSegment_GetClose(segment):
                yield from _line(there, start)
                there = start
            here = there

    def _bounds(self, drawn: Any, place: _Matrix) -> Box:
        sides = [ctypes.c_float() for _ in range(4)]
        _raw().FPDFPageObj_GetBounds(drawn, *sides)
        left, bottom, right, top = (side.value for side in sides)
        corners = [place.of(x, y) for x in (left, right) for y in (bottom, top)]
        across, up = [x for x, _ in corners], [y for _, y in corners]
        return self._box(min(across), min(up), max(across), max(up))

    def _links(self) -> Iterator[tuple[Box, str]]:
        raw = _raw()
        position, link, bounds = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
        room = ctypes.create_string_buffer(_MAX_ADDRESS_BYTES)
        for _ in range(MAX_LINKS):
            if not raw.FPDFLink_Enumerate(self._page, position, link):
                return
            action = raw.FPDFLink_GetAction(link)
            if not action or not raw.FPDFLink_GetAnnotRect(link, bounds):
                continue
            length = int(raw.FPDFAction_GetURIPath(self._document, action, room, len(room)))
            if 1 < length <= len(room):
                box = self._box(bounds.left, bounds.bottom, bounds.right, bounds.top)
                yield box, room.value.decode("utf-8", "replace")


class _Looks:
    """Tells how characters look: for each what may hide it, for each word its font, for each font what it is."""

    def __init__(self) -> None:
        raw = _raw()
        self._font_of, self._mode_of = raw.FPDFTextObj_GetFont, raw.FPDFTextObj_GetTextRenderMode
        self._colour_of = raw.FPDFText_GetFillColor
        self._fonts: dict[int | None, tuple[float, bool, bool]] = {}
        self._styles: dict[tuple[float, bool, bool, int, bool, bool], Style] = {}
        self._colour = tuple(ctypes.c_uint() for _ in range(4))
        self._word: tuple[float, bool, bool] | None = None

    def next_word(self) -> None:
        """Note that a word has ended, so that the next may be of another font."""
        self._word = None

    def of(self, words: Any, index: int, owner: Any, height: float) -> Style:
        """Return the style of a character that a text object holds."""
        if self._word is None:
            font = ctypes.cast(self._font_of(owner), ctypes.c_void_p).value
            if font not in self._fonts:
                self._fonts[font] = self._font(words, index, height)
            self._word = self._fonts[font]
        share, bold, fixed = self._word
        mode = self._mode_of(owner)
        red, green, blue, alpha = self._colour
        coloured = bool(self._colour_of(words, index, red, green, blue, alpha))
        clear = coloured and not alpha.value
        pale = coloured and red.value >= _PALE and green.value >= _PALE and blue.value >= _PALE
        key = (round(height * share, 1), bold, fixed, mode, clear, pale)
        found = self._styles.get(key)
        if found is None:
            size = key[0]
            found = Style(size, bold, fixed, size < _SMALLEST or clear, pale, mode not in _INVISIBLE_MODES)
            self._styles[key] = found
        return found

    @staticmethod
    def _font(words: Any, index: int, height: float) -> tuple[float, bool, bool]:
        """Return how much of the height of characters is the font size, whether it is bold, and of one width."""
        raw = _raw()
        matrix, name = raw.FS_MATRIX(), ctypes.create_string_buffer(128)
        raw.FPDFText_GetMatrix(words, index, matrix)
        scale = max((matrix.c**2 + matrix.d**2) ** 0.5, (matrix.a**2 + matrix.b**2) ** 0.5)
        size = float(raw.FPDFText_GetFontSize(words, index)) * scale
        flags = ctypes.c_int()
        raw.FPDFText_GetFontInfo(words, index, name, len(name), flags)
        weight = int(raw.FPDFText_GetFontWeight(words, index))
        bold = bool(_BOLD.search(name.value.decode("latin-1"))) or weight >= _BOLD_WEIGHT
        fixed = bool(flags.value & _FIXED_PITCH) or bool(_MONO.search(name.value.decode("latin-1")))
        return (size / height if height else 1.0), bold, fixed


class _Matrix(tuple[float, float, float, float, float, float]):
    """Where a point comes to lie (ISO 32000-1 §8.3.3)."""

    __slots__ = ()

    def of(self, x: float, y: float) -> tuple[float, float]:
        """Move a point."""
        a, b, c, d, e, f = self
        return a * x + c * y + e, b * x + d * y + f

    def then(self, after: _Matrix) -> _Matrix:
        """Return both moves in one."""
        a, b, c, d, e, f = self
        origin = after.of(0, 0)
        (ax, ay), (cx, cy), (ex, ey) = after.of(a, b), after.of(c, d), after.of(e, f)
        return _Matrix((ax - origin[0], ay - origin[1], cx - origin[0], cy - origin[1], ex, ey))


_WHOLE = _Matrix((1, 0, 0, 1, 0, 0))


def _matrix(drawn: Any) -> _Matrix:
    found = _raw().FS_MATRIX()
    if not _raw().FPDFPageObj_GetMatrix(drawn, found):
        return _WHOLE
    return _Matrix((found.a, found.b, found.c, found.d, found.e, found.f))


def _pale(drawn: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not _raw().FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha):
        return False
    return not alpha.value or min(red.value, green.value, blue.value) >= _PALE


def _line(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Box]:
    box = Box(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))
    if min(box.width, box.height) <= _THIN / 2 and max(box.width, box.height) >= _LONG:
        yield box


def _sides(box: Box) -> Iterator[Box]:
    yield Box(box.left, box.top, box.right, box.top)
    yield Box(box.left, box.bottom, box.right, box.bottom)
    yield Box(box.left, box.top, box.left, box.bottom)
    yield Box(box.right, box.top, box.right, box.bottom)
