"""A journal in a JetStream stream: lines are read by direct gets, so that no reader leaves anything on the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from secrets import token_urlsafe
from typing import Any

import anyio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RePublish, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import APIError, NotFoundError

from bus.errors import TransportError
from bus.nats.anew import Waits
from bus.nats.direct import get_batch, get_one, header
from bus.nats.failures import told
from bus.nats.streams import make
from bus.news import News
from bus.permissions import journal_stream
from bus.transport import Callback, Record, check_line
from protocol.subjects import Journal

DUPLICATE_WINDOW_S = 120
"""How long the id of a line is remembered: a line that is written again as the connection broke is there once."""

_WRONG_LAST = 10071
"""Code of the JetStream API: the subject has another last message."""

_ID = "Nats-Msg-Id"
_ALL = ">"


class JournalRecords:
    """The lines of one journal."""

    def __init__(self, client: Client, journal: Journal[Any]) -> None:
        """Use `journal`; `open` makes it where there is none."""
        self._client = client
        self._journal = journal
        self._stream = journal_stream(journal)
        self._listening: set[News] = set()
        self.waits = Waits()

    @property
    def _jetstream(self) -> JetStreamContext:
        return self._client.jetstream()

    async def open(self) -> None:
        """Find the stream, or make it."""
        with told():
            try:
                await self._jetstream.stream_info(self._stream)
            except NotFoundError:
                await self._make()

    async def _make(self) -> None:
        age_s = self._journal.ttl_ms / 1000
        config = StreamConfig(
            name=self._stream,
            subjects=[self._subject(_ALL)],
            retention=RetentionPolicy.LIMITS,
            discard=DiscardPolicy.OLD,
            storage=StorageType.FILE,
            max_age=age_s,
            max_bytes=self._journal.max_bytes,
            duplicate_window=min(DUPLICATE_WINDOW_S, age_s),
            allow_direct=True,
            # Whoever hears of a line by this finds it: what is published is heard before it is stored.
            republish=RePublish(src=_ALL, dest=f"{self._stream}.{_ALL}", headers_only=True),
        )
        await make(self._jetstream, config)

    async def reconnected(self) -> None:
        """End every wait, and that for news too."""
        await self.waits.reconnected()
        for news in self._listening:
            news.tell()

    async def append(self, topic: str, data: bytes, *, last: int | None = None) -> int:
        """Write a line."""
        check_line(topic, data, self._client.max_payload)
        headers = {_ID: token_urlsafe(16)}
        if last is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(last)
        subject = self._subject(topic)
        with told():
            try:
                stored = await self.waits.again(lambda: self._jetstream.publish(subject, data, headers=dict(headers)))
            except APIError as error:
                if error.err_code != _WRONG_LAST or last is None:
                    raise
                return await self._own(topic, last, headers[_ID])
        return stored.seq

    async def _own(self, topic: str, last: int, identity: str) -> int:
        """Return the sequence of a line that was stored before the connection broke.

        nats-server (2.15) looks at the expected sequence first and at the id of the message after it, so that it
        refuses the repetition of what it has taken.
        """
        found = await self.waits.again(lambda: get_batch(self._client, self._stream, self._subject(topic), last + 1, 1))
        if found and header(found[0], _ID) == identity:
            return _record(found[0], self._journal.name).sequence
        msg = f"{last} is no longer the last of {topic}"
        raise ValueError(msg)

    async def last(self, topic: str) -> Record | None:
        """Return the last line of a topic."""
        return await self._one(last_by_subj=self._subject(topic))

    async def at(self, sequence: int) -> Record | None:
        """Return the line of that sequence."""
        return await self._one(seq=sequence) if sequence > 0 else None

    async def _one(self, **wanted: int | str) -> Record | None:
        with told():
            found = await self.waits.again(lambda: get_one(self._client, self._stream, **wanted))
        return _record(found, self._journal.name) if found else None

    async def batch(self, topics: str, after: int, limit: int) -> list[Record]:
        """Return the lines after a sequence."""
        # Of all topics nats-server need not count what is still to come, which takes it longer than all the rest.
        subject = topics if topics == _ALL else self._subject(topics)
        with told():
            found = await self.waits.again(lambda: get_batch(self._client, self._stream, subject, after + 1, limit))
        return [_record(one, self._journal.name) for one in found]

    async def end(self) -> int:
        """Return the sequence of the last line of all."""
        with told():
            info = await self.waits.again(lambda: self._jetstream.stream_info(self._stream))
        return info.state.last_seq

    @asynccontextmanager
    async def news(self) -> AsyncGenerator[Callback]:
        """Return what waits for a new line."""
        news = News()

        async def arrived(_: Msg) -> None:
            news.tell()

        with told():
            subscription = await self._client.subscribe(f"{self._stream}.{_ALL}", cb=arrived)
        self._listening.add(news)
        try:
            yield news.wait
        finally:
            self._listening.discard(news)
            with anyio.CancelScope(shield=True):
                await _end(subscription)

    def _subject(self, topics: str) -> str:
        return f"{self._journal.name}.{topics}"


def _record(message: Msg, journal: str) -> Record:
    written = datetime.fromisoformat(header(message, "Nats-Time-Stamp"))
    return Record(
        sequence=int(header(message, "Nats-Sequence")),
        topic=header(message, "Nats-Subject").removeprefix(f"{journal}."),
        data=message.data,
        at_ms=int(written.timestamp() * 1000),
    )


async def _end(subscription: Subscription) -> None:
    try:
        with told():
            await subscription.unsubscribe()
    except TransportError:
        return
