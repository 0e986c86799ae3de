"""Claim checks in a JetStream object store, kept in the server's memory: they live for one call."""

from __future__ import annotations

from contextlib import suppress

import anyio
import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import ObjectStoreConfig, StorageType
from nats.js.errors import NoStreamResponseError, NotFoundError
from nats.js.object_store import ObjectStore as NatsObjectStore

from bus.nats.anew import Waits
from bus.nats.failures import told
from bus.permissions import CLAIMS

TTL_S = 600
"""Claim checks whose owner died are gone after this."""

MAX_BYTES = 400 * 1024 * 1024
GET_TIMEOUT_S = 30

REMADE_S = 1.0
"""How long the overseer gets to make the bucket anew after a restart of the server, whose memory has forgotten it."""

RETRY_S = 0.02


async def create(stream: JetStreamContext, replicas: int = 1) -> None:
    """Make the bucket where there is none; the supervisor does it once."""
    config = ObjectStoreConfig(
        bucket=CLAIMS, ttl=TTL_S, max_bytes=MAX_BYTES, storage=StorageType.MEMORY, replicas=replicas
    )
    with told():
        await stream.create_object_store(CLAIMS, config)


class ObjectStore:
    """Blobs by name; put and delete are nats-py's, get asks for all chunks at once (nats-py takes 0.25 s for 5 MB)."""

    def __init__(self, client: Client) -> None:
        """Use the object store of claim checks."""
        self._client = client
        self._store: NatsObjectStore | None = None
        self.waits = Waits()

    async def _bucket(self) -> NatsObjectStore:
        if self._store is None:
            self._store = await self._client.jetstream().object_store(CLAIMS)
        return self._store

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`."""

        async def ask() -> None:
            await (await self._bucket()).put(name, data)

        patience_ends = anyio.current_time() + REMADE_S
        with told():
            while True:
                try:
                    return await self.waits.again(ask)
                except (NotFoundError, NoStreamResponseError):
                    # The bucket went with a server that died, and the overseer makes it anew.
                    if anyio.current_time() >= patience_ends:
                        raise
                await anyio.sleep(RETRY_S)

    async def get(self, name: str) -> bytes:
        """Give back what was put; KeyError when it is gone."""
        with told():
            return await self.waits.again(lambda: self._get(name))

    async def delete(self, name: str) -> None:
        """Forget it."""

        async def ask() -> None:
            with suppress(NotFoundError):
                await (await self._bucket()).delete(name)

        with told():
            await self.waits.again(ask)

    async def _get(self, name: str) -> bytes:
        try:
            info = await (await self._bucket()).get_info(name)
        except NotFoundError:
            raise KeyError(name) from None
        data = b"".join(await self._chunks(f"$O.{CLAIMS}.C.{info.nuid}", info.chunks or 0))
        if len(data) != info.size:
            raise KeyError(name)
        return data

    async def _chunks(self, subject: str, count: int) -> list[bytes]:
        """Get every chunk by one direct-get request of a whole batch (nats-server 2.11, ADR-31)."""
        chunks: list[bytes] = []
        complete = anyio.Event()

        async def arrived(message: Msg) -> None:
            if (message.headers or {}).get("Status"):
                complete.set()
                return
            chunks.append(message.data)
            if len(chunks) == count:
                complete.set()

        if count == 0:
            return chunks
        inbox = self._client.new_inbox()
        subscription = await self._client.subscribe(inbox, cb=arrived)
        try:
            request = msgspec.json.encode({"seq": 1, "batch": count, "next_by_subj": subject})
            await self._client.publish(f"$JS.API.DIRECT.GET.OBJ_{CLAIMS}", request, reply=inbox)
            with anyio.fail_after(GET_TIMEOUT_S):
                await complete.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await subscription.unsubscribe()
        return chunks
