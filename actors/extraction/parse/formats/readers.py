"""Chooses the reader of a body that is no HTML, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from actors.extraction.parse.formats import data_files, images, markdown, xml_data
from actors.extraction.parse.formats.document import Clock, ParsedDocument, bounded
from actors.extraction.parse.formats.kinds import BodyKind
from actors.extraction.parse.text import clean
from protocol.confidence import Source
from protocol.render import plain, to_markdown

_PDF_READER = f"{__package__}.pdf"
"""Loaded when the first PDF comes: it costs memory."""

_SECOND: Mapping[BodyKind, BodyKind] = MappingProxyType(
    {BodyKind.JSON: BodyKind.NDJSON, BodyKind.NDJSON: BodyKind.JSON}
)


def read_text(kind: BodyKind, text: str, url: str) -> ParsedDocument:
    """Read a text as what it says it is; where it is not that, as plain text. Characters nobody sees are taken out."""
    text = clean(text)
    for reader in (_READERS.get(kind), _READERS.get(_SECOND.get(kind, kind)), _read_plain):
        if reader is not None and (document := reader(text, url)) is not None:
            return document
    return ParsedDocument(markdown="", text="", source=Source.UNKNOWN)


def read_bytes(kind: BodyKind, body: bytes, url: str, clock: Clock) -> ParsedDocument:
    """Read a body that is no text; the clock bounds how long that takes.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE or CONTENT_TOO_LARGE, as its reader says.
    """
    if kind is BodyKind.IMAGE:
        return images.read_image(body, url)
    read_pdf: Callable[[bytes, Clock], ParsedDocument] = import_module(_PDF_READER).read
    return read_pdf(body, clock)


def _read_plain(text: str, url: str) -> ParsedDocument | None:
    """Read plain text, escaped where Markdown would read it as markup; any text is."""
    del url
    kept, left_out = bounded(text.strip())
    return ParsedDocument(markdown=to_markdown(plain(kept)), text=kept, source=Source.SELECTOR_MATCH, left_out=left_out)


_READERS: Mapping[BodyKind, Callable[[str, str], ParsedDocument | None]] = MappingProxyType(
    {
        BodyKind.JSON: data_files.read_json,
        BodyKind.NDJSON: data_files.read_json_lines,
        BodyKind.XML: xml_data.read,
        BodyKind.CSV: data_files.read_csv,
        BodyKind.SVG: images.read_svg,
        BodyKind.MARKDOWN: markdown.read,
        BodyKind.TEXT: _read_plain,
    }
)
