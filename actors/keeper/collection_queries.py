"""The queries to the tables of collections: each is answered to the caller whose collections they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import Struct

from actors.keeper.collections import collection_place
from actors.projection.database import Database, Row
from bus.seal import Seal, UnsealError
from protocol.access import OWNER_NAME
from protocol.codec import MalformedError, decoder
from protocol.collection_views import (
    AskCollection,
    AskSource,
    CollectionInfo,
    CollectionList,
    CollectionView,
    KeptBytes,
    ListCollections,
    SourceContent,
    SourceInfo,
    SourceVersion,
)
from protocol.collections import (
    COLLECTION_PREFIX,
    SOURCE_PREFIX,
    CaptureFailed,
    CaptureStatus,
    CollectionCreated,
    CollectionWatched,
    SourceAdded,
    SourceCaptured,
    own_id,
)
from protocol.faults import Code, FaultError, fault

S = TypeVar("S", bound=Struct)

_COLLECTION: Final = (
    "SELECT c.id, c.created_at, c.updated_at, c.watch_every_ms, c.watched, c.content, count(s.id), "
    "count(s.id) FILTER (WHERE s.capture_status = 'captured'), count(s.id) FILTER (WHERE s.capture_status = 'failed'), "
    "count(s.id) FILTER (WHERE s.capture_status = 'pending') "
    "FROM collections AS c LEFT JOIN sources AS s ON s.collection_id = c.id WHERE c.caller = ? "
)
_ONE: Final = f"{_COLLECTION} AND c.id = ? GROUP BY c.id"
_NEWEST: Final = "SELECT id FROM collections WHERE caller = ? ORDER BY line DESC LIMIT ? OFFSET ?"
_PAGE: Final = f"{_COLLECTION} AND c.id IN ({_NEWEST}) GROUP BY c.id ORDER BY c.line DESC"
_TOTAL: Final = "SELECT count(*) FROM collections WHERE caller = ?"

SOURCE_BYTES: Final = 4_096
"""What the journal takes for a source beside its words: how its captures went."""

DELETED_BYTES: Final = 512
"""What it takes for good to say that something is gone."""

_BYTES: Final = (
    "SELECT sum(bytes) FROM ("
    "SELECT sum(length(content)) AS bytes FROM collections WHERE caller = ?1 UNION ALL "
    "SELECT sum(length(content) + ?2) FROM sources WHERE caller = ?1 UNION ALL "
    "SELECT sum(length(v.content)) FROM sources AS s JOIN source_versions AS v ON v.source_id = s.id "
    "WHERE s.caller = ?1 UNION ALL "
    "SELECT sum(length(content)) FROM texts WHERE caller = ?1 UNION ALL "
    "SELECT lines * ?3 FROM deleted_lines WHERE caller = ?1)"
)

_SOURCE: Final = (
    "SELECT s.id, s.collection_id, s.capture_status, s.capture_version, s.content_hash, s.chars, s.added_at, "
    "s.captured_at, s.updated_at, s.error, s.content, v.facts, "
    "(SELECT id FROM capture_jobs WHERE source_id = s.id AND status IN ('queued', 'running')) "
    "FROM sources AS s LEFT JOIN source_versions AS v ON v.source_id = s.id AND v.version = s.capture_version "
    "WHERE s.caller = ? "
)
_SOURCES: Final = f"{_SOURCE} AND s.collection_id = ? ORDER BY s.line LIMIT ? OFFSET ?"
_ONE_SOURCE: Final = f"{_SOURCE} AND s.id = ?"
_VERSIONS: Final = "SELECT version, facts, chars FROM source_versions WHERE source_id = ? ORDER BY version DESC"
_VERSION: Final = "SELECT content FROM source_versions WHERE source_id = ? AND version = ?"


class CollectionQueries(Struct, frozen=True):
    """Answers what is asked of collections, and opens what is sealed."""

    database: Database
    seal: Seal
    clock: Callable[[], int]
    most_bytes: int = 0
    """What one key, the owner's apart, may keep; 0: any number."""

    async def page(self, request: ListCollections) -> CollectionList:
        """Return the collections of a caller, the newest first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        rows = await self.database.read(_PAGE, (request.caller, request.caller, request.limit, request.offset))
        ((total,),) = await self.database.read(_TOTAL, (request.caller,))
        room = await self.kept_bytes(request.caller)
        collections = tuple(map(self._info, rows))
        return CollectionList(collections=collections, total=int(total), kept_bytes=room.kept, max_bytes=room.most)

    async def kept_bytes(self, caller: str) -> KeptBytes:
        """Return how much a caller keeps in collections and texts, and may keep."""
        ((kept,),) = await self.database.read(_BYTES, (caller, SOURCE_BYTES, DELETED_BYTES))
        return KeptBytes(kept=kept or 0, most=0 if caller == OWNER_NAME else self.most_bytes)

    async def view(self, request: AskCollection) -> CollectionView:
        """Return a collection with its sources.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION; INTERNAL_UNAVAILABLE, as above.
        """
        name = own_id(request.id)
        rows = await self.database.read(_ONE, (request.caller, name))
        if not rows or not name.startswith(COLLECTION_PREFIX):
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_COLLECTION, field="id"))
        info = self._info(rows[0])
        sources = await self.database.read(_SOURCES, (request.caller, name, request.limit, request.offset))
        return CollectionView(collection=info, sources=tuple(map(self._source, sources)), total=info.sources)

    async def source(self, request: AskSource) -> SourceContent:
        """Return a source whole, in its newest version or another one that is kept.

        Raises:
            FaultError: VALIDATION_UNKNOWN_SOURCE, also where that version is not kept; INTERNAL_UNAVAILABLE, as above.
        """
        name = own_id(request.id)
        rows = await self.database.read(_ONE_SOURCE, (request.caller, name))
        if not rows or not name.startswith(SOURCE_PREFIX):
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_SOURCE, field="id"))
        info, added, content_hash = self._source(rows[0]), self._added(rows[0]), str(rows[0][4])
        wanted = info.version if request.version is None else request.version
        versions = await self.database.read(_VERSION, (name, wanted))
        if not versions:
            if request.version is not None:
                raise FaultError(
                    fault(Code.VALIDATION_UNKNOWN_SOURCE, f"version: {wanted} is not kept", field="version")
                )
            return SourceContent(info=info, markdown=added.markdown, content_hash=content_hash)
        page = self._opened(SourceCaptured, versions[0][0], f"{name} {wanted}")
        return SourceContent(
            info=info,
            markdown=page.markdown,
            links=page.links,
            signals=page.signals,
            content_hash=page.content_hash,
            versions=await self._versions(name),
        )

    async def _versions(self, name: str) -> tuple[SourceVersion, ...]:
        rows = await self.database.read(_VERSIONS, (name,))
        facts = [(self._opened(SourceCaptured, sealed, f"{name} {version}"), chars) for version, sealed, chars in rows]
        return tuple(
            SourceVersion(
                version=one.version,
                captured_at=one.at,
                content_hash=one.content_hash,
                chars=chars,
                changes=one.changes,
            )
            for one, chars in facts
        )

    def _info(self, row: Row) -> CollectionInfo:
        name, created_at, updated_at, every_ms, watched, content, sources, captured, failed, pending = row
        created = self._opened(CollectionCreated, content, name)
        webhook = self._opened(CollectionWatched, watched, name).webhook if watched else ""
        return CollectionInfo(
            id=name,
            title=created.title,
            tags=created.tags,
            created_at=created_at,
            updated_at=updated_at,
            sources=sources,
            captured=captured,
            failed=failed,
            pending=pending,
            watch_every_ms=every_ms,
            watch_webhook=webhook,
        )

    def _added(self, row: Row) -> SourceAdded:
        return self._opened(SourceAdded, row[10], row[0])

    def _source(self, row: Row) -> SourceInfo:
        name, collection, status, version, _, chars, added_at, captured_at, updated_at, error, _, facts, job = row
        added = self._added(row)
        page = self._opened(SourceCaptured, facts, f"{name} {version}") if facts else None
        failed = self._opened(CaptureFailed, error, name).fault if error else None
        return SourceInfo(
            id=name,
            collection_id=collection,
            kind=added.kind,
            title=added.title or (page.title if page else ""),
            url=page.url if page else added.url,
            status=CaptureStatus(status),
            version=version,
            added_at=added_at,
            captured_at=captured_at,
            age_ms=None if captured_at is None else max(self.clock() - captured_at, 0),
            updated_at=updated_at,
            chars=chars,
            summary=page.summary if page else "",
            language=page.language if page else "",
            confidence=page.confidence if page else 0.0,
            error=failed,
            changes=page.changes if page else (),
            truncated=page.truncated if page else False,
            changed_at=page.at if page else None,
            job_id=job or "",
        )

    def _opened(self, kind: type[S], content: Any, name: str) -> S:
        try:
            opened: S = decoder(kind).decode(self.seal.unseal(content, collection_place(name)))
        except (UnsealError, MalformedError):
            self.database.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
        return opened
