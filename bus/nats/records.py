"""A journal in a JetStream stream: lines are read by direct gets, so that no reader leaves anything on the server."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from secrets import token_urlsafe
from typing import Any

import anyio
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RePublish, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import APIError, NotFoundError

from bus.errors import JournalFullError
from bus.nats.client import FULL, STREAM_FULL, HearingClient, Waits, translated_errors, translated_writes, unsubscribe
from bus.nats.streams import WRONG_LAST, get_batch, get_one, header, make
from bus.permissions import journal_stream
from bus.transport import Callback, LineSignal, StreamRecord, check_line
from protocol.subject_kinds import Journal

DUPLICATE_WINDOW_S = 120
"""How long the id of a line is remembered: a line that is written again as the connection broke is there once."""

SPARE_BYTES = 16 * 1024 * 1024
_SPARE_SHARE = 16

_LOOK_S = 2.0
_LOOK_BYTES = 1024 * 1024
"""How long, and for how many bytes of its own, a writer goes by what it has seen of the room that is left."""

_OVERHEAD_BYTES = 256
"""What a line that forgets takes beside its data, at most: its topic and its headers."""

_ID = "Nats-Msg-Id"
_ALL = ">"
_MANY = 64


def spare_bytes(max_bytes: int) -> int:
    """Return what a journal that is kept for good leaves to lines by which something is forgotten."""
    return min(SPARE_BYTES, max_bytes // _SPARE_SHARE)


class JournalRecords:
    """The lines of one journal."""

    def __init__(self, client: HearingClient, journal: Journal[Any]) -> None:
        """Use `journal`; `open` makes it where there is none."""
        self._client = client
        self._journal = journal
        self._stream = journal_stream(journal)
        self._listening: set[LineSignal] = set()
        self._room = 0
        self._looked_at = -math.inf
        self.waits = Waits()

    @property
    def _jetstream(self) -> JetStreamContext:
        return self._client.jetstream()

    async def open(self) -> None:
        """Find the stream, or make it."""
        with translated_errors():
            try:
                await self._jetstream.stream_info(self._stream)
            except NotFoundError:
                await self._make()

    async def _make(self) -> None:
        for_good = self._journal.ttl_ms is None
        age_s = None if self._journal.ttl_ms is None else self._journal.ttl_ms / 1000
        config = StreamConfig(
            name=self._stream,
            subjects=[self._subject(_ALL)],
            retention=RetentionPolicy.LIMITS,
            discard=DiscardPolicy.NEW if for_good else DiscardPolicy.OLD,
            storage=StorageType.FILE,
            max_age=age_s,
            max_bytes=self._journal.max_bytes,
            duplicate_window=min(DUPLICATE_WINDOW_S, age_s or DUPLICATE_WINDOW_S),
            allow_direct=True,
            # What is kept for good can be forgotten all the same, topic by topic.
            allow_rollup_hdrs=for_good,
            # Whoever hears of a line by this finds it: what is published is heard before it is stored.
            republish=RePublish(src=_ALL, dest=f"{self._stream}.{_ALL}", headers_only=True),
        )
        await make(self._jetstream, config)

    async def reconnected(self) -> None:
        """End every wait, and that for a new line too."""
        await self.waits.reconnected()
        for signal in self._listening:
            signal.set()

    async def append(self, topic: str, data: bytes, *, last: int | None = None, forget: bool = False) -> int:
        """Write a line."""
        check_line(topic, data, self._client.max_payload)
        headers = {_ID: token_urlsafe(16)}
        if forget:
            headers["Nats-Rollup"] = "sub"
        if last is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(last)
        subject = self._subject(topic)
        with translated_writes(self._client):
            if self._journal.ttl_ms is None and not forget:
                await self._take_room(len(data))
            try:
                stored = await self.waits.again(lambda: self._jetstream.publish(subject, data, headers=dict(headers)))
            except APIError as error:
                if error.err_code in FULL and forget:
                    return await self._in_place(subject, data, headers)
                if error.err_code == STREAM_FULL:
                    raise JournalFullError(self._journal.name) from None
                if error.err_code != WRONG_LAST or last is None:
                    raise
                return await self._own(topic, last, headers[_ID])
        return stored.seq

    async def _take_room(self, size: int) -> None:
        """Refuse a line that would leave no spare room: where there is none, nothing could be forgotten either."""
        if self._room < size or anyio.current_time() > self._looked_at + _LOOK_S:
            info = await self.waits.again(lambda: self._jetstream.stream_info(self._stream))
            most = info.config.max_bytes or 0
            free = most - spare_bytes(most) - info.state.bytes if most > 0 else _LOOK_BYTES
            self._room, self._looked_at = min(free, max(_LOOK_BYTES, size)), anyio.current_time()
        if self._room < size:
            raise JournalFullError(self._journal.name)
        self._room -= size

    async def _in_place(self, subject: str, data: bytes, headers: dict[str, str]) -> int:
        """Write a line to which what is forgotten by it makes room; where that is too little, nothing is forgotten."""
        former = await self.waits.again(lambda: get_batch(self._client, self._stream, subject, 1, _MANY))
        if sum(len(line.data) for line in former) < len(data) + _OVERHEAD_BYTES:
            raise JournalFullError(self._journal.name)
        await self.waits.again(lambda: self._jetstream.purge_stream(self._stream, subject=subject))
        headers["Nats-Expected-Last-Subject-Sequence"] = "0"
        try:
            stored = await self.waits.again(lambda: self._jetstream.publish(subject, data, headers=dict(headers)))
        except APIError as error:
            if error.err_code == STREAM_FULL:
                raise JournalFullError(self._journal.name) from None
            raise
        return stored.seq

    async def _own(self, topic: str, last: int, identity: str) -> int:
        """Return the sequence of a line that was stored before the connection broke.

        nats-server (2.15) looks at the expected sequence first and at the id of the message after it, so that it
        refuses the repetition of what it has taken.
        """
        after = await self.waits.again(lambda: get_batch(self._client, self._stream, self._subject(topic), last + 1, 1))
        if after and header(after[0], _ID) == identity:
            return _record(after[0], self._journal.name).sequence
        msg = f"{last} is no longer the last of {topic}"
        raise ValueError(msg)

    async def last(self, topic: str) -> StreamRecord | None:
        """Return the last line of a topic."""
        return await self._one(last_by_subj=self._subject(topic))

    async def at(self, sequence: int) -> StreamRecord | None:
        """Return the line of that sequence."""
        return await self._one(seq=sequence) if sequence > 0 else None

    async def _one(self, **wanted: int | str) -> StreamRecord | None:
        with translated_errors():
            message = await self.waits.again(lambda: get_one(self._client, self._stream, **wanted))
        return _record(message, self._journal.name) if message else None

    async def batch(self, topics: str, after: int, limit: int) -> list[StreamRecord]:
        """Return the lines after a sequence."""
        # Of all topics nats-server need not count what is still to come, which takes it longer than all the rest.
        subject = topics if topics == _ALL else self._subject(topics)
        with translated_errors():
            batch = await self.waits.again(lambda: get_batch(self._client, self._stream, subject, after + 1, limit))
        return [_record(one, self._journal.name) for one in batch]

    async def end(self) -> int:
        """Return the sequence of the last line of all."""
        with translated_errors():
            info = await self.waits.again(lambda: self._jetstream.stream_info(self._stream))
        return info.state.last_seq

    async def topics(self, topics: str) -> list[str]:
        """Return the topics that match."""
        subject = self._subject(topics)
        with translated_errors():
            info = await self.waits.again(lambda: self._jetstream.stream_info(self._stream, subjects_filter=subject))
        return [name.removeprefix(f"{self._journal.name}.") for name in info.state.subjects or ()]

    @asynccontextmanager
    async def signal(self) -> AsyncGenerator[Callback]:
        """Yield what waits for a new line."""
        signal = LineSignal()

        async def arrived(_: Msg) -> None:
            signal.set()

        with translated_errors():
            subscription = await self._client.subscribe_promptly(f"{self._stream}.{_ALL}", arrived)
        self._listening.add(signal)
        try:
            yield signal.wait
        finally:
            self._listening.discard(signal)
            with anyio.CancelScope(shield=True):
                await unsubscribe(subscription)

    def _subject(self, topics: str) -> str:
        return f"{self._journal.name}.{topics}"


def _record(message: Msg, journal: str) -> StreamRecord:
    written = datetime.fromisoformat(header(message, "Nats-Time-Stamp"))
    return StreamRecord(
        sequence=int(header(message, "Nats-Sequence")),
        topic=header(message, "Nats-Subject").removeprefix(f"{journal}."),
        data=message.data,
        at_ms=int(written.timestamp() * 1000),
    )
