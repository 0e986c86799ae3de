"""Writes what is noted of pages after their answers have gone; what comes faster than it can be written is left out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio
import structlog
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from bus.errors import TransportError

log = structlog.stdlib.get_logger()

GATHER_S: Final = 0.25
"""Notes gather for so long: a write of many costs little more than one, for who sends them and who takes them in."""

LAST_S: Final = 2.0
"""What writing may take at the end."""

_WAITING: Final = 256

T = TypeVar("T")


@dataclass
class WrittenLater(Generic[T]):
    """Writes notes in their order, those of a moment at once; `event` is what the log says of one that is left out.

    `prepare` is what takes time, and is called in a thread.
    """

    prepare: Callable[[T], T]
    write: Callable[[T], Awaitable[None]]
    event: str
    _sending: MemoryObjectSendStream[T] = field(init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Write while the block lasts, and at its end what waits, as far as there is time."""
        self._sending, receiving = anyio.create_memory_object_stream[T](_WAITING)
        async with self._sending, receiving, anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_all, receiving)
            yield
            self._sending.close()
            tasks.cancel_scope.deadline = anyio.current_time() + LAST_S

    def add(self, note: T) -> None:
        """Have a note written."""
        try:
            self._sending.send_nowait(note)
        except anyio.WouldBlock:
            log.info(self.event, reason="too many at once")

    async def _write_all(self, receiving: MemoryObjectReceiveStream[T]) -> None:
        async for note in receiving:
            await anyio.sleep(GATHER_S)
            gathered = [note, *(receiving.receive_nowait() for _ in range(receiving.statistics().current_buffer_used))]
            async with anyio.create_task_group() as tasks:
                for one in await to_thread.run_sync(list, map(self.prepare, gathered)):
                    tasks.start_soon(self._write_or_log, one)

    async def _write_or_log(self, note: T) -> None:
        try:
            await self.write(note)
        except (TransportError, ValueError) as error:
            log.warning(self.event, reason=str(error))
