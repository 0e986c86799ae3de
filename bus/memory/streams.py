"""Journals in lists, and queues of durable work in dicts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from msgspec import Struct

from bus.clock import now_ms
from bus.errors import JournalFullError
from bus.transport import (
    BusMessage,
    Callback,
    ConsumerFigures,
    LineSignal,
    StreamFigures,
    StreamRecord,
    Taken,
    check_line,
)
from protocol.subject_kinds import Work, matches


@dataclass
class HeldRecords:
    """The lines of a journal, oldest first; the oldest make room for what is new."""

    ttl_ms: int | None
    max_bytes: int
    held: list[StreamRecord] = field(default_factory=list[StreamRecord])
    sequence: int = 0
    listening: set[LineSignal] = field(default_factory=set[LineSignal])

    def add(self, topic: str, data: bytes) -> int:
        """Write the next line."""
        self.sequence += 1
        self.held.append(StreamRecord(self.sequence, topic, data, now_ms()))
        self.tell()
        return self.sequence

    def full(self, size: int, forgotten: str = "") -> bool:
        """Return whether lines are kept for good, and there is no room for one more that makes a topic forgotten."""
        if self.ttl_ms is not None:
            return False
        return size + sum(len(one.data) for one in self.held if one.topic != forgotten) > self.max_bytes

    def forget(self, topic: str, before: int) -> None:
        """Take out the lines of a topic before a sequence."""
        self.held = [one for one in self.held if one.topic != topic or one.sequence >= before]

    def tell(self) -> None:
        """Wake whoever waits for a new line."""
        for signal in self.listening:
            signal.set()

    def figures(self, name: str) -> StreamFigures:
        """Return how the journal stands, under the name of its stream."""
        lines = self.lines()
        size = sum(len(one.data) for one in lines)
        last_at = lines[-1].at_ms if lines else 0
        return StreamFigures(name, len(lines), size, self.sequence, last_at, self.max_bytes)

    def lines(self) -> list[StreamRecord]:
        """Return the lines that are still kept."""
        if self.ttl_ms is None:
            return self.held
        oldest, size = now_ms() - self.ttl_ms, sum(len(one.data) for one in self.held)
        while self.held and (self.held[0].at_ms < oldest or size > self.max_bytes):
            size -= len(self.held.pop(0).data)
        return self.held


class MemoryRecords(Struct, frozen=True):
    """A journal as one participant reaches it."""

    inner: HeldRecords
    name: str
    max_payload: int
    check_connected: Callable[[], None]
    check_publish: Callable[[str], None]

    async def append(self, topic: str, data: bytes, *, last: int | None = None, forget: bool = False) -> int:
        """Write a line."""
        self.check_connected()
        check_line(topic, data, self.max_payload)
        self.check_publish(f"{self.name}.{topic}")
        before = await self.last(topic)
        if last is not None and (before.sequence if before else 0) != last:
            msg = f"{last} is no longer the last of {topic}"
            raise ValueError(msg)
        if self.inner.full(len(data), topic if forget else ""):
            raise JournalFullError(self.name)
        sequence = self.inner.add(topic, bytes(data))
        if forget:
            self.inner.forget(topic, sequence)
        return sequence

    async def last(self, topic: str) -> StreamRecord | None:
        """Return the last line of a topic."""
        self.check_connected()
        return next((one for one in reversed(self.inner.lines()) if one.topic == topic), None)

    async def at(self, sequence: int) -> StreamRecord | None:
        """Return the line of that sequence."""
        self.check_connected()
        return next((one for one in self.inner.lines() if one.sequence == sequence), None)

    async def batch(self, topics: str, after: int, limit: int) -> list[StreamRecord]:
        """Return the lines after a sequence."""
        self.check_connected()
        lines = (one for one in self.inner.lines() if one.sequence > after and matches(one.topic, topics))
        return [one for one, _ in zip(lines, range(limit), strict=False)]

    async def end(self) -> int:
        """Return the sequence of the last line of all."""
        self.check_connected()
        return self.inner.sequence

    async def topics(self, topics: str) -> list[str]:
        """Return the topics that match."""
        self.check_connected()
        return list(dict.fromkeys(one.topic for one in self.inner.lines() if matches(one.topic, topics)))

    @asynccontextmanager
    async def signal(self) -> AsyncGenerator[Callback]:
        """Yield what waits for a new line."""
        signal = LineSignal()
        self.inner.listening.add(signal)
        try:
            yield signal.wait
        finally:
            self.inner.listening.discard(signal)


POLL_S = 0.005


@dataclass
class Waiting:
    """One piece of work, and from when on it may be handed out."""

    message: BusMessage
    line: str
    standing: bool = False
    visible_at: float = 0.0
    deliveries: int = 0


@dataclass
class HeldWork:
    """The work of one stream in the order in which it came, and the ids that were ever put."""

    work: Work[Any]
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    identities: set[str] = field(default_factory=set[str])

    def add(self, message: BusMessage, line: str) -> None:
        """Add work, once for each id."""
        identity = message.headers.get("Nats-Msg-Id", f"#{len(self.identities)}")
        if identity not in self.identities:
            self.identities.add(identity)
            self.waiting[identity] = Waiting(message, line, standing=self.work.share is None)
            self._advance(line)

    def finish(self, identity: str) -> None:
        """Take out what is done; the next of its line takes its place."""
        if (done := self.waiting.pop(identity, None)) is not None:
            self._advance(done.line)

    def _advance(self, line: str) -> None:
        """Have as much of a line stand in the queue, behind all that does, as is its share."""
        if self.work.share is None:
            return
        own = [(identity, one) for identity, one in self.waiting.items() if one.line == line]
        room = self.work.share - sum(one.standing for _, one in own)
        for identity, one in [item for item in own if not item[1].standing][: max(0, room)]:
            one.standing = True
            self.waiting[identity] = self.waiting.pop(identity)

    def visible(self, limit: int) -> list[tuple[str, Waiting]]:
        """Hand out up to `limit` pieces: first what was handed out before, then as much that is new as has a place."""
        now = anyio.current_time()
        placed = [one for one in self.waiting.items() if one[1].deliveries and not self._dead(one[1], now)]
        new = [one for one in self.waiting.items() if one[1].standing and not one[1].deliveries]
        if self.work.at_once is not None:
            new = new[: max(0, self.work.at_once - len(placed))]
        taken = [*(one for one in placed if one[1].visible_at <= now), *new][:limit]
        for _, item in taken:
            item.visible_at = now + self.ack_wait_s
            item.deliveries += 1
        return taken

    @property
    def ack_wait_s(self) -> float:
        """For how long a piece stays with who shows no life."""
        return self.work.ack_wait_ms / 1000

    def figures(self, name: str) -> StreamFigures:
        """Return how the queue stands, under the name of its stream and its consumer."""
        items, now = list(self.waiting.values()), anyio.current_time()
        in_hand = sum(1 for one in items if one.deliveries and one.visible_at > now)
        again = sum(1 for one in items if one.deliveries > 1)
        consumer = ConsumerFigures(name, len(items) - in_hand, in_hand, again, 0)
        size = sum(len(one.message.payload) for one in items)
        return StreamFigures(name, len(items), size, len(self.identities), 0, consumers=(consumer,))

    def _dead(self, item: Waiting, now: float) -> bool:
        most = self.work.max_deliver
        return most is not None and item.deliveries >= most and item.visible_at <= now


class MemoryTaken(Struct, frozen=True):
    """One piece of work in hand."""

    item: Waiting
    key: str
    inner: HeldWork
    check_connected: Callable[[], None]

    @property
    def message(self) -> BusMessage:
        """The work."""
        return self.item.message

    @property
    def deliveries(self) -> int:
        """How often it was handed out."""
        return self.item.deliveries

    async def alive(self) -> None:
        """Say that it is still being worked on."""
        self.check_connected()
        self.item.visible_at = anyio.current_time() + self.inner.ack_wait_s

    async def finish(self) -> None:
        """Take it out."""
        self.check_connected()
        self.inner.finish(self.key)

    async def again(self, delay_s: float) -> None:
        """Put it back."""
        self.check_connected()
        self.item.visible_at = anyio.current_time() + delay_s


class MemoryQueue(Struct, frozen=True):
    """A queue of work as one participant reaches it."""

    inner: HeldWork
    name: str
    check_connected: Callable[[], None]
    check_publish: Callable[[str], None]

    async def put(self, message: BusMessage, line: str) -> None:
        """Add work, once for each id."""
        self.check_connected()
        self.check_publish(message.subject)
        self.inner.add(message, line)

    async def take(self, limit: int, timeout_s: float) -> list[Taken]:
        """Take up to `limit` pieces of work."""
        self.check_publish(f"$JS.API.CONSUMER.MSG.NEXT.{self.name}.{self.name}")
        with anyio.move_on_after(timeout_s):
            while True:
                self.check_connected()
                if items := self.inner.visible(limit):
                    return [MemoryTaken(item, key, self.inner, self.check_connected) for key, item in items]
                await anyio.sleep(POLL_S)
        return []
