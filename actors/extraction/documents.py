"""Reads a body that is no HTML by the reader of its kind, and makes the same extraction of it that a page gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from importlib import import_module
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from msgspec import UNSET, structs

from actors.extraction.assets import vendors_of_body
from actors.extraction.decide.language import language
from actors.extraction.extraction import Extraction
from actors.extraction.parse.formats import data_files, images, markdown, xml_data
from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, Clock, ParsedDocument, bounded
from actors.extraction.parse.formats.kinds import BodyKind
from actors.extraction.parse.text import clean, one_line
from actors.extraction.write.writer import fragment_markdown
from protocol.browse import SelectorAttempt, TitleAttempt
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import PageParts, WebObservationSummary
from protocol.page import wire_names
from protocol.pages import VISIBLE_CHARS, PageEvidence
from protocol.render import CodeBlock, Doc, plain, to_markdown

_LAID_OUT, _INDENTED, _SHORT_CHARS, _FEWEST_LINES = 0.6, 0.15, 40, 3
"""Shares of short and of indented lines from which the lines of a text are its form, as of code, logs and poems, the
characters of a short one, and the lines that a text must have for it."""

_BRIEF_CHARS = 200
"""A refusal in plain text is a line, such as an error code; whatever is longer only speaks of one."""


def shaped(document: ParsedDocument, url: str, captured_at: datetime | None = None) -> Extraction:
    """Return a body as a page: its address is its title where it has none, and no text is no content."""
    title = document.title or name_of(url)
    named = confidence(document.title_source, document.title_score) if document.title else confidence(Source.FALLBACK)
    sure = confidence(document.source) if document.text.strip() else confidence(Source.UNKNOWN, 0.0)
    fields, scores = document.fields, document.sure
    if document.declared_language is not None:
        spoken, sure_of_spoken = language(document.declared_language, document.text)
        fields, scores = structs.replace(fields, language=spoken), {**scores, "language": sure_of_spoken}
    return Extraction(
        summary=WebObservationSummary(
            url=url,
            title=title,
            markdown=document.markdown,
            captured_at=captured_at or UNSET,
            extracted_links=document.links,
            signals=document.signals,
            text=document.text,
            language=fields.language or UNSET,
            tables=document.tables,
            parts=PageParts(fields=fields, left_out=_left_out(document)),
        ),
        evidence=_evidence(document.text),
        title=named,
        content=sure,
        tables=document.tables_sure or tuple(confidence(document.source) for _ in document.tables),
        selectors=(_whole(document, sure),),
        titles=(_place(title, named, document),),
        fields={name: scores.get(name) or confidence(document.source) for name in wire_names(fields)},
    )


def name_of(url: str) -> str:
    """Make a title of an address: its last part, or its host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return one_line(unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc or url, MAX_TITLE_CHARS)


def _left_out(document: ParsedDocument) -> dict[str, int]:
    counts = {"characters": document.left_out, **document.kept_back}
    return {kind: count for kind, count in counts.items() if count}


def _whole(document: ParsedDocument, sure: Confidence) -> SelectorAttempt:
    return SelectorAttempt(
        selector=":root",
        source="verbatim",
        matched=bool(document.text),
        content_length=len(document.text),
        confidence_score=sure.score,
        selected=True,
    )


def _place(title: str, named: Confidence, document: ParsedDocument) -> TitleAttempt:
    source = "document" if document.title else "url"
    return TitleAttempt(source=source, matched=True, confidence_score=named.score, selected=True, value=title)


def _evidence(text: str) -> PageEvidence:
    marks = tuple(vendors_of_body(text.lower())) if len(text) <= _BRIEF_CHARS else ()
    return PageEvidence(content_length=len(text), markup=False, challenge=marks, visible=text[:VISIBLE_CHARS])


_PDF_READER = "actors.extraction.parse.formats.pdf"
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
    """Read plain text, any text is: as code where its lines are its form, else escaped line by line."""
    del url
    kept, left_out = bounded(text.strip("\r\n").rstrip())
    if _is_laid_out(kept):
        markdown = to_markdown(Doc(children=(CodeBlock(text=kept),)))
    else:
        markdown = "\n".join(to_markdown(plain(line)).strip() for line in kept.strip().splitlines())
    return ParsedDocument(markdown=markdown, text=kept, source=Source.SELECTOR_MATCH, left_out=left_out)


def _is_laid_out(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _FEWEST_LINES:
        return False
    indented = sum(line.startswith(("  ", "\t")) for line in lines)
    short = sum(len(line) < _SHORT_CHARS for line in lines)
    return indented >= _INDENTED * len(lines) or short >= _LAID_OUT * len(lines)


_READERS: Mapping[BodyKind, Callable[[str, str], ParsedDocument | None]] = MappingProxyType(
    {
        BodyKind.JSON: partial(data_files.read_json, write=fragment_markdown),
        BodyKind.NDJSON: data_files.read_json_lines,
        BodyKind.XML: partial(xml_data.read, write=fragment_markdown),
        BodyKind.CSV: data_files.read_csv,
        BodyKind.SVG: images.read_svg,
        BodyKind.MARKDOWN: markdown.read,
        BodyKind.TEXT: _read_plain,
    }
)
