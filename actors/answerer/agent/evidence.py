"""Keeps what the steps towards a goal have read: for the models and the gate as documents, for the answer as sources.

A model proposes from `shown` alone, and the gate is given the same: what no model has seen can have talked none into
anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import structs

from actors.answerer.citable_source import CitableSource
from actors.answerer.reading import Reading, documents_read
from actors.answerer.source import AnswerSource
from protocol.agent import AgentStep
from protocol.documents import (
    CollectionIndex,
    CollectionSource,
    Content,
    Document,
    WebObservationChunk,
    WebObservationSummary,
    untrusted,
)
from protocol.policy import MAX_CONTEXT_CHARS, MAX_CONTEXT_DOCUMENTS, ToolOutcome

MAX_SHOWN_CHARS: Final = 24_000
"""What of one document is shown to a model that proposes calls; an answer is written from all of it."""

MAX_PAYLOAD_CHARS: Final = 6_000
CALCULATE: Final = "app.calculate"
MAX_URL_CHARS: Final = 2_000
MAX_LINKS: Final = 200
_MAX_VALUE_CHARS = 300


@dataclass(kw_only=True)
class AgentEvidence:
    """What was read before and in the steps; `reading` is that for the answer."""

    begun: Reading = field(default_factory=lambda: Reading(evidence=(), reads=()))
    shown: tuple[Document[Content], ...] = ()
    _documents: list[Document[Content]] = field(default_factory=list[Document[Content]])

    @classmethod
    def of(cls, reading: Reading) -> AgentEvidence:
        """Return what was read before the first step."""
        evidence = cls(begun=reading)
        evidence._show(_document_of(one.source) for one in reading.evidence)
        return evidence

    def add(self, documents: Iterable[Document[Content]]) -> None:
        """Keep documents, each under an id of its own."""
        for document in documents:
            named = structs.replace(document, doc_id=self._free(document.doc_id))
            self._documents.append(named)
            self._show((named,))

    def add_step(self, step: AgentStep) -> None:
        """Keep what a step has read; what its tool has answered beside that is shown, and is no source of an answer.

        A result that was computed is one: it is all that there is.
        """
        result = step.outcome.result
        if result is None:
            return
        if lines := list(payload_lines(result.payload, short=bool(result.documents))):
            title = f"{step.tool}: {result.status}"
            text = "\n\n".join((f"# {title}", *lines))[:MAX_PAYLOAD_CHARS]
            page = WebObservationSummary(url="", title=title, markdown=text)
            note: tuple[Document[Content], ...] = (untrusted(f"step_{step.number}", page),)
            if step.tool == CALCULATE:
                self.add(note)
            else:
                self._show(note)
        self.add(result.documents)

    @property
    def pages(self) -> frozenset[str]:
        """The addresses of pages that were read as they are, by what found them or not."""
        captured = (one.content.url for one in self._documents if isinstance(one.content, CollectionSource))
        return frozenset((*(one.url for one in self.begun.reads), *captured))

    def reading(self) -> Reading:
        """Return all that was read, as an answer is written from it; costs time."""
        own = documents_read(self._documents)
        return Reading(
            evidence=(*self.begun.evidence, *own.evidence),
            reads=(*self.begun.reads, *own.reads),
            index=(*self.begun.index, *own.index),
        )

    def sources(self) -> tuple[CitableSource, ...]:
        """Return what is shown, as it is given to a model that proposes calls; costs time."""
        return documents_read(self.shown).evidence

    def _free(self, name: str) -> str:
        taken = {one.doc_id for one in (*self.shown, *self._documents)} | {one.doc_id for one in self.begun.reads}
        names = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
        return next(one for one in names if one not in taken)

    def _show(self, documents: Iterable[Document[Content]]) -> None:
        """Show documents as far as there is room; the gate takes no more than a model may see."""
        left = MAX_CONTEXT_CHARS - sum(_size(one) for one in self.shown)
        for document in documents:
            cut = _cut(document, min(left, MAX_SHOWN_CHARS))
            if cut is not None and len(self.shown) < MAX_CONTEXT_DOCUMENTS and _size(cut) <= left:
                self.shown = (*self.shown, cut)
                left -= _size(cut)


def payload_lines(payload: Mapping[str, Any], *, short: bool) -> Iterator[str]:
    """Write what a tool has answered, a paragraph each; `short`: what it has read comes beside it, so ids alone."""
    for name, value in payload.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if not short or len(text) <= _MAX_VALUE_CHARS:
            yield f"{name}: {' '.join(text.split())}"


def outcome_words(outcome: ToolOutcome) -> str:
    """Say what came of a call, for a model and for people, in no word of a page."""
    result = outcome.result
    if result is None or result.fault is None:
        why = f": {outcome.decision.why}" if outcome.decision.why and result is None else ""
        return f"{outcome.status}{why}"
    code = f" {result.code}" if isinstance(result.code, str) else ""
    return f"{outcome.status}{code}: {result.fault.message}"


def _document_of(source: AnswerSource) -> Document[Content]:
    page = WebObservationSummary(url=source.url, title=source.title, markdown=source.markdown)
    return untrusted(source.doc_id, page)


def _size(document: Document[Content]) -> int:
    """Count the characters of a document."""
    content = document.content
    if isinstance(content, CollectionIndex):
        return sum(len(one.title) + len(one.url) for one in content.sources)
    return len(content.url) + len(content.title) + len(content.markdown)


def _cut(document: Document[Content], chars: int) -> Document[Content] | None:
    """Return a document with no more words than there is room for, and without what a model is not shown."""
    content = document.content
    if isinstance(content, CollectionIndex):
        return document
    title, url = content.title[:_MAX_VALUE_CHARS], content.url[:MAX_URL_CHARS]
    left = chars - len(title) - len(url)
    if left <= 0:
        return None
    links = () if isinstance(content, WebObservationChunk) else content.extracted_links[:MAX_LINKS]
    page = WebObservationSummary(url=url, title=title, markdown=content.markdown[:left], extracted_links=links)
    return untrusted(document.doc_id, page)
