"""The journal of collections as the runner uses it: read as histories, changed only by who has read the last line."""

from __future__ import annotations

import re
from contextlib import aclosing
from functools import partial
from typing import Final

from msgspec import Struct

from actors.runner.collections.history import CollectionHistory, SourceHistory
from actors.runner.collections.key_room import KeyRoom
from bus.outages import wait_out
from bus.stores import JournalLine, JournalLog
from protocol.codec import encode
from protocol.collections import (
    ARTIFACT_PREFIX,
    COLLECTION_PREFIX,
    KEPT_VERSIONS,
    SOURCE_PREFIX,
    CaptureQueued,
    CollectionCreated,
    CollectionLine,
    DoCapture,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
    TextAsked,
    added_topic,
    collection_topic,
    own_id,
    source_topic,
    source_topics,
    sources_topics,
    unknown_text,
    version_topic,
)
from protocol.faults import Code, FaultError, fault

JOURNAL_S: Final = 30.0
"""How long the journal may be away."""

_KEEPING: Final = (CollectionCreated, SourceAdded, SourceCaptured, TextAsked)
"""The lines by which more is kept; that something has failed or is gone is written without room, too."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,90}")


def known_id(given: str, prefix: str) -> str:
    """Return the id of a collection, a source or a text that a client has given.

    Raises:
        FaultError: it can be none.
    """
    own = own_id(given)
    if own.startswith(prefix) and _ID.fullmatch(own):
        return own
    raise unknown(prefix)


def unknown(prefix: str) -> FaultError:
    """Return the error that there is none of that id, or it is somebody else's."""
    if prefix == ARTIFACT_PREFIX:
        return unknown_text("artifactId")
    if prefix == COLLECTION_PREFIX:
        return FaultError(fault(Code.VALIDATION_UNKNOWN_COLLECTION, field="collectionId"))
    return FaultError(fault(Code.VALIDATION_UNKNOWN_SOURCE, field="sourceId"))


class CollectionLog(Struct, frozen=True):
    """The journal of collections, in which each key has its `room`.

    Every call waits while the bus is away, for `JOURNAL_S` at most.
    """

    journal: JournalLog[CollectionLine]
    room: KeyRoom

    async def collection(self, given: str, caller: str) -> tuple[CollectionCreated, CollectionHistory]:
        """Return a collection of a caller, and how it stands.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION, also for that of somebody else; the journal is away.
        """
        history = await self.history(known_id(given, COLLECTION_PREFIX))
        if history.created is None or history.created.caller != caller:
            raise unknown(COLLECTION_PREFIX)
        return history.created, history

    async def history(self, collection: str) -> CollectionHistory:
        """Return how a collection stands.

        Raises:
            TransportError: the journal is away.
        """
        history = CollectionHistory()
        for line in await wait_out(lambda: self._lines(collection_topic(collection), 0), JOURNAL_S):
            history = history.after(line)
        return history

    async def source(self, source: str, collection: str = "*", after: SourceHistory | None = None) -> SourceHistory:
        """Return how a source stands, by its own id; `after` is how it stood before.

        Raises:
            TransportError: the journal is away.
        """
        known = after or SourceHistory()
        since = max(known.lasts.values(), default=0)
        lines = await wait_out(lambda: self._lines(source_topics(source, collection), since), JOURNAL_S)
        return known.after_all(lines)

    async def first_capture(self, work: DoCapture) -> SourceHistory | None:
        """Return how a source stands of which nothing has happened but that its first page is to be read.

        Raises:
            TransportError: the journal is away.
        """
        topics = added_topic(work.collection, work.source), source_topic(work.collection, work.source)
        lines = [await wait_out(partial(self.journal.last, topic), JOURNAL_S) for topic in topics]
        match lines:
            case [JournalLine(value=SourceAdded()) as added, JournalLine(value=CaptureQueued() as line) as queued]:
                first = line.job == work.job and line.version == 1
                return SourceHistory().after_all((added, queued)) if first else None
            case _:
                return None

    async def source_of(self, given: str, caller: str) -> SourceHistory:
        """Return a source of a caller.

        Raises:
            FaultError: VALIDATION_UNKNOWN_SOURCE, also for that of somebody else; the journal is away.
        """
        history = await self.source(known_id(given, SOURCE_PREFIX))
        if history.added is None or history.added.caller != caller:
            raise unknown(SOURCE_PREFIX)
        return history

    async def append(self, topic: str, line: CollectionLine, *, last: int, forget: bool = False) -> int | None:
        """Write a line, and return its sequence; None when `last` is no longer the last of its topic.

        Raises:
            FaultError: CONFIG_STORAGE_FULL; the journal is away.
        """
        if isinstance(line, _KEEPING):
            await self.room.take(line.caller, len(encode(line)))

        async def write() -> int | None:
            try:
                return await self.journal.append(topic, line, last=last, forget=forget)
            except ValueError:
                return None

        return await wait_out(write, JOURNAL_S)

    async def forget_source(self, line: SourceDeleted, history: SourceHistory | None = None) -> None:
        """Write that a source is gone in the place of everything that was said of it, and of what still might be.

        `history` is how it stood, where that is known: then less is written.

        Raises:
            FaultError: the journal is away.
        """
        names = [source_topic(line.collection, line.source)]
        if history is not None:
            names += [name for name in history.lasts if name not in names]
        # A page that is being read at this moment finds that its version has been written already.
        if history is None or history.queued is not None:
            versions = [version_topic(line.collection, line.source, number) for number in range(KEPT_VERSIONS)]
            names += [name for name in versions if name not in names]
        first = added_topic(line.collection, line.source)
        # Once: this is the line that tells everybody else that the source is gone.
        last = await wait_out(partial(self.journal.last, first), JOURNAL_S)
        if last is None or not isinstance(last.value, SourceDeleted):
            await wait_out(partial(self.journal.append, first, line, forget=True), JOURNAL_S)
        for name in names:
            if name != first:
                await wait_out(partial(self.journal.append, name, line, forget=True), JOURNAL_S)

    async def sources(self, collection: str) -> list[str]:
        """Return the ids of all sources of which the journal has a line, also of those that are gone.

        Raises:
            TransportError: the journal is away.
        """
        topics = await wait_out(lambda: self.journal.topics(sources_topics(collection)), JOURNAL_S)
        return sorted({topic.split(".")[2] for topic in topics})

    async def lines(self, topics: str) -> list[JournalLine[CollectionLine]]:
        """Return the lines of some topics.

        Raises:
            TransportError: the journal is away.
        """
        return await wait_out(lambda: self._lines(topics, 0), JOURNAL_S)

    async def _lines(self, topics: str, after: int) -> list[JournalLine[CollectionLine]]:
        async with aclosing(self.journal.read(topics, after)) as lines:
            return [line async for line in lines]
