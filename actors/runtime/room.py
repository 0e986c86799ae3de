"""How much room is left for what is kept, as the log and the doctor tell it before there is none."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import structlog
from msgspec import Struct

from bus.errors import TransportError
from bus.permissions import CLAIMS, journal_stream
from bus.transport import StreamFigures
from protocol.subject_kinds import Journal
from protocol.subjects import table

log = structlog.stdlib.get_logger()

NEARLY_FULL = "storage_nearly_full"

LOOK_S: Final = 15.0

ALL: Final = "jetstream"
"""The name of all that is kept together."""

_NEARLY: Final = 0.9

Look = Callable[[], Awaitable[Iterable[StreamFigures]]]


class StreamRoom(Struct, frozen=True):
    """What is kept in a stream, or in all: its bytes, and how many there may be (0: nothing bounds them)."""

    name: str
    size_bytes: int
    max_bytes: int


@asynccontextmanager
async def watched_room(streams: Look, limit_bytes: int | None) -> AsyncGenerator[None]:
    """Say in the log, as soon as it is so, what has little room left, while the block lasts."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, streams, limit_bytes)
        yield
        tasks.cancel_scope.cancel()


async def _watch(streams: Look, limit_bytes: int | None) -> None:
    warned = set[str]()
    while True:
        try:
            rooms = [StreamRoom(one.name, one.size_bytes, one.max_bytes or 0) for one in await streams()]
        except TransportError:
            rooms = []
        filling = nearly_full(rooms, limit_bytes)
        for one in filling:
            if one.name not in warned:
                log.warning(NEARLY_FULL, kept=one.name, size_bytes=one.size_bytes, max_bytes=one.max_bytes)
        warned = {one.name for one in filling}
        await anyio.sleep(LOOK_S)


def nearly_full(streams: Iterable[StreamRoom], limit_bytes: int | None) -> tuple[StreamRoom, ...]:
    """Return what has little room left: all together, and what is kept for good, which makes room for nothing new."""
    on_disk = [one for one in streams if one.name != CLAIMS]
    kept = [StreamRoom(_FOR_GOOD[one.name], one.size_bytes, one.max_bytes) for one in on_disk if one.name in _FOR_GOOD]
    kept.append(StreamRoom(ALL, sum(one.size_bytes for one in on_disk), limit_bytes or 0))
    return tuple(one for one in kept if 0 < one.max_bytes * _NEARLY <= one.size_bytes)


_FOR_GOOD: Final = {
    journal_stream(entry): entry.name for _, entry in table() if isinstance(entry, Journal) and entry.ttl_ms is None
}
