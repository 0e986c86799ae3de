"""Opens PDFs with PDFium, which parses what it is given and runs nothing of it, and reads what stands on their pages.

The characters are read one by one: what may hide them is known of each alone. pdfplumber would read words, lines and
links by a parser in Python, and takes 4 times as long for the words alone as all that is done with a PDF here (23 real
documents: 11.5 s for 2.7 s).
"""

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

from actors.extraction.parse.formats.pdf_lines import SOFT_HYPHEN, Glyph, GlyphStyle, PdfPage, Rectangle
from protocol.actions import Action
from protocol.faults import Code, FaultError, fault

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

_INFO = ("Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate")

_UNLOCK = Action(
    action="use_another_source", description="Find a version of the document that opens without a password."
)


@contextmanager
def opened(body: bytes) -> Generator[PdfDocument]:
    """Open a PDF; one at a time in a process, for PDFium keeps what it knows in one place.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what needs a password or is no PDF: no other tier reads it.
    """
    library = _library()
    try:
        inner = library.PdfDocument(body)
    except library.PdfiumError as error:
        if getattr(error, "err_code", 0) in (_raw().FPDF_ERR_PASSWORD, _raw().FPDF_ERR_SECURITY):
            message = "The PDF is encrypted, and opens only with a password."
            raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, message, actions=(_UNLOCK,))) from None
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, "The PDF is damaged and cannot be opened.")) from None
    try:
        yield PdfDocument(inner, library.PdfiumError)
    finally:
        inner.close()


class PdfDocument:
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
        return {name: self._entry(name) for name in _INFO}

    def _entry(self, name: str) -> str:
        try:
            return str(self._inner.get_metadata_value(name))
        except UnicodeDecodeError:
            return ""

    def language(self) -> str:
        """Return the language that the document says it is in."""
        room = (ctypes.c_ushort * _MAX_LANGUAGE_CHARS)()
        length = int(_raw().FPDFCatalog_GetLanguage(self._inner, room, ctypes.sizeof(room)))
        return bytes(room)[: max(min(length, ctypes.sizeof(room)) - 2, 0)].decode("utf-16-le", "replace")

    def page(self, index: int) -> PdfPage | None:
        """Read one page; None where it is broken."""
        try:
            page = self._inner[index]
        except self._broken:
            return None
        try:
            words = page.get_textpage()
            try:
                return _PageReader(self._inner, page, words).read()
            finally:
                words.close()
        except self._broken:
            return None
        finally:
            page.close()


class _PageReader:
    """Reads one page; its points, whose y grows upwards, are turned to where they are when the words are read."""

    def __init__(self, document: Any, page: Any, words: Any) -> None:
        self._document, self._page, self._words = document, page, words.raw
        self._left, self._bottom, self._right, self._top = (float(side) for side in page.get_bbox())
        self._turns = _direction(self._words)
        self._as_read = self._turned()
        self._lines: list[Rectangle] = []
        self._dark: list[Rectangle] = []
        self._pictures: list[Rectangle] = []

    def read(self) -> PdfPage:
        count = min(_raw().FPDFPage_CountObjects(self._page), MAX_OBJECTS)
        objects = (_raw().FPDFPage_GetObject(self._page, index) for index in range(count))
        self._look(objects, self._as_read, 0)
        sides = (self._right - self._left, self._top - self._bottom)
        width, height = sides[::-1] if self._turns % 2 else sides
        return PdfPage(
            width=width,
            height=height,
            glyphs=tuple(self._glyphs()),
            lines=tuple(self._lines[:_MAX_LINES]),
            dark=tuple(self._dark[:_MAX_LINES]),
            pictures=tuple(self._pictures[:_MAX_LINES]),
            links=tuple(self._links()),
        )

    def _turned(self) -> Any:
        matrix = _library().PdfMatrix
        match self._turns:
            case 0:
                return matrix(1, 0, 0, -1, -self._left, self._top)
            case 1:
                return matrix(0, 1, 1, 0, -self._bottom, -self._left)
            case 2:
                return matrix(-1, 0, 0, 1, self._right, -self._bottom)
            case _:
                return matrix(0, -1, -1, 0, self._top, self._right)

    def _box(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        if self._turns:
            return Rectangle(*self._as_read.on_rect(left, bottom, right, top))
        return Rectangle(left - self._left, self._top - top, right - self._left, self._top - bottom)  # most, and faster

    def _glyphs(self) -> Iterator[Glyph]:
        raw, words, styles = _raw(), self._words, _Styles()
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
                styles.next_word()
                yield Glyph(character)
                continue
            box = self._box(bounds.left, bounds.bottom, bounds.right, bounds.top)
            yield Glyph(character, box, styles.of(words, index, owner, box.bottom - box.top))

    def _look(self, objects: Iterator[Any], place: Any, depth: int) -> None:
        """Note what was drawn: lines, dark areas and pictures, of forms what they hold."""
        raw = _raw()
        for drawn in objects:
            match int(raw.FPDFPageObj_GetType(drawn)):
                case raw.FPDF_PAGEOBJ_PATH:
                    self._path(drawn, place)
                case raw.FPDF_PAGEOBJ_IMAGE:
                    self._pictures.append(_bounds(drawn, place))
                case raw.FPDF_PAGEOBJ_FORM if depth < _MAX_DEPTH:
                    count = min(max(raw.FPDFFormObj_CountObjects(drawn), 0), MAX_OBJECTS)
                    inside = (raw.FPDFFormObj_GetObject(drawn, index) for index in range(count))
                    self._look(inside, _matrix(drawn).multiply(place), depth + 1)
                case _:
                    pass
            if len(self._lines) + len(self._dark) > 2 * _MAX_LINES:
                return

    def _path(self, drawn: Any, place: Any) -> None:
        raw = _raw()
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(drawn, fill, stroke)
        box = _bounds(drawn, place)
        if min(box.width, box.height) <= _THIN:
            if max(box.width, box.height) >= _LONG and (fill.value or stroke.value):
                self._lines.append(box)
        elif fill.value and not _pale(drawn):
            self._dark.append(box)
            if min(box.width, box.height) >= _ROOMY:
                self._lines += _sides(box)
        if stroke.value and min(box.width, box.height) > _THIN:
            self._lines += _strokes(drawn, _matrix(drawn).multiply(place))

    def _links(self) -> Iterator[tuple[Rectangle, str]]:
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


class _Styles:
    """Finds how characters look: for each what may hide it, for each word its font, for each font what it is."""

    def __init__(self) -> None:
        raw = _raw()
        self._font_of, self._mode_of = raw.FPDFTextObj_GetFont, raw.FPDFTextObj_GetTextRenderMode
        self._colour_of = raw.FPDFText_GetFillColor
        self._fonts: dict[int | None, tuple[float, bool, bool]] = {}
        self._styles: dict[tuple[float, bool, bool, int, bool, bool], GlyphStyle] = {}
        self._colour = tuple(ctypes.c_uint() for _ in range(4))
        self._word: tuple[float, bool, bool] | None = None

    def next_word(self) -> None:
        """Note that a word has ended, so that the next may be of another font."""
        self._word = None

    def of(self, words: Any, index: int, owner: Any, height: float) -> GlyphStyle:
        """Return the style of a character that a text object holds."""
        if self._word is None:
            font = ctypes.cast(self._font_of(owner), ctypes.c_void_p).value
            if font not in self._fonts:
                self._fonts[font] = _font(words, index, height)
            self._word = self._fonts[font]
        share, bold, fixed = self._word
        mode = self._mode_of(owner)
        red, green, blue, alpha = self._colour
        coloured = bool(self._colour_of(words, index, red, green, blue, alpha))
        clear = coloured and not alpha.value
        pale = coloured and red.value >= _PALE and green.value >= _PALE and blue.value >= _PALE
        key = (round(height * share, 1), bold, fixed, mode, clear, pale)
        if key not in self._styles:
            hidden = key[0] < _SMALLEST or clear
            self._styles[key] = GlyphStyle(key[0], bold, fixed, hidden, pale, mode not in _INVISIBLE_MODES)
        return self._styles[key]


def _font(words: Any, index: int, height: float) -> tuple[float, bool, bool]:
    """Return how much of the height of characters is the font size, whether it is bold, and of one width."""
    raw = _raw()
    matrix, name, flags = raw.FS_MATRIX(), ctypes.create_string_buffer(128), ctypes.c_int()
    raw.FPDFText_GetMatrix(words, index, matrix)
    scale = max((matrix.c**2 + matrix.d**2) ** 0.5, (matrix.a**2 + matrix.b**2) ** 0.5)
    size = float(raw.FPDFText_GetFontSize(words, index)) * scale
    raw.FPDFText_GetFontInfo(words, index, name, len(name), flags)
    called = name.value.decode("latin-1")
    bold = bool(_BOLD.search(called)) or int(raw.FPDFText_GetFontWeight(words, index)) >= _BOLD_WEIGHT
    fixed = bool(flags.value & _FIXED_PITCH) or bool(_MONO.search(called))
    return (size / height if height else 1.0), bold, fixed


def _matrix(drawn: Any) -> Any:
    """Return where the points of an object come to lie (ISO 32000-1 §8.3.3)."""
    library, matrix = _library(), _raw().FS_MATRIX()
    return library.PdfMatrix.from_raw(matrix) if _raw().FPDFPageObj_GetMatrix(drawn, matrix) else library.PdfMatrix()


def _pale(drawn: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not _raw().FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha):
        return False
    return not alpha.value or min(red.value, green.value, blue.value) >= _PALE


def _bounds(drawn: Any, place: Any) -> Rectangle:
    sides = [ctypes.c_float() for _ in range(4)]
    _raw().FPDFPageObj_GetBounds(drawn, *sides)
    return Rectangle(*place.on_rect(*(side.value for side in sides)))


def _strokes(drawn: Any, place: Any) -> Iterator[Rectangle]:
    """Return the upright and the level lines of a path."""
    raw = _raw()
    start = here = (0.0, 0.0)
    x, y = ctypes.c_float(), ctypes.c_float()
    for index in range(min(raw.FPDFPath_CountSegments(drawn), _MAX_SEGMENTS)):
        segment = raw.FPDFPath_GetPathSegment(drawn, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        there = place.on_point(x.value, y.value)
        kind = int(raw.FPDFPathSegment_GetType(segment))
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = there
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield from _line(here, there)
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _line(there, start)
            there = start
        here = there


def _line(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Rectangle]:
    box = Rectangle(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))
    if min(box.width, box.height) <= _THIN / 2 and max(box.width, box.height) >= _LONG:
        yield box


def _sides(box: Rectangle) -> Iterator[Rectangle]:
    yield Rectangle(box.left, box.top, box.right, box.top)
    yield Rectangle(box.left, box.bottom, box.right, box.bottom)
    yield Rectangle(box.left, box.top, box.left, box.bottom)
    yield Rectangle(box.right, box.top, box.right, box.bottom)


def _direction(words: Any) -> int:
    """Return in quarters against the clock where most words run: so is the page turned when they are read."""
    raw = _raw()
    matrix, turns = raw.FS_MATRIX(), Counter[int]()
    count = int(raw.FPDFText_CountChars(words))
    for index in range(0, count, count // _SAMPLES + 1):
        if raw.FPDFText_GetMatrix(words, index, matrix):
            turns[round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4] += 1
    return turns.most_common(1)[0][0] if turns else 0


@cache
def _library() -> Any:
    return import_module("pypdfium2")


@cache
def _raw() -> Any:
    return import_module("pypdfium2.raw")
