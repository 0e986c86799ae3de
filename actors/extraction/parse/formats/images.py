"""Reads the words of images without decoding a pixel: the metadata of photographs, the texts of drawings (SVG)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple, cast

from turbohtml import Element

from actors.extraction.parse.formats import xml_data
from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, MAX_WORDS_CHARS, ParsedDocument, bounded
from actors.extraction.parse.formats.xml_data import elements
from actors.extraction.parse.text import clean, one_line
from protocol.confidence import Source, confidence
from protocol.documents import Signal
from protocol.faults import Code, FaultError, fault
from protocol.page import PageFields
from protocol.render import Doc, Paragraph, Text, to_markdown

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "TIFF", "ICO")
"""What is read: no format whose reader starts a program, as that of PostScript does."""

_MAX_TEXT_CHARS = 4_000
_MAX_XMP_BYTES = 200_000
_MAX_VALUE_BYTES = 16_384
_EXIF_IFD = 0x8769
_DESCRIPTION, _ARTIST, _COPYRIGHT, _CHANGED, _TAKEN = 0x010E, 0x013B, 0x8298, 0x0132, 0x9003
_XP_TITLE, _XP_COMMENT, _XP_AUTHOR, _XP_SUBJECT = 0x9C9B, 0x9C9C, 0x9C9D, 0x9C9F
_DATE = "%Y:%m:%d %H:%M:%S"
_PROGRAMS = frozenset({"ascii", "created with gimp", "default", "screenshot", "olympus digital camera", "sony dsc"})
"""What cameras and programs write where a description should be, among others."""

_UNSHOWN = frozenset(
    {"script", "style", "defs", "metadata", "foreignObject", "symbol", "clipPath", "mask", "pattern", "title", "desc"}
)
_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:fill-|stroke-)?opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)"
    r"|font-size\s*:\s*0(?:\.0+)?\s*(?:[a-z%]*)\s*(?:;|$))",
    re.IGNORECASE,
)
_ATTRIBUTES = {
    "display": ("none",),
    "visibility": ("hidden", "collapse"),
    "opacity": ("0", "0.0"),
    "fill-opacity": ("0",),
    "font-size": ("0",),
    "fill": ("none", "transparent"),
}
_MAX_SVG_ELEMENTS = 50_000
_MAX_TEXTS = 2_000
_MAX_SHOWN_CHARS = 2_000


def read_image(body: bytes, url: str) -> ParsedDocument:
    """Read the words of an image; where it was taken is left out.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what is no image, CONTENT_TOO_LARGE for one of too many pixels.
    """
    pillow: Any = import_module("PIL.Image")
    unknown: Any = import_module("PIL").UnidentifiedImageError
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pillow.open(BytesIO(body), formats=_FORMATS) as image:
                kind, size, words = str(image.format), (int(image.width), int(image.height)), _image_words(image)
    except pillow.DecompressionBombError:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, "The image has more pixels than any may have.")) from None
    except (unknown, OSError, ValueError, SyntaxError, TypeError, EOFError):  # what Pillow raises for broken images
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, "The image is damaged and cannot be read.")) from None
    return _image_document(kind, size, words, url)


def read_svg(text: str, url: str) -> ParsedDocument | None:
    """Read a drawing; None where it is no XML."""
    root = xml_data.parsed(text)
    if root is None:
        return None
    title, description = (xml_data.child(root, name) for name in ("title", "desc"))
    title, description = one_line(title, MAX_TITLE_CHARS), one_line(description, _MAX_SHOWN_CHARS)
    shown, hidden = _drawn_texts(root)
    lines = list(filter(None, [description, *shown]))
    words, left_out = bounded("\n".join(lines) or title)
    return ParsedDocument(
        markdown=to_markdown(Doc(children=tuple(Paragraph(children=(Text(text=line),)) for line in words.split("\n")))),
        text=words,
        source=Source.SELECTOR_MATCH,
        title=title,
        fields=PageFields(description=description, image=url if url.startswith(("http://", "https://")) else ""),
        signals=(Signal.NON_TEXT_CONTENT,),
        left_out=left_out,
        kept_back={"invisible texts": hidden},
    )


class _ImageWords(NamedTuple):
    """What an image says of itself; each "" where it does not."""

    title: str = ""
    description: str = ""
    alternative: str = ""
    author: str = ""
    rights: str = ""
    taken: str = ""


def _image_document(kind: str, size: tuple[int, int], words: _ImageWords, url: str) -> ParsedDocument:
    lines = [f"{kind} image, {size[0]:,} \N{MULTIPLICATION SIGN} {size[1]:,} pixels."]
    lines += dict.fromkeys(text for text in (words.alternative, words.description) if text)
    lines += [f"By {words.author}"] * bool(words.author) + [words.rights] * bool(words.rights)
    fields = PageFields(
        description=words.alternative or words.description,
        authors=(words.author,) if words.author else (),
        published=words.taken,
        image=url if url.startswith(("http://", "https://")) else "",
    )
    return ParsedDocument(
        markdown=to_markdown(Doc(children=tuple(Paragraph(children=(Text(text=line),)) for line in lines))),
        text="\n\n".join(lines),
        source=Source.META_TAGS,
        title=words.title,
        title_source=Source.META_TAGS,
        fields=fields,
        # When it was taken is not when it was published.
        sure={"published": confidence(Source.META_TAGS, 0.4), "image": confidence(Source.STRUCTURED_DATA)},
        signals=(Signal.NON_TEXT_CONTENT,),
    )


def _image_words(image: Any) -> _ImageWords:
    exif = image.getexif()
    inner = exif.get_ifd(_EXIF_IFD)
    chunks = {str(name).lower(): value for name, value in image.info.items() if isinstance(name, str)}
    xmp = _xmp(chunks.get("xmp") or chunks.get("xml:com.adobe.xmp"))

    def first(limit: int, *values: object) -> str:
        return next((text for value in values if (text := _text(value, limit))), "")

    return _ImageWords(
        title=first(MAX_TITLE_CHARS, xmp.get("title"), chunks.get("title"), exif.get(_XP_TITLE)),
        description=first(
            _MAX_TEXT_CHARS,
            xmp.get("description"),
            exif.get(_DESCRIPTION),
            chunks.get("description"),
            exif.get(_XP_COMMENT),
            exif.get(_XP_SUBJECT),
            chunks.get("comment"),
        ),
        alternative=first(_MAX_TEXT_CHARS, xmp.get("AltTextAccessibility")),
        author=first(
            MAX_WORDS_CHARS, xmp.get("creator"), exif.get(_ARTIST), chunks.get("author"), exif.get(_XP_AUTHOR)
        ),
        rights=first(MAX_TITLE_CHARS, xmp.get("rights"), exif.get(_COPYRIGHT), chunks.get("copyright")),
        taken=_date(inner.get(_TAKEN) or exif.get(_CHANGED)),
    )


def _text(value: object, limit: int) -> str:
    """Read a value as one line: a text, or bytes that are one in UTF-8 or, as Windows writes them, in UTF-16."""
    match value:
        case bytes() | bytearray():
            data = bytes(value[:_MAX_VALUE_BYTES])
            text = data.decode("utf-16-le" if b"\x00" in data[1:2] else "utf-8", "replace")
        case str():
            text = value[:_MAX_VALUE_BYTES].encode("utf-8", "replace").decode("utf-8")
        case tuple():
            parts = cast("tuple[object, ...]", value)[:_MAX_VALUE_BYTES]
            return _text(bytes(part & 0xFF for part in parts if isinstance(part, int)), limit)
        case _:
            return ""
    line = one_line(clean(text.partition("\x00")[0]), limit)
    return "" if line.casefold() in _PROGRAMS else line


def _date(value: object) -> str:
    try:
        return datetime.strptime(str(value)[:19], _DATE).isoformat()  # noqa: DTZ007 - a camera knows no zone
    except ValueError:
        return ""


def _xmp(packet: object) -> Mapping[str, str]:
    """Return the words of an XMP packet by the local names of their elements (ISO 16684-1)."""
    if isinstance(packet, bytes):
        packet = packet[:_MAX_XMP_BYTES].decode("utf-8", "replace")
    if not isinstance(packet, str) or len(packet) > _MAX_XMP_BYTES:
        return {}
    return dict(_named(packet))


def _named(packet: str) -> Iterator[tuple[str, str]]:
    for name, text in elements(packet):
        if name in ("title", "description", "creator", "rights", "AltTextAccessibility") and text.strip():
            yield name, text


def _drawn_texts(root: Element) -> tuple[list[str], int]:
    """Return the texts that are shown in the order in which they are drawn, and count those that are not."""
    shown: list[str] = []
    hidden = 0
    for element, is_visible in _drawn_elements(root):
        line = one_line(xml_data.text_of(element), _MAX_SHOWN_CHARS)
        if line and not is_visible:
            hidden += 1
        elif line and len(shown) < _MAX_TEXTS:
            shown.append(line)
    return shown, hidden


def _drawn_elements(root: Element) -> Iterator[tuple[Element, bool]]:
    stack = [(root, True)]
    for _ in range(_MAX_SVG_ELEMENTS):
        if not stack:
            return
        element, is_visible = stack.pop()
        is_visible = is_visible and not _is_hidden(element)
        if xml_data.local(element) == "text":
            yield element, is_visible
            continue
        children = [child for child in element.children if isinstance(child, Element)]
        stack += [(child, is_visible) for child in reversed(children) if xml_data.local(child) not in _UNSHOWN]


def _is_hidden(element: Element) -> bool:
    if _HIDDEN.search(element.attr("style") or ""):
        return True
    return any((element.attr(name) or "").strip() in values for name, values in _ATTRIBUTES.items())
