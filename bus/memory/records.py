"""A journal in a list."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bus.news import News
from bus.transport import Callback, Record, check_line
from protocol.subjects import matches


@dataclass
class HeldRecords:
    """The lines of a journal, oldest first; the oldest make room for what is new."""

    ttl_ms: int
    max_bytes: int
    held: list[Record] = field(default_factory=list[Record])
    sequence: int = 0
    listening: set[News] = field(default_factory=set[News])

    def add(self, topic: str, data: bytes) -> int:
        """Write the next line."""
        self.sequence += 1
        self.held.append(Record(self.sequence, topic, data, time.time_ns() // 1_000_000))
        self.tell()
        return self.sequence

    def tell(self) -> None:
        """Have whoever waits for news look."""
        for news in self.listening:
            news.tell()

    def lines(self) -> list[Record]:
        """Return the lines that are still kept."""
        oldest, size = time.time_ns() // 1_000_000 - self.ttl_ms, sum(len(one.data) for one in self.held)
        while self.held and (self.held[0].at_ms < oldest or size > self.max_bytes):
            size -= len(self.held.pop(0).data)
        return self.held


@dataclass(frozen=True)
class MemoryRecords:
    """A journal as one participant reaches it."""

    inner: HeldRecords
    name: str
    max_payload: int
    check_connected: Callable[[], None]
    check_publish: Callable[[str], None]

    async def append(self, topic: str, data: bytes, *, last: int | None = None) -> int:
        """Write a line."""
        self.check_connected()
        check_line(topic, data, self.max_payload)
        self.check_publish(f"{self.name}.{topic}")
        before = await self.last(topic)
        if last is not None and (before.sequence if before else 0) != last:
            msg = f"{last} is no longer the last of {topic}"
            raise ValueError(msg)
        return self.inner.add(topic, bytes(data))

    async def last(self, topic: str) -> Record | None:
        """Return the last line of a topic."""
        self.check_connected()
        return next((one for one in reversed(self.inner.lines()) if one.topic == topic), None)

    async def at(self, sequence: int) -> Record | None:
        """Return the line of that sequence."""
        self.check_connected()
        return next((one for one in self.inner.lines() if one.sequence == sequence), None)

    async def batch(self, topics: str, after: int, limit: int) -> list[Record]:
        """Return the lines after a sequence."""
        self.check_connected()
        found = (one for one in self.inner.lines() if one.sequence > after and matches(one.topic, topics))
        return [one for one, _ in zip(found, range(limit), strict=False)]

    async def end(self) -> int:
        """Return the sequence of the last line of all."""
        self.check_connected()
        return self.inner.sequence

    @asynccontextmanager
    async def news(self) -> AsyncGenerator[Callback]:
        """Return what waits for a new line."""
        news = News()
        self.inner.listening.add(news)
        try:
            yield news.wait
        finally:
            self.inner.listening.discard(news)
