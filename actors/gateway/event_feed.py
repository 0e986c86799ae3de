"""What actors tell everybody, passed on to the clients of this replica who follow it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final, Generic, TypeVar

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import Struct

T = TypeVar("T")

MAX_BEHIND: Final = 256
"""What a slow listener may be behind before it misses some."""


class EventFeed(Struct, Generic[T], frozen=True):
    """Everybody in this replica who follows one event of the bus."""

    _listeners: set[MemoryObjectSendStream[T]] = msgspec.field(default_factory=set["MemoryObjectSendStream[T]"])

    async def publish(self, news: T) -> None:
        """Pass on what is told; whoever is too far behind misses it."""
        for listener in tuple(self._listeners):
            with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
                listener.send_nowait(news)

    @contextmanager
    def listening(self) -> Generator[MemoryObjectReceiveStream[T]]:
        """Yield what is told while the block lasts."""
        send, receive = anyio.create_memory_object_stream[T](MAX_BEHIND)
        self._listeners.add(send)
        try:
            with send, receive:
                yield receive
        finally:
            self._listeners.discard(send)
