"""A JetStream KV bucket in the layout that every NATS client reads (NATS ADR-8).

It is read by requests alone, so that nobody needs a consumer: what a consumer delivers, and where to, is in the body of
the request that makes it, which no permission looks at.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RawStreamMsg, RePublish, StorageType, StreamConfig
from nats.js.errors import APIError, NotFoundError

from bus.errors import TransportError
from bus.nats.client import HearingClient, Waits, translated_errors, translated_writes, unsubscribe
from bus.nats.streams import WRONG_LAST, get_batch, header
from bus.permissions import bucket_stream
from bus.transport import KeyEntry, LineSignal
from protocol.subject_kinds import Bucket

RETRY_S = 0.05
"""Between two tries to read on."""

NAMES_RETRY_S = 1.0
"""Between two tries to read which keys there are."""

BEHIND_S = 1.0
"""How long a server of a cluster may be behind another one that has signalled a change."""

BATCH_ENTRIES = 1_000
DUPLICATE_WINDOW_S = 120

_KEY = re.compile(r"(?!\.)[-/_=.a-zA-Z0-9]+(?<!\.)")
_OPERATION = "KV-Operation"
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_SEQUENCE = "Nats-Sequence"


class KeyValue:
    """One bucket."""

    def __init__(self, client: HearingClient, bucket: Bucket[Any]) -> None:
        """Use `bucket`; `open` makes it where there is none."""
        self._client = client
        self._bucket = bucket
        self._stream = bucket_stream(bucket.name)
        self.waits = Waits()
        self._heard = set[HeardKeys]()

    @property
    def _jetstream(self) -> JetStreamContext:
        return self._client.jetstream()

    async def open(self) -> None:
        """Find the bucket or make it, and have one that is older than its signals send them."""
        with translated_errors():
            try:
                config = (await self._jetstream.stream_info(self._stream)).config
            except NotFoundError:
                await self._jetstream.add_stream(self._configuration())
                return
            if config.republish is None or not config.allow_direct:
                wanted = self._configuration()
                await self._jetstream.update_stream(
                    config.evolve(republish=wanted.republish, allow_direct=wanted.allow_direct)
                )

    def _configuration(self) -> StreamConfig:
        age_s = self._bucket.ttl_ms / 1000 if self._bucket.ttl_ms else None
        return StreamConfig(
            name=self._stream,
            subjects=[self._subject(">")],
            max_msgs_per_subject=self._bucket.history,
            max_age=age_s,
            storage=StorageType.FILE,
            discard=DiscardPolicy.NEW,
            duplicate_window=min(DUPLICATE_WINDOW_S, age_s or DUPLICATE_WINDOW_S),
            deny_delete=True,
            allow_rollup_hdrs=True,
            allow_direct=True,
            republish=RePublish(src=self._subject(">"), dest=f"{self._stream}.>", headers_only=True),
        )

    async def get(self, key: str) -> KeyEntry | None:
        """Return the entry of a key."""
        message = await self._last(key)
        if message is None or (message.headers or {}).get(_OPERATION):
            return None
        return KeyEntry(key, message.data or b"", message.seq or 0)

    async def revision(self, key: str) -> int:
        """Return the revision of the last change of a key."""
        message = await self._last(key)
        return 0 if message is None else message.seq or 0

    async def _last(self, key: str) -> RawStreamMsg | None:
        subject = self._subject(_checked(key))
        with translated_errors():
            try:
                # Not by a direct get: of a cluster that might be answered by a server that is behind.
                return await self.waits.again(lambda: self._jetstream.get_last_msg(self._stream, subject))
            except NotFoundError:
                return None

    async def put(self, key: str, value: bytes, *, revision: int | None = None) -> int:
        """Set a key."""
        written = await self._write(key, value, {}, revision)
        for heard in self._heard:
            heard.add(key)  # whoever has written finds it, though the signal comes later
        return written

    async def delete(self, key: str, *, revision: int | None = None) -> None:
        """Remove a key."""
        await self._write(key, b"", {_OPERATION: "DEL"}, revision)

    async def _write(self, key: str, value: bytes, headers: dict[str, str], revision: int | None) -> int:
        subject = self._subject(_checked(key))
        with translated_writes(self._client):
            if revision is None:
                return (
                    await self.waits.again(lambda: self._jetstream.publish(subject, value, headers={**headers} or None))
                ).seq
            expected = {**headers, _EXPECTED: str(revision)}
            try:
                return (await self.waits.once(lambda: self._jetstream.publish(subject, value, headers=expected))).seq
            except APIError as error:
                if error.err_code != WRONG_LAST:
                    raise
                msg = f"{key} is no longer at revision {revision}"
                raise ValueError(msg) from None

    async def names(self) -> list[str]:
        """Return every key that has a value."""
        names, after, more = set[str](), 0, True
        while more:
            entries, more = await self._after(after)
            for entry in entries:
                after = entry.revision
                (names.discard if entry.value is None else names.add)(entry.key)
        return list(names)

    @asynccontextmanager
    async def presence(self) -> AsyncGenerator[HeardKeys]:
        """Hear which keys are written."""
        heard = HeardKeys(self._stream, self.waits)
        self._heard.add(heard)
        try:
            async with heard.open(self._client, self._subjects):
                yield heard
        finally:
            self._heard.discard(heard)

    async def _subjects(self) -> set[str]:
        """Return the keys that have a last change; no value is read."""
        every = self._subject(">")
        with translated_errors():
            info = await self.waits.again(lambda: self._jetstream.stream_info(self._stream, subjects_filter=every))
        return {subject.removeprefix(self._subject("")) for subject in info.state.subjects or ()}

    @asynccontextmanager
    async def watch(self) -> AsyncGenerator[AsyncGenerator[KeyEntry]]:
        """Yield every entry there is, then every change; after a reconnect only what is newer than what was seen."""
        async with aclosing(self._entries()) as entries:
            yield entries

    async def _entries(self) -> AsyncGenerator[KeyEntry]:
        signal = BucketSignal(self.waits)
        async with signal.of(self._client, self._stream):
            yielded, caught_up = 0, False
            while True:
                signalled = signal.latest
                entries, more = await self._after_patiently(yielded)
                for entry in entries:
                    yielded = entry.revision
                    if caught_up or entry.value is not None:
                        yield entry
                if not more:
                    caught_up = True
                    await signal.newer_than(yielded, signalled)

    async def _after_patiently(self, revision: int) -> tuple[list[KeyEntry], bool]:
        while True:
            try:
                return await self._after(revision)
            except TransportError:
                await anyio.sleep(RETRY_S)

    async def _after(self, revision: int) -> tuple[list[KeyEntry], bool]:
        """Return what is kept after a revision, in its order, and whether there is more of it than one batch brings."""
        subject = self._subject(">")
        with translated_errors():
            batch = await self.waits.again(
                lambda: get_batch(self._client, self._stream, subject, revision + 1, BATCH_ENTRIES)
            )
        more = bool(batch) and header(batch[-1], "Nats-Num-Pending") != "0"
        return [self._entry(message) for message in batch], more

    def _entry(self, message: Msg) -> KeyEntry:
        key = header(message, "Nats-Subject").removeprefix(self._subject(""))
        value = None if header(message, _OPERATION) else message.data
        return KeyEntry(key, value, int(header(message, _SEQUENCE)))

    def _subject(self, key: str) -> str:
        return f"$KV.{self._bucket.name}.{key}"


class HeardKeys:
    """The keys that were there when they were read, and those that were written since; none is taken out again."""

    def __init__(self, stream: str, waits: Waits) -> None:
        """Know nothing; `stream` is that of the bucket, `waits` those of its connection."""
        self._stream = stream
        self._waits = waits
        self._keys = set[str]()
        self._read_over = 0
        """The connection over which the names were read: what changed before it came back was not heard."""

    def absent(self, key: str) -> bool:
        """Return whether a key has no value, as far as was heard; False where nobody knows."""
        return self._read_over == self._waits.connections and key not in self._keys

    def add(self, key: str) -> None:
        """Take in that a key was written."""
        self._keys.add(key)

    @asynccontextmanager
    async def open(self, client: HearingClient, names: Callable[[], Awaitable[set[str]]]) -> AsyncGenerator[HeardKeys]:
        """Listen while the block lasts; `names` reads those that there are."""

        async def arrived(message: Msg) -> None:
            self.add(message.subject.removeprefix(f"{self._stream}."))

        with translated_errors():
            subscription = await client.subscribe_promptly(f"{self._stream}.>", arrived)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_after_each_connect, names)
            try:
                yield self
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await unsubscribe(subscription)

    async def _read_after_each_connect(self, names: Callable[[], Awaitable[set[str]]]) -> None:
        while True:
            connection = self._waits.connections
            try:
                self._keys |= await names()
            except TransportError:
                await anyio.sleep(NAMES_RETRY_S)
                continue
            self._read_over = connection
            with self._waits.cut():
                if self._waits.connections == connection:
                    await anyio.sleep_forever()


class BucketSignal:
    """Wakes one watcher of a bucket: by what the server signals of each change, and when the connection comes back."""

    def __init__(self, waits: Waits) -> None:
        """Wait for nothing."""
        self._waits = waits
        self._signal = LineSignal()
        self.latest = 0
        """The last revision that was signalled."""
        self._signalled_s = 0.0

    @asynccontextmanager
    async def of(self, client: HearingClient, stream: str) -> AsyncGenerator[None]:
        """Listen while the block lasts."""

        async def arrived(message: Msg) -> None:
            self.latest, self._signalled_s = int(header(message, _SEQUENCE) or 0), anyio.current_time()
            self._signal.set()

        with translated_errors():
            subscription = await client.subscribe_promptly(f"{stream}.>", arrived)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await unsubscribe(subscription)

    async def newer_than(self, revision: int, signalled: int) -> None:
        """Wait for a change after `revision`, which was read after `signalled` had been.

        What was signalled by then and not read is something that the server that was asked does not have yet.
        """
        if self.latest > max(revision, signalled):
            return
        if self.latest > revision and anyio.current_time() < self._signalled_s + BEHIND_S:
            await anyio.sleep(RETRY_S)
            return
        self.latest = min(self.latest, revision)
        with self._waits.cut():
            while self.latest <= revision:
                await self._signal.wait()


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        msg = f"{key!r} is no key"
        raise ValueError(msg)
    return key
