"""A journal of the table of subjects as an actor sees it: typed lines under topics, written once and read in order.

The lines of a sealed journal are encrypted here; one that does not open (another key), or is not understood (another
version), is passed over.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import anyio
import structlog

from bus.errors import TransportError
from bus.seal import Seal, UnsealError
from bus.transport import Record, Records
from protocol.codec import MalformedError, decoder, encode
from protocol.subjects import Journal

log = structlog.stdlib.get_logger()

NOT_UNSEALED = "line_not_unsealed"
NOT_UNDERSTOOD = "line_not_understood"
NOT_READ = "journal_not_read"

BATCH: Final = 256
AGAIN_S: Final = 1.0
"""How long to wait for news before looking all the same, and after a failure."""

EVERYTHING: Final = ">"

A = TypeVar("A")


@dataclass(frozen=True)
class Line(Generic[A]):
    """One line: `sequence` grows with every line of all topics, `at_ms` is when it was written (ms since the epoch)."""

    sequence: int
    topic: str
    at_ms: int
    said: A


@dataclass(frozen=True)
class Log(Generic[A]):
    """The lines of one journal."""

    journal: Journal[A]
    records: Records
    seal: Seal | None = None

    async def append(self, topic: str, said: A, *, last: int | None = None) -> int:
        """Write a line and return its sequence; ValueError when `last` (0: none) is not the last of the topic.

        Raises:
            LineTooLargeError: it does not fit into one message.
        """
        written = encode(said)
        if self.seal is not None:
            written = self.seal.seal(written, self._place(topic))
        return await self.records.append(topic, written, last=last)

    async def last(self, topic: str) -> Line[A] | None:
        """Return the last line of a topic."""
        return self._opened(await self.records.last(topic))

    async def at(self, sequence: int) -> Line[A] | None:
        """Return the line of that sequence, if it is still there."""
        return self._opened(await self.records.at(sequence))

    async def read(self, topics: str = EVERYTHING, after: int = 0) -> AsyncGenerator[Line[A]]:
        """Return the lines of some topics that are there now, in their order."""
        while batch := await self.records.batch(topics, after, BATCH):
            for record in batch:
                if (line := self._opened(record)) is not None:
                    yield line
            after = batch[-1].sequence

    async def end(self) -> int:
        """Return the sequence of the last line of all; 0 where there is none."""
        return await self.records.end()

    @asynccontextmanager
    async def follow(self, after: int = 0) -> AsyncGenerator[AsyncGenerator[Line[A]]]:
        """Yield every line after a sequence, then every new one, while the block lasts; failures are waited out."""
        async with aclosing(self._following(after)) as lines:
            yield lines

    async def _following(self, after: int) -> AsyncGenerator[Line[A]]:
        async with self.records.news() as news:
            while True:
                try:
                    batch = await self.records.batch(EVERYTHING, after, BATCH)
                except TransportError as error:
                    log.warning(NOT_READ, journal=self.journal.name, reason=str(error))
                    batch = []
                for record in batch:
                    after = record.sequence
                    if (line := self._opened(record)) is not None:
                        yield line
                if not batch:
                    with anyio.move_on_after(AGAIN_S):
                        await news()

    def _opened(self, record: Record | None) -> Line[A] | None:
        if record is None:
            return None
        data = record.data
        if self.seal is not None:
            try:
                data = self.seal.unseal(data, self._place(record.topic))
            except UnsealError:
                log.warning(NOT_UNSEALED, journal=self.journal.name, sequence=record.sequence)
                return None
        try:
            said = _read(self.journal.line, data)
        except MalformedError as malformed:
            log.warning(NOT_UNDERSTOOD, journal=self.journal.name, sequence=record.sequence, reason=str(malformed))
            return None
        return Line(record.sequence, record.topic, record.at_ms, said)

    def _place(self, topic: str) -> str:
        return f"{self.journal.name} {topic}"


def _read(kind: Any, data: bytes) -> Any:
    return decoder(kind).decode(data)
