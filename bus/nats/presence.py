"""Which keys of a bucket may have a value, known without asking: the names there are, and the signals of changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from nats.aio.msg import Msg

from bus.errors import TransportError
from bus.nats.client import HearingClient, Waits, translated_errors

RETRY_S: Final = 1.0
"""Between two tries to read the names."""


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
            subscription = await client.subscribe(f"{self._stream}.>", cb=arrived)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_again_and_again, names)
            try:
                yield self
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await _end(subscription.unsubscribe)

    async def _read_again_and_again(self, names: Callable[[], Awaitable[set[str]]]) -> None:
        while True:
            connection = self._waits.connections
            try:
                self._keys |= await names()
            except TransportError:
                await anyio.sleep(RETRY_S)
                continue
            self._read_over = connection
            with self._waits.cut():
                while self._waits.connections == connection:
                    await anyio.sleep_forever()


async def _end(unsubscribe: Callable[[], Awaitable[None]]) -> None:
    try:
        with translated_errors():
            await unsubscribe()
    except TransportError:
        return
