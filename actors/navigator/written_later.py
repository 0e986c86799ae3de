"""Writes what is noted of pages after their answers have gone; what comes faster than it can be written is left out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from actors import redact
from bus.errors import TransportError
from protocol.pages import BrowsePage

log = structlog.stdlib.get_logger()

GATHER_S: Final = 0.25
"""Notes gather for so long: a write of many costs little more than one, for who sends them and who takes them in."""

_WAITING: Final = 256

T = TypeVar("T")


@dataclass
class WrittenLater(Generic[T]):
    """Calls `write` with each note, with those of a moment at once; `event` is what the log says of one left out."""

    write: Callable[[T], Awaitable[None]]
    event: str
    _sending: MemoryObjectSendStream[T] = field(init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Write while the block lasts; what waits at its end is left out."""
        self._sending, receiving = anyio.create_memory_object_stream[T](_WAITING)
        async with self._sending, receiving, anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_all, receiving)
            yield
            tasks.cancel_scope.cancel()

    def add(self, note: T) -> None:
        """Have a note written."""
        try:
            self._sending.send_nowait(note)
        except anyio.WouldBlock:
            log.info(self.event, reason="too many at once")

    async def _write_all(self, receiving: MemoryObjectReceiveStream[T]) -> None:
        async for note in receiving:
            await anyio.sleep(GATHER_S)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._written, note)
                for _ in range(receiving.statistics().current_buffer_used):
                    tasks.start_soon(self._written, receiving.receive_nowait())

    async def _written(self, note: T) -> None:
        try:
            await self.write(note)
        except (TransportError, ValueError) as error:
            log.warning(self.event, reason=str(error))


def may_be_noted(request: BrowsePage, *urls: str) -> bool:
    """Return whether it may be written down that somebody has read a page: without a login, and no address a secret."""
    public = not request.login and request.options.session_profile is None
    return bool(request.reader) and public and all(redact.url(url) == url for url in urls)
