"""A JetStream KV bucket whose watches come back at once after a restart of the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

import anyio
from nats.js import JetStreamContext
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import (
    BucketNotFoundError,
    InvalidKeyError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
)
from nats.js.kv import KeyValue as NatsKeyValue
from nats.js.kv import StopIterSentinel

from bus.errors import TransportError
from bus.nats.client import Waits, translated_errors
from bus.transport import KeyEntry
from protocol.subjects import Bucket

RETRY_S = 0.05
"""Between two tries to begin a watch."""

EXPIRED_S = 1.0
"""A key without an update for so long has expired since it was counted."""


class KeyValue:
    """One bucket."""

    def __init__(self, stream: JetStreamContext, bucket: Bucket[Any]) -> None:
        """Use `bucket`; `open` makes it where there is none."""
        self._stream = stream
        self._bucket = bucket
        self._store: NatsKeyValue | None = None
        self.waits = Waits()

    async def open(self) -> None:
        """Find the bucket, or make it."""
        with translated_errors():
            try:
                self._store = await self._stream.key_value(self._bucket.name)
            except BucketNotFoundError:
                self._store = await self._stream.create_key_value(
                    KeyValueConfig(
                        bucket=self._bucket.name,
                        history=self._bucket.history,
                        ttl=self._bucket.ttl_ms / 1000 if self._bucket.ttl_ms else None,
                        storage=StorageType.FILE,
                    )
                )

    @property
    def _kv(self) -> NatsKeyValue:
        if self._store is None:
            msg = "the bucket is not open"
            raise TransportError(msg)
        return self._store

    async def get(self, key: str) -> KeyEntry | None:
        """Return the entry of a key."""
        with translated_errors(), _refusing(key):
            try:
                entry = await self.waits.again(lambda: self._kv.get(key))
            except KeyNotFoundError:
                return None
        return KeyEntry(key, entry.value or b"", entry.revision or 0)

    async def put(self, key: str, value: bytes, *, revision: int | None = None) -> int:
        """Set a key."""
        with translated_errors(), _refusing(key):
            if revision is None:
                return await self.waits.again(lambda: self._kv.put(key, value))
            try:
                return await self.waits.once(lambda: self._kv.update(key, value, last=revision))
            except KeyWrongLastSequenceError:
                msg = f"{key} is no longer at revision {revision}"
                raise ValueError(msg) from None

    async def delete(self, key: str) -> None:
        """Remove a key."""
        with translated_errors(), _refusing(key):
            await self.waits.again(lambda: self._kv.delete(key))

    async def names(self) -> list[str]:
        """Return every key that has a value."""
        with translated_errors():
            return await self.waits.again(self._names)

    async def _names(self) -> list[str]:
        """List every key that there was in the beginning: nats-py ends its own list too early at times."""
        subjects = (await self._stream.stream_info(f"KV_{self._bucket.name}", subjects_filter=">")).state.subjects
        missing = {subject.removeprefix(f"$KV.{self._bucket.name}.") for subject in subjects or ()}
        if not missing:
            return []
        names = set[str]()
        watcher = await self._kv.watchall(meta_only=True)
        try:
            with anyio.move_on_after(EXPIRED_S) as patience:
                while missing:
                    update: Any = await watcher.updates(timeout=None)  # type: ignore[no-untyped-call]  # nats-py
                    patience.deadline = anyio.current_time() + EXPIRED_S
                    if isinstance(update, NatsKeyValue.Entry):
                        missing.discard(update.key)
                        (names.discard if update.operation else names.add)(update.key)
        finally:
            with anyio.CancelScope(shield=True):
                await _end(watcher)
        return list(names)

    @asynccontextmanager
    async def watch(self) -> AsyncGenerator[AsyncGenerator[KeyEntry]]:
        """Yield every entry there is, then every change; after a reconnect only what is newer than what was seen."""
        async with aclosing(self._entries()) as entries:
            yield entries

    async def _entries(self) -> AsyncGenerator[KeyEntry]:
        yielded, caught_up = 0, False
        while True:
            async with aclosing(self._updates()) as updates:
                async for update in updates:
                    if update is None:
                        caught_up = True
                        continue
                    entry = _entry(update)
                    if entry.revision > yielded:
                        yielded = entry.revision
                        if caught_up or entry.value is not None:
                            yield entry

    async def _updates(self) -> AsyncGenerator[NatsKeyValue.Entry | None]:
        """Yield the updates of one consumer, None after all that there were, until the connection comes back.

        A consumer that outlives a restart of the server stays silent for up to 18 s.
        """
        watcher: NatsKeyValue.KeyWatcher | None = None
        connection = self.waits.connections
        try:
            while connection == self.waits.connections:
                update: NatsKeyValue.Entry | StopIterSentinel | None = StopIterSentinel()
                with self.waits.cut():
                    watcher = watcher or await self._begin()
                    update = await watcher.updates(timeout=None)  # type: ignore[no-untyped-call]  # nats-py
                if isinstance(update, StopIterSentinel):
                    return
                yield update
        finally:
            if watcher is not None:
                with anyio.CancelScope(shield=True):
                    await _end(watcher)

    async def _begin(self) -> NatsKeyValue.KeyWatcher:
        while True:
            try:
                with translated_errors():
                    return await self._kv.watchall()
            except TransportError:
                await anyio.sleep(RETRY_S)


def _entry(update: NatsKeyValue.Entry) -> KeyEntry:
    return KeyEntry(update.key, None if update.operation else update.value or b"", update.revision or 0)


@contextmanager
def _refusing(key: str) -> Generator[None]:
    try:
        yield
    except InvalidKeyError:
        msg = f"{key!r} is no key"
        raise ValueError(msg) from None


async def _end(watcher: NatsKeyValue.KeyWatcher) -> None:
    try:
        with translated_errors():
            await watcher.stop()  # type: ignore[no-untyped-call]  # nats-py
    except TransportError:
        return
