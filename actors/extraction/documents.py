"""Makes an extraction of a body that is no HTML: the same that a page gives."""

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
        evidence=PageEvidence(content_length=len(document.text), markup=False),
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
