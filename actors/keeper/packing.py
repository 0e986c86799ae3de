"""Packs a collection for a model: an index, and the sources that suit a question best, as far as there is room.

What does not fit whole is given in the passages that suit; of what comes after that, its summary (003 "Packing").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from actors.keeper.collection_queries import CollectionQueries
from actors.keeper.search_queries import SearchIndex
from actors.markdown.structure import best_passages, fitting_passages, joined_passages, passages_of, read_outline
from protocol.collection_views import (
    AskCollection,
    AskSource,
    CollectionInfo,
    PackCollection,
    PackedCollection,
    PackedSource,
    SourceContent,
    SourceInfo,
)
from protocol.collections import own_id, sources_hash
from protocol.documents import CollectionEntry, CollectionIndex, CollectionSource, Content, Document, untrusted
from protocol.search import MAX_QUERY_CHARS, SearchPassages

_PAGE: Final = 1_000
_INDEX_SHARE: Final = 0.25
_ENTRY_CHARS: Final = 90
"""What an entry of the index takes beside its address and title."""

_SHORT_CHARS: Final = 600
"""What is given of a source for which there is no more room."""

_SHORT_SHARE: Final = 0.2
"""Of the room, what is kept for those, where not all sources fit."""

_LEAST_CHARS: Final = 120


class CollectionPacking(Struct, frozen=True):
    """Packs the collections of callers."""

    queries: CollectionQueries
    index: SearchIndex

    async def pack(self, request: PackCollection) -> PackedCollection:
        """Return an index and sources as documents, the best first.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION; INTERNAL_UNAVAILABLE, when the database is being replaced.
        """
        collection, sources = await self._sources(request)
        scores = await self._scores(request, collection.id)
        ranked = sorted(sources, key=lambda one: -scores.get(one.id, 0.0))
        index, taken = _index(collection, ranked, int(request.max_chars * _INDEX_SHARE))
        packed = await self._packed(request, ranked, request.max_chars - taken)
        documents = [untrusted(collection.id, index), *(document for document, _ in packed.values())]
        return PackedCollection(
            documents=tuple(documents),
            packed=tuple(
                PackedSource(
                    source_id=one.id,
                    score=round(scores.get(one.id, 0.0), 4),
                    whole=one.id in packed and packed[one.id][1],
                    packed=one.id in packed,
                    captured_at=one.captured_at,
                )
                for one in ranked
            ),
            hash=sources_hash(f"{one.id} {one.version}" for one in ranked),
        )

    async def _sources(self, request: PackCollection) -> tuple[CollectionInfo, list[SourceInfo]]:
        """Return those sources that have something to read, in the order in which they came."""
        only, without = set(map(own_id, request.only)), set(map(own_id, request.leave_out))
        query = AskCollection(caller=request.caller, id=own_id(request.collection), limit=_PAGE)
        view = await self.queries.view(query)
        sources = list(view.sources)
        while view.sources and len(sources) < view.total:
            view = await self.queries.view(replace(query, offset=len(sources)))
            sources += view.sources
        wanted = [one for one in sources if one.chars and one.id not in without and (not only or one.id in only)]
        return view.collection, wanted

    async def _scores(self, request: PackCollection, collection: str) -> Mapping[str, float]:
        if not request.question.strip():
            return {}
        query = request.question[:MAX_QUERY_CHARS]
        return await self.index.rank_sources(SearchPassages(caller=request.caller, query=query, collection=collection))

    async def _packed(
        self, request: PackCollection, ranked: Sequence[SourceInfo], room: int
    ) -> dict[str, tuple[Document[Content], bool]]:
        """Return the documents of sources by their ids, each with whether it is whole."""
        packed = dict[str, tuple[Document[Content], bool]]()
        fits = sum(min(one.chars, request.per_source_chars) for one in ranked) <= room
        kept_back = 0 if fits else int(room * _SHORT_SHARE)
        for place, info in enumerate(ranked):
            budget = min(request.per_source_chars, room - kept_back)
            if not request.question.strip():
                budget = min(budget, max(room // (len(ranked) - place), _SHORT_CHARS))
            if budget < min(info.chars, _SHORT_CHARS):
                budget = min(_SHORT_CHARS, room)
            if budget < _LEAST_CHARS:
                break
            content = await self.queries.source(AskSource(caller=request.caller, id=info.id))
            source = await to_thread.run_sync(_document, content, request.question, budget)
            room -= len(source.markdown) + len(source.url) + len(source.title)
            document: Document[Content] = untrusted(info.id, source)
            packed[info.id] = (document, source.markdown == content.markdown)
        return packed


def _index(collection: CollectionInfo, ranked: Sequence[SourceInfo], room: int) -> tuple[Content, int]:
    """Return the index of the sources, the best first and as many as there is room for, and what it takes."""
    entries, taken = list[CollectionEntry](), 0
    for one in ranked:
        taken += len(one.url) + len(one.title) + _ENTRY_CHARS
        if taken > room and entries:
            break
        entries.append(CollectionEntry(source_id=one.id, url=one.url, title=one.title, captured_at=_read_at(one)))
    index = CollectionIndex(collection_id=collection.id, title=collection.title, sources=tuple(entries))
    return index, min(taken, room)


def _document(content: SourceContent, question: str, budget: int) -> CollectionSource:
    """Return a source as a document: whole, with its links, or what of it suits the question, and fits."""
    info = content.info
    whole = len(content.markdown) <= budget
    return CollectionSource(
        collection_id=info.collection_id,
        source_id=info.id,
        url=info.url,
        title=info.title,
        captured_at=_read_at(info),
        markdown=content.markdown if whole else _excerpt(content.markdown, question, budget),
        extracted_links=content.links if whole else (),
    )


def _excerpt(markdown: str, question: str, budget: int) -> str:
    """Return the passages that suit a question, in their order, or the first where none does."""
    outline = read_outline(markdown)
    ranked = best_passages(question, markdown, outline) if question.strip() else []
    passages = ranked or list(islice(passages_of(markdown, outline), budget // 100 + 1))
    text = joined_passages(fitting_passages(passages, budget, len))
    return text if len(text) <= budget else f"{text[: budget - 1].rstrip()}…"


def _read_at(info: SourceInfo) -> datetime:
    return datetime.fromtimestamp((info.captured_at or info.added_at) / 1_000, UTC)
