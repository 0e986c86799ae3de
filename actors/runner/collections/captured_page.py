"""What a capture makes of a page that was read: what is kept of it, and what has changed since it was read before."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from msgspec import UNSET, Struct

from actors.markdown.captures import captured_markdown, in_one_line
from actors.runner.collections.history import SourceHistory
from actors.runner.collections.sections import sampled, section_changes
from protocol.collections import CAPTURE_CHARS, MAX_LINKS, CaptureMode, SourceAdded, SourceCaptured
from protocol.documents import ExtractedLink, Signal, WebObservationSummary
from protocol.pages import Browsed

MAX_LINE_BYTES: Final = 900_000
SUMMARY_CHARS: Final = 300


class CapturedPage(Struct, frozen=True, kw_only=True):
    """What was read of a page, whoever has read it; `at` is when (ms since the epoch)."""

    url: str
    title: str
    markdown: str
    at: int
    summary: str = ""
    links: tuple[ExtractedLink, ...] = ()
    signals: tuple[Signal, ...] = ()
    language: str = ""
    confidence: float = 0.0


def read_page(page: Browsed, now: int, mode: CaptureMode = "auto") -> CapturedPage:
    """Return what a capture takes of a page, as its mode says; `now` where nobody says when it was fetched."""
    content = page.page.document.content
    return CapturedPage(
        url=page.page.final_url,
        title=content.title,
        markdown=captured_markdown(content, mode),
        at=page.page.fetched_at or now,
        summary=_summary(content),
        links=content.extracted_links[:MAX_LINKS],
        signals=content.signals,
        language="" if content.language is UNSET else content.language,
        confidence=page.confidence.overall.score,
    )


def captured(
    history: SourceHistory, added: SourceAdded, page: CapturedPage, job: str, max_chars: int = CAPTURE_CHARS
) -> SourceCaptured:
    """Return the line of a page that was read: what is kept of it, and what has changed since the version before."""
    before = history.captured
    markdown, truncated = _bounded(page.markdown, max_chars)
    digest = sha256(markdown.encode(errors="replace")).hexdigest()
    unchanged = before is not None and before.content_hash == digest
    return SourceCaptured(
        caller=added.caller,
        at=page.at,
        collection=added.collection,
        job=job,
        source=added.source,
        version=history.version + (not unchanged),
        url=page.url,
        title=added.title or page.title,
        content_hash=digest,
        markdown="" if unchanged else markdown,
        summary="" if unchanged else page.summary,
        links=() if unchanged else page.links,
        signals=page.signals,
        language=page.language,
        confidence=page.confidence,
        unchanged=unchanged,
        changes=section_changes(before.markdown, markdown) if before is not None and not unchanged else (),
        truncated=truncated,
    )


def _bounded(markdown: str, most: int) -> tuple[str, bool]:
    kept, truncated = sampled(markdown, most)
    if (size := len(kept.encode(errors="replace"))) > MAX_LINE_BYTES:
        return sampled(markdown, most * MAX_LINE_BYTES // size // 2)[0], True
    return kept, truncated


def _summary(content: WebObservationSummary) -> str:
    """Return what a page says of itself, or how it begins."""
    described = in_one_line(content.parts.fields.description)
    if described:
        return described[:SUMMARY_CHARS]
    lines = (line.strip() for line in content.markdown.splitlines())
    return next((line for line in lines if line and line[0] not in "#>-*|!`~["), "")[:SUMMARY_CHARS]
