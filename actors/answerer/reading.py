"""Reads what a request is about: its pages, by the cheapest tier that can, and the documents that came with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

import anyio
from anyio import CapacityLimiter, to_thread
from msgspec import Struct, structs

from actors import redact
from actors.answerer.citable_source import CitableSource, citable
from actors.answerer.source import AnswerSource
from bus import Requester
from protocol.answers import SourceRead, Sources
from protocol.documents import (
    CollectionIndex,
    CollectionSource,
    Content,
    Document,
    WebObservationChunk,
    WebObservationSummary,
)
from protocol.faults import Code, Fault, FaultError, fault
from protocol.pages import BrowsePage
from protocol.subjects import BROWSE
from protocol.tiers import RenderTier

PAGES_AT_ONCE: Final = 5
"""Pages of one request that are read at the same time."""

EMPTY = "There is nothing to read in this document."
NOTHING = "Name pages (url, urls) or send documents: there is nothing to read."


class Reading(Struct, frozen=True, kw_only=True):
    """What was read: the sources with something in them, how each was read, and the lines of collections' indexes."""

    evidence: tuple[CitableSource, ...]
    reads: tuple[SourceRead, ...]
    index: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[AnswerSource, ...]:
        """The sources that were read."""
        return tuple(one.source for one in self.evidence)


async def read(bus: Requester, request: Sources, wait_ms: int = 0) -> Reading:
    """Read the pages, several at the same time, and the documents; what could not be read is told with its reason.

    `wait_ms` is how long to wait for a navigator that is being replaced.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where nothing is to be read or two documents have one id; the first
            failure where nothing could be read.
    """
    if not request.pages and not request.documents:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, NOTHING))
    taken = frozenset(document.doc_id for document in request.documents)
    names = [name for number in range(1, 1 + len(taken) + len(request.pages)) if (name := f"doc_{number}") not in taken]
    pages = await _browsed(_Browser(bus, names, wait_ms), request.pages)
    sources = await to_thread.run_sync(lambda: [*map(_page, pages), *_documents(request.documents)])
    evidence = tuple(one for one in sources if isinstance(one, CitableSource) and one.text.sentences)
    reads = tuple(_read_of(one) for one in sources)
    reads = (*map(_with_tier, reads, pages), *reads[len(pages) :])
    if not evidence:
        raise FaultError(
            next((read.error for read in reads if read.error is not None), fault(Code.CONTENT_EMPTY, EMPTY))
        )
    return Reading(evidence=evidence, reads=reads, index=tuple(_index(request.documents)))


def documents_read(documents: Sequence[Document[Content]]) -> Reading:
    """Return documents as they are read, whether something stands in them or not; costs time.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where two have one id.
    """
    sources = _documents(documents)
    return Reading(
        evidence=tuple(one for one in sources if one.text.sentences),
        reads=tuple(map(_read_of, sources)),
        index=tuple(_index(documents)),
    )


class _ReadPage(Struct, frozen=True, kw_only=True):
    """A page as it was read, and by which tier."""

    source: AnswerSource
    tier: RenderTier


class _Unread(Struct, frozen=True, kw_only=True):
    """A page that could not be read."""

    doc_id: str
    url: str
    error: Fault


_Page = _ReadPage | _Unread


class _Browser(Struct, frozen=True):
    """Has pages read, which get their ids by their places."""

    bus: Requester
    names: Sequence[str]
    wait_ms: int

    async def browse(self, number: int, page: BrowsePage) -> _Page:
        """Read a page, or say why that failed."""
        doc_id = self.names[number]
        try:
            browsed = await self.bus.call(BROWSE, structs.replace(page, watch=None), wait_ms=self.wait_ms)
        except FaultError as error:
            return _Unread(doc_id=doc_id, url=page.url, error=error.fault)
        content = browsed.page.document.content
        confidence = min(browsed.confidence.overall.score, browsed.confidence.content.score)
        source = structs.replace(
            _source(doc_id, content), url=browsed.page.final_url or content.url, confidence=confidence
        )
        return _ReadPage(source=source, tier=browsed.page.tier)


async def _browsed(browser: _Browser, pages: Sequence[BrowsePage]) -> list[_Page]:
    results = dict[int, _Page]()
    limiter = CapacityLimiter(PAGES_AT_ONCE)

    async def browse(number: int, page: BrowsePage) -> None:
        async with limiter:
            results[number] = await browser.browse(number, page)

    async with anyio.create_task_group() as tasks:
        for number, page in enumerate(pages):
            tasks.start_soon(browse, number, page)
    return [results[number] for number in range(len(pages))]


def _page(page: _Page) -> CitableSource | _Unread:
    return citable(page.source) if isinstance(page, _ReadPage) else page


def _with_tier(read: SourceRead, page: _Page) -> SourceRead:
    return structs.replace(read, tier=page.tier) if isinstance(page, _ReadPage) else read


def _source(doc_id: str, content: WebObservationSummary) -> AnswerSource:
    return AnswerSource(
        doc_id=doc_id,
        url=content.url,
        title=content.title,
        markdown=content.markdown,
        language=content.language if isinstance(content.language, str) else "",
        tables=content.tables,
        parts=content.parts,
    )


def _documents(documents: Iterable[Document[Content]]) -> list[CitableSource]:
    """Return the documents as sources, in their order; the chunks of a page stand together where its first stood."""
    groups = dict[tuple[str, str], list[Document[Content]]]()
    for document in documents:
        key = (
            ("chunk", document.content.url)
            if isinstance(document.content, WebObservationChunk)
            else ("", document.doc_id)
        )
        if key in groups and not key[0]:
            message = f"Two documents have the id {document.doc_id}; each needs its own."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="documents"))
        groups.setdefault(key, []).append(document)
    return [evidence for group in groups.values() for evidence in _group(group)]


def _group(documents: Sequence[Document[Content]]) -> Iterable[CitableSource]:
    first = documents[0]
    match first.content:
        case WebObservationSummary() as page:
            yield citable(_source(first.doc_id, page))
        case CollectionSource() as source:
            yield citable(
                AnswerSource(
                    doc_id=first.doc_id,
                    source_id=source.source_id,
                    url=source.url,
                    title=source.title,
                    markdown=source.markdown,
                    captured_at=int(source.captured_at.timestamp() * 1_000),
                )
            )
        case WebObservationChunk():
            yield _joined(documents)
        case CollectionIndex():
            pass


def _joined(documents: Sequence[Document[Content]]) -> CitableSource:
    """Join the chunks of a page by their numbers; each stays known by its own id."""
    chunks = [(one.doc_id, one.content) for one in documents if isinstance(one.content, WebObservationChunk)]
    chunks.sort(key=lambda one: one[1].chunk_index)
    unique = [next(same) for _, same in groupby(chunks, key=lambda one: one[1].chunk_index)]
    doc_id, first = unique[0]
    markdown = "\n\n".join(chunk.markdown for _, chunk in unique)
    source = AnswerSource(doc_id=doc_id, url=first.url, title=first.title, markdown=markdown)
    return citable(source, tuple((name, chunk.markdown) for name, chunk in unique))


def _read_of(one: CitableSource | _Unread) -> SourceRead:
    if isinstance(one, _Unread):
        return SourceRead(doc_id=one.doc_id, url=one.url, error=one.error)
    source = one.source
    return SourceRead(
        doc_id=source.doc_id,
        url=source.url,
        title=source.title,
        confidence=source.confidence,
        chars=len(source.markdown),
        error=None if one.text.sentences else fault(Code.CONTENT_EMPTY, EMPTY),
        source_id=source.source_id,
        captured_at=source.captured_at,
    )


def _index(documents: Iterable[Document[Content]]) -> Iterable[str]:
    """Return the lines of the indexes: which sources a collection has, whether they came along or not."""
    for document in documents:
        if isinstance(document.content, CollectionIndex):
            yield f"collection: {document.content.title}"
            for entry in document.content.sources:
                yield f"source {entry.source_id}: {entry.title} ({redact.url(entry.url)})"
