"""Claim checks: packets that are too large for a message, in the server's memory, each readable by its receiver alone.

The subject of a claim begins with the place that it is meant for (`claim_scope`), and a participant reads what lies in
its own places. It ends with 128 random bits, so that nobody can overwrite what he was not sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.errors import NoStreamResponseError

from bus.nats.client import HearingClient, Waits, together, translated_errors
from bus.nats.streams import get_by_subject, header, make
from bus.permissions import CLAIMS

CHUNK_BYTES = 128 * 1024
AT_ONCE = 16
"""Chunks that are on their way at the same time."""

MANY = 1_000
"""Claims whose chunks are counted by who sent them, who may remove and not read them; the rest ends by its age."""

RETRY_S = 0.02
"""Between two tries while the stream is being made anew."""

REMADE_S = 1.0
"""How long the overseer gets to make it anew after a restart of the server, whose memory has forgotten it."""

CLAIMS_TTL_MS = 600_000
"""Claim checks whose owner died are gone after this."""

CLAIMS_MAX_BYTES = 400 * 1024 * 1024

_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.[0-9a-f]{32}")
_CHUNKS = "Weft-Chunks"
_HEAD = "head"


async def create_claims(stream: JetStreamContext, replicas: int = 1) -> None:
    """Make the stream of claim checks in the server's memory where there is none; the supervisor does it once.

    It refuses more than it may hold. A claim is taken away by an empty message in its place.
    """
    config = StreamConfig(
        name=CLAIMS,
        subjects=[f"{CLAIMS.lower()}.>"],
        max_age=CLAIMS_TTL_MS / 1000,
        max_bytes=CLAIMS_MAX_BYTES,
        max_msgs_per_subject=1,
        storage=StorageType.MEMORY,
        num_replicas=replicas,
        discard=DiscardPolicy.NEW,
        allow_direct=True,
    )
    await make(stream, config)


class ClaimStore:
    """The claim checks as one participant reaches them: by names that end in 32 hexadecimal digits."""

    def __init__(self, client: Callable[[], HearingClient]) -> None:
        """Reach them by the connection that `client` returns."""
        self._client = client
        self._sent: dict[str, int] = {}
        self.waits = Waits()

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`."""
        chunks = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
        _check(name)
        if len(self._sent) >= MANY:
            del self._sent[next(iter(self._sent))]
        self._sent[name] = len(chunks)
        await self._each(len(chunks), lambda number: self._send(name, str(number), chunks[number], {}))
        await self._send(name, _HEAD, b"", {_CHUNKS: str(len(chunks))})

    async def get(self, name: str) -> bytes:
        """Return what was put; KeyError when it is gone."""
        chunks: dict[int, bytes] = {}

        async def fetch(number: int) -> None:
            chunks[number] = (await self._read(name, str(number))).data

        count = await self._count(name)
        await self._each(count, fetch)
        if not count or not all(chunks.values()):
            raise KeyError(name)
        return b"".join(chunks[number] for number in range(count))

    async def delete(self, name: str) -> None:
        """Forget it; nothing happens when it is gone."""
        try:
            count = self._sent.pop(name, 0) or await self._count(name)
        except KeyError:
            return
        await self._send(name, _HEAD, b"", {})
        await self._each(count, lambda number: self._send(name, str(number), b"", {}))

    async def _count(self, name: str) -> int:
        _check(name)
        return int(header(await self._read(name, _HEAD), _CHUNKS) or 0)

    async def _each(self, count: int, do: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        for start in range(0, count, AT_ONCE):
            await together(partial(do, number) for number in range(start, min(start + AT_ONCE, count)))

    async def _read(self, name: str, part: str) -> Msg:
        subject = f"{CLAIMS.lower()}.{name}.{part}"
        with translated_errors():
            message = await self.waits.again(lambda: get_by_subject(self._client(), CLAIMS, subject))
        if message is None:
            raise KeyError(name)
        return message

    async def _send(self, name: str, part: str, data: bytes, headers: dict[str, str]) -> None:
        subject = f"{CLAIMS.lower()}.{name}.{part}"
        patience_ends = anyio.current_time() + REMADE_S
        with translated_errors():
            while True:
                try:
                    await self.waits.again(
                        lambda: self._client().jetstream().publish(subject, data, headers=dict(headers) or None)
                    )
                except NoStreamResponseError:
                    # The memory of a server goes with it, and the overseer makes the stream anew.
                    if anyio.current_time() >= patience_ends:
                        raise
                    await anyio.sleep(RETRY_S)
                else:
                    return


def _check(name: str) -> None:
    """See to it that a name, which may come from anywhere, is that of one claim.

    Raises:
        KeyError: it is none.
    """
    if not _NAME.fullmatch(name):
        raise KeyError(name)
