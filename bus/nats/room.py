"""How the room of a JetStream server is shared among what is bounded: journals and stores of files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig
from nats.js.errors import APIError, NotFoundError

from bus.errors import NoRoomError
from bus.nats.client import HearingClient, translated_errors
from bus.nats.objects import create
from bus.nats.records import SPARE_BYTES, JournalRecords
from bus.nats.streams import NO_ROOM
from bus.permissions import journal_stream, object_stream
from protocol.subject_kinds import Journal, Objects

Bounded = Objects | Journal[Any]

REST: Final = 4 / 3
"""The room that is wanted for each byte of what is bounded: a quarter of all is for buckets and queues."""

LEAST_SHARE: Final = 1 / 64
"""Of what it would like, a journal or store has at least this much."""

_STEP: Final = 3 / 4
"""From one try to the next on a server that does not say how much room it has."""

_PROBE: Final = "WEFT_ROOM"


def least_bytes(entries: Sequence[Bounded]) -> int:
    """Return the least room in which all of them can be made, in bytes."""
    return int(_wanted(entries, LEAST_SHARE) * REST)


def share_of(entries: Sequence[Bounded], limit_bytes: int) -> float:
    """Return how much of what each would like it gets of a server with that much room."""
    return max(min(1.0, limit_bytes / (_wanted(entries) * REST)), LEAST_SHARE) if entries else 1.0


async def allot(client: HearingClient, entries: Sequence[Bounded], limit_bytes: int | None) -> None:
    """Make what is bounded where there is none, each with its share of the room.

    With a limit, which a server of our own has, what is there follows it; elsewhere it stays as large as it was made.
    No line and no file is given up for that.

    Raises:
        NoRoomError: there is not even room for the least.
        TransportError: the server does not answer.
    """
    stream = client.jetstream()
    known = {name: await _configuration(stream, name) for name in map(stream_of, entries)}
    missing = [entry for entry in entries if known[stream_of(entry)] is None]
    share = await _found_share(stream, missing) if limit_bytes is None else share_of(entries, limit_bytes)
    if limit_bytes is not None:
        await _resize(
            stream, [(config, sized(entry, share)) for entry in entries if (config := known[stream_of(entry)])]
        )
    for entry in missing:
        await _make(client, sized(entry, share))


def stream_of(entry: Bounded) -> str:
    """Return the name of the stream that keeps it."""
    return object_stream(entry.name) if isinstance(entry, Objects) else journal_stream(entry)


def sized(entry: Bounded, share: float) -> Bounded:
    """Return the entry with its share of what it would like."""
    return msgspec.structs.replace(entry, max_bytes=int(entry.max_bytes * share))


def _wanted(entries: Sequence[Bounded], share: float = 1.0) -> int:
    return sum(int(entry.max_bytes * share) for entry in entries)


async def _configuration(stream: JetStreamContext, name: str) -> tuple[StreamConfig, int] | None:
    """Return how a stream is made, and the bytes in it."""
    with translated_errors():
        try:
            info = await stream.stream_info(name)
        except NotFoundError:
            return None
    return info.config, info.state.bytes


async def _resize(stream: JetStreamContext, wanted: list[tuple[tuple[StreamConfig, int], Bounded]]) -> None:
    """Update streams to their new sizes; those that shrink come first and make room for the others."""
    sizes = [(config, max(entry.max_bytes, _needed(entry, held))) for (config, held), entry in wanted]
    changed = [(config, size) for config, size in sizes if size != config.max_bytes]
    for config, size in sorted(changed, key=lambda one: one[1] - (one[0].max_bytes or 0)):
        with translated_errors():
            await stream.update_stream(config.evolve(max_bytes=size))


def _needed(entry: Bounded, held: int) -> int:
    """Return how large a stream has to be that nothing is given up and what is kept for good can be forgotten."""
    for_good = isinstance(entry, Journal) and entry.ttl_ms is None
    return held + min(SPARE_BYTES, held // 8) if for_good else held


async def _make(client: HearingClient, entry: Bounded) -> None:
    if isinstance(entry, Objects):
        await create(client.jetstream(), entry)
    else:
        await JournalRecords(client, entry).open()


async def _found_share(stream: JetStreamContext, missing: Sequence[Bounded]) -> float:
    """Try out how much of what each would like there is room for."""
    share = 1.0
    while missing and not await _has_room(stream, int(_wanted(missing, share) * REST)):
        if share == LEAST_SHARE:
            raise NoRoomError(least_bytes(missing))
        share = max(share * _STEP, LEAST_SHARE)
    return share


async def _has_room(stream: JetStreamContext, size: int) -> bool:
    """Return whether the server has that much room, by a stream that is taken away again."""
    config = StreamConfig(
        name=_PROBE, subjects=[_PROBE], max_bytes=size, storage=StorageType.FILE, discard=DiscardPolicy.NEW
    )
    with translated_errors():
        try:
            await stream.add_stream(config)
        except APIError as error:
            if error.err_code in NO_ROOM:
                return False
            raise
        await stream.delete_stream(_PROBE)
    return True
