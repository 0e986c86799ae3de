"""The tables of collections: their sources, what was captured of them, and how captures stand (003 "Storage")."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace

from actors.projection.database import Write
from actors.projection.projection import TableUpdate
from bus.seal import Seal
from bus.stores import JournalLine
from protocol.codec import encode
from protocol.collections import (
    KEPT_VERSIONS,
    MAX_ATTEMPTS,
    CaptureFailed,
    CaptureQueued,
    CaptureStarted,
    CollectionCreated,
    CollectionDeleted,
    CollectionLine,
    CollectionWatched,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
    SourceKind,
    TextDeleted,
)
from protocol.subjects import COLLECTIONS

KEPT_JOBS: Final = 10
"""The captures of a source that are kept when they are over: the last ones."""

_CREATED = "INSERT OR IGNORE INTO collections VALUES (?, ?, ?, ?, ?, 0, NULL, ?)"
_WATCHED = "UPDATE collections SET watch_every_ms = ?, watched = ?, updated_at = max(updated_at, ?) WHERE id = ?"
_DELETED = "DELETE FROM collections WHERE id = ?"
_DELETED_LINE = "INSERT INTO deleted_lines VALUES (?, 1) ON CONFLICT (caller) DO UPDATE SET lines = lines + 1"
_TOUCHED = "UPDATE collections SET updated_at = max(updated_at, ?) WHERE id = ?"

_ADDED = (
    "INSERT OR IGNORE INTO sources SELECT ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, NULL, ? "
    "WHERE EXISTS (SELECT 1 FROM collections WHERE id = ?)"
)
_GONE = "DELETE FROM sources WHERE id = ?"
_CAPTURED = (
    "UPDATE sources SET capture_status = 'captured', capture_version = ?, content_hash = ?, chars = ?, "
    "captured_at = ?, updated_at = max(updated_at, ?), error = NULL WHERE id = ? AND capture_version <= ?"
)
_READ_AGAIN = (
    "UPDATE sources SET capture_status = 'captured', captured_at = max(coalesce(captured_at, 0), ?), "
    "updated_at = max(updated_at, ?), error = NULL WHERE id = ?"
)
_VERSION = (
    "INSERT OR REPLACE INTO source_versions SELECT ?, ?, ?, ?, ?, ?, ? "
    "WHERE EXISTS (SELECT 1 FROM sources WHERE id = ?)"
)
_OLD_VERSIONS = "DELETE FROM source_versions WHERE source_id = ? AND version <= ?"
_FAILED = (
    "UPDATE sources SET capture_status = 'failed', error = ?, updated_at = max(updated_at, ?) "
    "WHERE id = ? AND EXISTS (SELECT 1 FROM capture_jobs WHERE id = ? AND status IN ('queued', 'running'))"
)

_QUEUED = (
    "INSERT OR IGNORE INTO capture_jobs SELECT ?, ?, ?, ?, 'queued', 0, ?, '', ?, NULL, NULL "
    "WHERE EXISTS (SELECT 1 FROM sources WHERE id = ?)"
)
_STARTED = (
    "UPDATE capture_jobs SET status = 'running', attempt_count = ?, started_at = coalesce(started_at, ?) "
    "WHERE id = ? AND status IN ('queued', 'running')"
)
_TRIED = "UPDATE capture_jobs SET status = 'queued', last_error = ? WHERE id = ? AND status = 'running'"
_ENDED = (
    "UPDATE capture_jobs SET status = ?, last_error = ?, finished_at = ? "
    "WHERE id = ? AND status IN ('queued', 'running')"
)
_OLD_JOBS = (
    "DELETE FROM capture_jobs WHERE source_id = ? AND status NOT IN ('queued', 'running') AND id NOT IN "
    "(SELECT id FROM capture_jobs WHERE source_id = ? ORDER BY queued_at DESC LIMIT ?)"
)


_TOUCHING: Final = (SourceAdded, SourceDeleted, SourceCaptured, CaptureFailed)
"""What a collection counts as changed by."""


def collection_place(name: str) -> str:
    """Return the place that what is kept of a collection, a source or a capture is sealed for."""
    return f"{COLLECTIONS.name} {name}"


def facts_of(line: SourceCaptured) -> SourceCaptured:
    """Return what is known of a page without its words and links."""
    return replace(line, markdown="", links=())


class CollectionTables(Struct, frozen=True):
    """Collections and sources, as the lines of COLLECTIONS say; each line is written in its order."""

    seal: Seal
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM collections", "DELETE FROM deleted_lines")
    prune: ClassVar[tuple[str, ...]] = ()

    async def update(self, lines: Sequence[JournalLine[CollectionLine]]) -> TableUpdate:
        """Return the rows of some lines, and the ids of the collections and sources that they change."""
        writes = [write for line in lines for write in self._writes(line.sequence, line.value)]
        touched = {line.value.collection: line.value.at for line in lines if isinstance(line.value, _TOUCHING)}
        writes.append((_TOUCHED, [(at, name) for name, at in touched.items()]))
        return TableUpdate(writes, {line.value.collection for line in lines})

    def _writes(self, sequence: int, line: CollectionLine) -> list[Write]:
        match line:
            case CollectionCreated():
                sealed = self._sealed(line, line.collection)
                return [(_CREATED, [(line.collection, sequence, line.caller, line.at, line.at, sealed)])]
            case CollectionWatched():
                watched = self._sealed(line, line.collection)
                return [(_WATCHED, [(line.every_ms, watched, line.at, line.collection)])]
            case SourceAdded():
                return [self._added(sequence, line)]
            case CollectionDeleted() | SourceDeleted() | TextDeleted():
                return _gone(line)
            case CaptureQueued() | CaptureStarted() | SourceCaptured() | CaptureFailed():
                return self._capture(line)
            case _:
                return []

    def _added(self, sequence: int, line: SourceAdded) -> Write:
        note = line.kind is SourceKind.NOTE
        row = (
            line.source,
            line.collection,
            sequence,
            line.caller,
            line.kind.value,
            None if note else sha256(f"{line.collection} {line.normalized_url}".encode()).hexdigest(),
            "captured" if note else "pending",
            sha256(line.markdown.encode(errors="replace")).hexdigest() if note else "",
            len(line.markdown),
            line.at,
            line.at if note else None,
            line.at,
            self._sealed(line, line.source),
            line.collection,
        )
        return _ADDED, [row]

    def _capture(self, line: CaptureQueued | CaptureStarted | SourceCaptured | CaptureFailed) -> list[Write]:
        match line:
            case CaptureQueued():
                row = (line.job, line.collection, line.source, line.dedupe_key, MAX_ATTEMPTS, line.at, line.source)
                old = [] if line.version == 1 else [(line.source, line.source, KEPT_JOBS)]
                return [(_QUEUED, [row]), (_OLD_JOBS, old)]
            case CaptureStarted():
                return [(_STARTED, [(line.attempt, line.at, line.job)])]
            case CaptureFailed():
                return self._failed(line)
            case SourceCaptured():
                read = (_READ_AGAIN, [(line.at, line.at, line.source)])
                kept = [read] if line.unchanged else self._version(line)
                return [*kept, (_ENDED, [("succeeded", "", line.at, line.job)])]

    def _failed(self, line: CaptureFailed) -> list[Write]:
        if not line.final:
            return [(_TRIED, [(line.fault.code.value, line.job)])]
        return [
            (_FAILED, [(self._sealed(line, line.source), line.at, line.source, line.job)]),
            (_ENDED, [("failed", line.fault.code.value, line.at, line.job)]),
        ]

    def _version(self, line: SourceCaptured) -> list[Write]:
        chars = len(line.markdown)
        place = f"{line.source} {line.version}"
        facts, content = self._sealed(facts_of(line), place), self._sealed(line, place)
        row = (line.source, line.version, line.at, line.content_hash, chars, facts, content, line.source)
        source = (line.version, line.content_hash, chars, line.at, line.at, line.source, line.version)
        return [
            (_VERSION, [row]),
            (_OLD_VERSIONS, [(line.source, line.version - KEPT_VERSIONS)] if line.version > KEPT_VERSIONS else []),
            (_CAPTURED, [source]),
        ]

    def _sealed(self, line: CollectionLine, name: str) -> bytes:
        return self.seal.seal(encode(line), collection_place(name))


def _gone(line: CollectionDeleted | SourceDeleted | TextDeleted) -> list[Write]:
    left: Write = (_DELETED_LINE, [(line.caller,)])
    match line:
        case CollectionDeleted():
            return [(_DELETED, [(line.collection,)]), left]
        case SourceDeleted():
            return [(_GONE, [(line.source,)]), left]
        case TextDeleted():
            return [left]
