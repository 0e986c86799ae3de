"""How collections and sources stand after their lines: pure, so that every reader comes to the same."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import Struct, structs

from bus.stores import JournalLine
from protocol.collections import (
    COLLECTION_PREFIX,
    JOB_PREFIX,
    SOURCE_PREFIX,
    CaptureFailed,
    CaptureQueued,
    CaptureStarted,
    CollectionCreated,
    CollectionDeleted,
    CollectionLine,
    CollectionRefreshed,
    CollectionWatched,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
    SourceKind,
)

_ID_CHARS: Final = 22
_STATE: Final = ".state"
CaptureEnd = SourceCaptured | CaptureFailed


def collection_id(caller: str, call: str) -> str:
    """Return the id of the collection that a call begins."""
    return COLLECTION_PREFIX + _digest("collection", caller, call)


def source_id(collection: str, kind: SourceKind, name: str) -> str:
    """Return the id of a source: of a page by its normalized address, of a note by its call and place there."""
    return SOURCE_PREFIX + _digest("source", collection, kind, name)


def job_id(dedupe_key: str, last: int) -> str:
    """Return the id of a capture: another one each time that a page is read anew."""
    return JOB_PREFIX + _digest("job", dedupe_key, str(last))


def _digest(*words: str) -> str:
    data = sha256("\n".join(words).encode(errors="replace")).digest()
    return base64.urlsafe_b64encode(data).decode()[:_ID_CHARS]


class CollectionHistory(Struct, frozen=True):
    """A collection after its lines; `last` is the sequence of the last one.

    `round` is the last one in which its pages were read anew (0: none yet), `open` whether that is still going on.
    """

    created: CollectionCreated | None = None
    watched: CollectionWatched | None = None
    deleted: CollectionDeleted | None = None
    round: int = 0
    open: bool = False
    last: int = 0

    def after(self, line: JournalLine[CollectionLine]) -> CollectionHistory:
        """Return the collection after one more line."""
        match line.value:
            case CollectionCreated() as created:
                return CollectionHistory(created, last=line.sequence)
            case CollectionWatched() as watched:
                return structs.replace(self, watched=watched, last=line.sequence)
            case CollectionRefreshed() as refreshed:
                return structs.replace(self, round=refreshed.round, open=not refreshed.ended, last=line.sequence)
            case CollectionDeleted() as deleted:
                return CollectionHistory(deleted=deleted, last=line.sequence)
            case _:
                return structs.replace(self, last=line.sequence)


class SourceHistory(Struct, frozen=True):
    """A source after its lines.

    `captured` is the newest version, `queued` the capture under way, with its `attempts` so far, `ends` is how each
    capture came out, `calls` which one a call has asked for. `lasts` are the sequences of the last lines of its topics;
    `lines` counts those of its captures.
    """

    added: SourceAdded | None = None
    deleted: SourceDeleted | None = None
    captured: SourceCaptured | None = None
    queued: CaptureQueued | None = None
    attempts: int = 0
    ends: Mapping[str, CaptureEnd] = msgspec.field(default_factory=dict[str, CaptureEnd])
    calls: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    lasts: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    lines: int = 0

    @property
    def version(self) -> int:
        """The newest version; 0 where there is none yet."""
        return self.captured.version if self.captured is not None else 0

    def after(self, line: JournalLine[CollectionLine]) -> SourceHistory:
        """Return the source after one more line."""
        lines = self.lines + line.topic.endswith(_STATE)
        lasts = {**self.lasts, line.topic: line.sequence}
        return structs.replace(self, lasts=lasts, lines=lines)._with(line.value)  # noqa: SLF001 - its own

    def _with(self, line: CollectionLine) -> SourceHistory:
        history = self
        match line:
            case SourceAdded():
                history = structs.replace(self, added=line, deleted=None)
            case SourceDeleted():
                history = SourceHistory(deleted=line, lasts=self.lasts)
            case CaptureQueued():
                history = structs.replace(self, queued=line, attempts=0, calls={**self.calls, line.call_id: line.job})
            case CaptureStarted() if self.queued is not None and self.queued.job == line.job:
                history = structs.replace(self, attempts=line.attempt)
            case SourceCaptured():
                history = self._captured(line)
            case CaptureFailed() if line.final and line.job not in self.ends:
                history = self._ended(line)
            case _:
                pass
        return history

    def last(self, topic: str) -> int:
        """Return the sequence of the last line of one of its topics; 0 where there is none."""
        return self.lasts.get(topic, 0)

    def after_all(self, lines: Iterable[JournalLine[CollectionLine]]) -> SourceHistory:
        """Return the source after more lines, in their order."""
        history = self
        for line in lines:
            history = history.after(line)
        return history

    def _captured(self, line: SourceCaptured) -> SourceHistory:
        newest = line if not line.unchanged and line.version >= self.version else self.captured
        return structs.replace(self._ended(line), captured=newest)

    def _ended(self, line: CaptureEnd) -> SourceHistory:
        queued = None if self.queued is not None and self.queued.job == line.job else self.queued
        return structs.replace(self, queued=queued, ends={**self.ends, line.job: line})
