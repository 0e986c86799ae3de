"""Reads what is no HTML, each kind by its own module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from actors.extraction.parse.formats import csv_data, json_data, json_lines, markdown_text, plain_text, svg, xml_data
from actors.extraction.parse.formats.found import Clock, Found
from actors.extraction.parse.formats.kinds import Kind
from actors.extraction.parse.text import clean
from protocol.confidence import Source

_READERS: Mapping[Kind, Callable[[str, str], Found | None]] = MappingProxyType(
    {
        Kind.JSON: json_data.read,
        Kind.NDJSON: json_lines.read,
        Kind.XML: xml_data.read,
        Kind.CSV: csv_data.read,
        Kind.SVG: svg.read,
        Kind.MARKDOWN: markdown_text.read,
        Kind.TEXT: plain_text.read,
    }
)
_SECOND: Mapping[Kind, Kind] = MappingProxyType({Kind.JSON: Kind.NDJSON, Kind.NDJSON: Kind.JSON})


def read(kind: Kind, text: str, url: str) -> Found:
    """Read a text as what it says it is; where it is not that, as plain text. Characters nobody sees are taken out."""
    text = clean(text)
    for reader in (_READERS.get(kind), _READERS.get(_SECOND.get(kind, kind)), plain_text.read):
        if reader is not None and (found := reader(text, url)) is not None:
            return found
    return Found(markdown="", text="", source=Source.UNKNOWN)


_BINARY: Mapping[Kind, str] = MappingProxyType(
    {Kind.PDF: f"{__package__}.pdf.reading", Kind.IMAGE: f"{__package__}.images"}
)
"""The modules that read what is no text; they are loaded when the first such body comes."""


def read_bytes(kind: Kind, body: bytes, url: str, clock: Clock) -> Found:
    """Read a body that is no text; the clock bounds how long that takes.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE or CONTENT_TOO_LARGE: what its module says.
    """
    reader: Callable[[bytes, str, Clock], Found] = import_module(_BINARY[kind]).read
    return reader(body, url, clock)
