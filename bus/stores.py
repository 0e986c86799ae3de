"""The stores of the table of subjects as an actor sees them: typed values by key, whole files, and lines of a journal.

What a sealed store holds is encrypted here. A value that does not open (another key) counts as none, a file as gone; a
line that does not open, or is not understood (another version), is passed over.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
import msgspec
import structlog
from msgspec import Struct

from bus.errors import TransportError
from bus.recording import form_of, outside
from bus.seal import Seal, UnsealError
from bus.transport import Blobs, KeyEntry, KeyPresence, Keys, RecordStream, StreamRecord
from protocol.codec import MalformedError, decoder, encode
from protocol.subject_kinds import Bucket, Journal, Objects

log = structlog.stdlib.get_logger()

VALUE_NOT_UNSEALED = "value_not_unsealed"

A = TypeVar("A")


class KeyChange(Struct, Generic[A], frozen=True):
    """What has become of a key: `value` is None when it is gone."""

    key: str
    value: A | None
    revision: int


_KEY_CHANGE: Any = KeyChange


class WriteOutcome(Struct, frozen=True):
    """What came of a change: the new revision, or why it was refused."""

    revision: int
    refused: str = ""


class KeyValues(Protocol[A]):
    """What most users need of a Table: values with their revisions."""

    async def get(self, key: str) -> KeyChange[A] | None:
        """Return the value of a key with its revision, if it has one."""
        ...

    async def put(self, key: str, value: A, *, revision: int | None = None) -> int:
        """Set a key and return its new revision; ValueError when `revision` is given and no longer the last."""
        ...


class KeyTable(Struct, Generic[A], frozen=True):
    """The values of one bucket."""

    bucket: Bucket[A]
    keys: Keys
    seal: Seal | None = None

    async def get(self, key: str) -> KeyChange[A] | None:
        """Return the value of a key with its revision, if it has one."""
        if self.seal is not None:
            return await self._get(key)
        kind: Any = self.bucket.value
        form = form_of(_KEY_CHANGE[kind] | None)
        return await outside(f"get {self.bucket.name}", key, partial(self._get, key), form)

    async def _get(self, key: str) -> KeyChange[A] | None:
        entry = await self.keys.get(key)
        if entry is None or entry.value is None:
            return None
        change = self._change(key, entry.value, entry.revision)
        return None if change.value is None else change

    async def put(self, key: str, value: A, *, revision: int | None = None) -> int:
        """Set a key and return its new revision; ValueError when `revision` is given and no longer the last."""
        written = encode(value)
        if self.seal is not None:
            return await self.keys.put(key, self.seal.seal(written, self._place(key)), revision=revision)

        async def put() -> WriteOutcome:
            try:
                return WriteOutcome(await self.keys.put(key, written, revision=revision))
            except ValueError as error:
                return WriteOutcome(0, str(error))

        done = await outside(f"put {self.bucket.name}", key, put, form_of(WriteOutcome))
        if done.refused:
            raise ValueError(done.refused)
        return done.revision

    async def delete(self, key: str, *, revision: int | None = None) -> None:
        """Remove a key; ValueError when `revision` is given and no longer the last."""
        await self.keys.delete(key, revision=revision)

    async def revision(self, key: str) -> int:
        """Return the revision of the last change of a key, also of one that was deleted; 0 where there was none."""
        return await self.keys.revision(key)

    async def names(self) -> list[str]:
        """Return every key that has a value, in no order."""
        return await self.keys.names()

    def presence(self) -> AbstractAsyncContextManager[KeyPresence]:
        """Hear which keys are written, as long as the block lasts: what surely is not there need not be asked for."""
        return self.keys.presence()

    @asynccontextmanager
    async def watch(self) -> AsyncGenerator[AsyncGenerator[KeyChange[A]]]:
        """Yield every value there is, then every change, as long as the block lasts."""
        async with self.keys.watch() as entries, aclosing(self._changes(entries)) as changes:
            yield changes

    async def _changes(self, entries: AsyncIterator[KeyEntry]) -> AsyncGenerator[KeyChange[A]]:
        async for entry in entries:
            yield self._change(entry.key, entry.value, entry.revision)

    def _change(self, key: str, value: bytes | None, revision: int) -> KeyChange[A]:
        if value is not None and self.seal is not None:
            try:
                value = self.seal.unseal(value, self._place(key))
            except UnsealError:
                log.warning(VALUE_NOT_UNSEALED, bucket=self.bucket.name, revision=revision)
                value = None
        return KeyChange(key, None if value is None else _decode(self.bucket.value, value), revision)

    def _place(self, key: str) -> str:
        return f"{self.bucket.name} {key}"


MAX_NAME_CHARS = 512
"""A name travels in a subject, in base64, and nats-server reads lines of at most 4,096 bytes."""


class FileStore(Struct, frozen=True):
    """The files of one object store: each is there until it is deleted, too old, or has to make room for newer ones.

    A sealed file has a key of its own, which its name leads to, and lies under a name that does not show it: who has
    the key of the store, and may read all of it, opens no file whose name nobody has told him.
    """

    entry: Objects
    blobs: Blobs
    seal: Seal | None = None

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`, in place of what has that name.

        Raises:
            ValueError: the name is empty or too long, or the data is more than half of what the store takes.
        """
        _check(name)
        if len(data) > self.entry.max_bytes // 2:
            msg = f"{len(data)} bytes are more than half of the {self.entry.max_bytes} of {self.entry.name}"
            raise ValueError(msg)
        seal = self._seal_of(name)
        await self.blobs.put(self.kept_as(name), data if seal is None else seal.seal(data, self._place(name)))

    async def get(self, name: str) -> bytes:
        """Return back what was put.

        Raises:
            KeyError: it was never there, is gone, or was sealed with another key.
            ValueError: that is no name.
        """
        _check(name)
        data, seal = await self.blobs.get(self.kept_as(name)), self._seal_of(name)
        if seal is None:
            return data
        try:
            return seal.unseal(data, self._place(name))
        except UnsealError:
            raise KeyError(name) from None

    async def delete(self, name: str) -> None:
        """Forget it; nothing happens when it is gone."""
        _check(name)
        await self.blobs.delete(self.kept_as(name))

    def kept_as(self, name: str) -> str:
        """Return the name under which a file lies in the store."""
        return name if self.seal is None else self.seal.digest(name.encode(), f"{self.entry.name} name").hex()

    def _seal_of(self, name: str) -> Seal | None:
        if self.seal is None:
            return None
        return Seal({self.entry.name: self.seal.digest(name.encode(), f"{self.entry.name} key")})

    def _place(self, name: str) -> str:
        return f"{self.entry.name} {name}"


def _check(name: str) -> None:
    if not 0 < len(name.encode()) <= MAX_NAME_CHARS:
        msg = f"a name has 1 to {MAX_NAME_CHARS} bytes"
        raise ValueError(msg)


LINE_NOT_UNSEALED = "line_not_unsealed"
LINE_NOT_UNDERSTOOD = "line_not_understood"
JOURNAL_NOT_READ = "journal_not_read"

BATCH: Final = 256
CUT_BYTES: Final = 4 * 1024 * 1024
"""What a batch is sure to bring where there is as much: a request for one is cut at twice of it, or so."""

AGAIN_S: Final = 1.0
"""How long to wait for a signal before looking all the same, and after a failure."""

EVERYTHING: Final = ">"


class JournalLine(Struct, Generic[A], frozen=True):
    """One line: `sequence` grows with every line of all topics, `at_ms` is when it was written (ms since the epoch)."""

    sequence: int
    topic: str
    at_ms: int
    value: A


class JournalLog(Struct, Generic[A], frozen=True):
    """The lines of one journal."""

    journal: Journal[A]
    records: RecordStream
    seal: Seal | None = None
    places: dict[tuple[str, str], int] = msgspec.field(default_factory=dict[tuple[str, str], int])
    """How far each reader is in each journal, by the names of both: figures of the replica."""

    async def append(self, topic: str, value: A, *, last: int | None = None, forget: bool = False) -> int:
        """Write a line and return its sequence; ValueError when `last` (0: none) is not the last of the topic.

        With `forget` all lines of the topic before it are gone for good.

        Raises:
            LineTooLargeError: it does not fit into one message.
            JournalFullError: the journal keeps its lines for good, and has no room for it.
        """
        written = encode(value)
        if self.seal is not None:
            written = self.seal.seal(written, self._place(topic))
        return await self.records.append(topic, written, last=last, forget=forget)

    async def last(self, topic: str) -> JournalLine[A] | None:
        """Return the last line of a topic."""
        return self._opened(await self.records.last(topic))

    async def at(self, sequence: int) -> JournalLine[A] | None:
        """Return the line of that sequence, if it is still there."""
        return self._opened(await self.records.at(sequence))

    async def read(self, topics: str = EVERYTHING, after: int = 0) -> AsyncGenerator[JournalLine[A]]:
        """Yield the lines of some topics that are there now, in their order."""
        while batch := await self.records.batch(topics, after, BATCH):
            for record in batch:
                if (line := self._opened(record)) is not None:
                    yield line
            # A short batch is the last one, unless it was cut short for its size.
            if len(batch) < BATCH and sum(len(record.data) for record in batch) < CUT_BYTES:
                return
            after = batch[-1].sequence

    async def topics(self, topics: str = EVERYTHING) -> list[str]:
        """Return the topics that match and have a line, in no order, without reading any: up to 100,000."""
        return await self.records.topics(topics)

    def note_place(self, reader: str, sequence: int) -> None:
        """Note that a reader of this replica has taken in all lines up to a sequence."""
        self.places[self.journal.name, reader] = sequence

    async def end(self) -> int:
        """Return the sequence of the last line of all; 0 where there is none."""
        return await self.records.end()

    @asynccontextmanager
    async def follow(self, after: int = 0, reader: str = "follower") -> AsyncGenerator[AsyncGenerator[JournalLine[A]]]:
        """Yield every line after a sequence, then every new one, while the block lasts; failures are waited out.

        How far it is, is noted as the place of this `reader`.
        """
        async with aclosing(self._lines(reader, after)) as lines:
            yield lines

    async def _lines(self, reader: str, after: int) -> AsyncGenerator[JournalLine[A]]:
        async with self.records.signal() as wait:
            while True:
                self.note_place(reader, after)
                try:
                    batch = await self.records.batch(EVERYTHING, after, BATCH)
                except TransportError as error:
                    log.warning(JOURNAL_NOT_READ, journal=self.journal.name, reason=str(error))
                    batch = []
                for record in batch:
                    after = record.sequence
                    if (line := self._opened(record)) is not None:
                        yield line
                if not batch:
                    with anyio.move_on_after(AGAIN_S):
                        await wait()

    def _opened(self, record: StreamRecord | None) -> JournalLine[A] | None:
        if record is None:
            return None
        data = record.data
        if self.seal is not None:
            try:
                data = self.seal.unseal(data, self._place(record.topic))
            except UnsealError:
                log.warning(LINE_NOT_UNSEALED, journal=self.journal.name, sequence=record.sequence)
                return None
        try:
            value = _decode(self.journal.line, data)
        except MalformedError as malformed:
            log.warning(LINE_NOT_UNDERSTOOD, journal=self.journal.name, sequence=record.sequence, reason=str(malformed))
            return None
        return JournalLine(record.sequence, record.topic, record.at_ms, value)

    def _place(self, topic: str) -> str:
        return f"{self.journal.name} {topic}"


def _decode(kind: Any, value: bytes) -> Any:
    return decoder(kind).decode(value)
