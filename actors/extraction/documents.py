"""Gives what was found in a body that is no HTML the shape that a page has."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote, urlsplit

from msgspec import UNSET, structs

from actors.extraction.decide.language import language
from actors.extraction.extraction import Extraction
from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, ParsedDocument
from actors.extraction.parse.text import one_line
from protocol.browse import SelectorAttempt, TitleAttempt
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import PageParts, WebObservationSummary
from protocol.page import wire_names
from protocol.pages import PageEvidence


def shaped(found: ParsedDocument, url: str, captured_at: datetime | None = None) -> Extraction:
    """Return a body as a page: its address is its title where it has none, and no text is no content."""
    title = found.title or name_of(url)
    named = confidence(found.title_source, found.title_score) if found.title else confidence(Source.FALLBACK)
    sure = confidence(found.source) if found.text.strip() else confidence(Source.UNKNOWN, 0.0)
    fields, scores = found.fields, found.sure
    if found.declared_language is not None:
        spoken, sure_of_spoken = language(found.declared_language, found.text)
        fields, scores = structs.replace(fields, language=spoken), {**scores, "language": sure_of_spoken}
    return Extraction(
        summary=WebObservationSummary(
            url=url,
            title=title,
            markdown=found.markdown,
            captured_at=captured_at or UNSET,
            extracted_links=found.links,
            signals=found.signals,
            text=found.text,
            language=fields.language or UNSET,
            tables=found.tables,
            parts=PageParts(fields=fields, left_out=_left_out(found)),
        ),
        evidence=PageEvidence(content_length=len(found.text), markup=False),
        title=named,
        content=sure,
        tables=found.tables_sure or tuple(confidence(found.source) for _ in found.tables),
        selectors=(_whole(found, sure),),
        titles=(_place(title, named, found),),
        fields={name: scores.get(name) or confidence(found.source) for name in wire_names(fields)},
    )


def name_of(url: str) -> str:
    """Make a title of an address: its last part, or its host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return one_line(unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc or url, MAX_TITLE_CHARS)


def _left_out(found: ParsedDocument) -> dict[str, int]:
    counts = {"characters": found.left_out, **found.kept_back}
    return {kind: count for kind, count in counts.items() if count}


def _whole(found: ParsedDocument, sure: Confidence) -> SelectorAttempt:
    return SelectorAttempt(
        selector=":root",
        source="verbatim",
        matched=bool(found.text),
        content_length=len(found.text),
        confidence_score=sure.score,
        selected=True,
    )


def _place(title: str, named: Confidence, found: ParsedDocument) -> TitleAttempt:
    source = "document" if found.title else "url"
    return TitleAttempt(source=source, matched=True, confidence_score=named.score, selected=True, value=title)
