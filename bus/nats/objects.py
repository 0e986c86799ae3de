"""Files by name in JetStream object stores.

Put and delete are nats-py's; get is ours, because it asks for many chunks at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.errors import BucketNotFoundError, NotFoundError
from nats.js.object_store import ObjectStore as NatsObjectStore

from bus.errors import TransportError
from bus.nats.client import HearingClient, Waits, translated_errors, translated_writes
from bus.nats.streams import get_batch, header, make
from bus.permissions import object_stream
from protocol.subject_kinds import Objects

BATCH_CHUNKS = 64
"""Chunks of 128 KiB that are asked for at once."""


async def create(stream: JetStreamContext, store: Objects) -> None:
    """Make the store where there is none, in the layout that every NATS client reads (NATS ADR-20).

    What is there makes room for what is new, oldest first. A server with less room than the store would like gives it
    half, or half of that.
    """
    config = StreamConfig(
        name=object_stream(store.name),
        subjects=[f"$O.{store.name}.C.>", f"$O.{store.name}.M.>"],
        max_age=store.ttl_ms / 1000,
        max_bytes=store.max_bytes,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        allow_rollup_hdrs=True,
        allow_direct=True,
    )
    await make(stream, config)


class ObjectStore:
    """One object store."""

    def __init__(self, client: HearingClient, name: str) -> None:
        """Use the store of that name."""
        self._client = client
        self._name = name
        self._store: NatsObjectStore | None = None
        self.waits = Waits()

    async def open(self, make: Callable[[], Awaitable[None]]) -> None:
        """Find the store, or make it."""
        try:
            with translated_errors():
                await self._bucket()
        except TransportError as error:
            if not isinstance(error.__cause__, BucketNotFoundError):
                raise
            await make()

    async def _bucket(self) -> NatsObjectStore:
        if self._store is None:
            self._store = await self._client.jetstream().object_store(self._name)
        return self._store

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`, in place of what has that name."""

        async def ask() -> None:
            await (await self._bucket()).put(name, data)

        with translated_writes(self._client):
            await self.waits.again(ask)

    async def get(self, name: str) -> bytes:
        """Return back what was put; KeyError when it is gone."""
        with translated_errors():
            return await self.waits.again(lambda: self._get(name))

    async def delete(self, name: str) -> None:
        """Forget it."""

        async def ask() -> None:
            with suppress(NotFoundError):
                await (await self._bucket()).delete(name)

        with translated_writes(self._client):
            await self.waits.again(ask)

    async def _get(self, name: str) -> bytes:
        try:
            info = await (await self._bucket()).get_info(name)
        except NotFoundError:
            raise KeyError(name) from None
        subject, wanted = f"$O.{self._name}.C.{info.nuid}", info.chunks or 0
        chunks: list[bytes] = []
        after = 0
        while len(chunks) < wanted:
            count = min(BATCH_CHUNKS, wanted - len(chunks))
            batch = await get_batch(self._client, object_stream(self._name), subject, after + 1, count)
            if not batch:
                break
            after = int(header(batch[-1], "Nats-Sequence"))
            chunks += [chunk.data for chunk in batch]
        data = b"".join(chunks)
        if len(data) != info.size:
            raise KeyError(name)
        return data
