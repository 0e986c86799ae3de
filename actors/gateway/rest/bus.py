"""The endpoints that show an operator the bus: how journals and queues stand, and the packets that pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal

import anyio
from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import EVENTS, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.operation import LOOK_MS as REPLICAS_MS
from actors.gateway.rest.routing import Endpoint
from actors.gateway.tapping import MAX_SHOWN_BYTES, TapStream
from bus.clock import now_ms
from bus.errors import DeadlineError
from bus.permissions import BUCKET_PREFIX, CLAIMS, JOURNAL_PREFIX, OBJECTS_PREFIX, WORK_PREFIX
from bus.stats import Replica
from bus.transport import StreamFigures
from protocol.browse import SCHEMA_VERSION

LOOK_MS = 10_000
"""What a look at all that is kept may take."""

_NOT_KEPT = {"Cache-Control": "no-store"}
StreamKind = Literal["journal", "queue", "bucket", "files", "claims", "other"]
"""What a stream of JetStream keeps: lines, work, keys with values, files, or packets too large for one message."""

_KINDS: Mapping[str, StreamKind] = MappingProxyType(
    {
        JOURNAL_PREFIX: "journal",
        WORK_PREFIX: "queue",
        BUCKET_PREFIX: "bucket",
        OBJECTS_PREFIX: "files",
        CLAIMS: "claims",
    }
)


class QueueConsumer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who takes work of a queue: `waiting` is how much is still to be handed out, `in_hand` how much is being done.

    `again` is how much was handed out more than once, `pulling` how many requests for work stand.
    """

    name: str
    waiting: int
    in_hand: int
    again: int
    pulling: int


class JournalReader(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who reads a journal, and how far it is: the sequence of the last line taken in, and how many came after it."""

    actor: str
    replica: str
    reader: str
    sequence: int
    lag: int


class KeptStream(Struct, frozen=True, kw_only=True, rename="camel"):
    """A journal, a queue, a bucket or a store of files, with its messages and the time of the last (ms; 0: none).

    `max_bytes` is None where nothing bounds it but the disk. Journals, buckets and files have no consumers: who reads
    them asks for what comes next, and `readers` of a journal tell themselves how far they are.
    """

    name: str
    kind: StreamKind
    messages: int
    size_bytes: int
    max_bytes: int | None
    last_sequence: int
    last_at: int
    consumers: tuple[QueueConsumer, ...]
    readers: tuple[JournalReader, ...] = ()


class BusFigures(Struct, frozen=True, kw_only=True, rename="camel"):
    """All that is kept on the bus, at the time `at` (ms since the epoch), by kind and name."""

    at: int
    streams: tuple[KeptStream, ...]
    schema_version: str = SCHEMA_VERSION


class TapQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is listened to."""

    subject: Annotated[
        str,
        Meta(
            pattern=r"^(?:>|[A-Za-z0-9_$*-]{1,200}(?:\.[A-Za-z0-9_$*-]{1,200}){0,16}(?:\.>)?)$(?!\n)",
            max_length=200,
            description="Subject, with the wildcards `*` and `>` of NATS.",
        ),
    ] = ">"


async def _bus(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    with anyio.move_on_after(LOOK_MS / 1_000):
        replicas = await app.bus.replicas(REPLICAS_MS)
        async with app.bus.observer() as observer:
            kept = [_kept(one, replicas) for one in await observer.streams()]
            kept.sort(key=lambda one: (one.kind, one.name))
            return answer(BusFigures(at=now_ms(), streams=tuple(kept)), headers=_NOT_KEPT)
    raise DeadlineError("a look at the bus", LOOK_MS)


def _kept(stream: StreamFigures, replicas: Sequence[Replica]) -> KeptStream:
    prefix = next((one for one in _KINDS if stream.name.startswith(one)), "")
    name = stream.name.removeprefix(prefix) or stream.name.lower()
    return KeptStream(
        name=name,
        kind=_KINDS.get(prefix, "other"),
        messages=stream.messages,
        size_bytes=stream.size_bytes,
        max_bytes=stream.max_bytes,
        last_sequence=stream.last_sequence,
        last_at=stream.last_at_ms,
        consumers=tuple(
            QueueConsumer(name=one.name, waiting=one.waiting, in_hand=one.in_hand, again=one.again, pulling=one.pulling)
            for one in stream.consumers
        ),
        readers=tuple(_readers(name, stream.last_sequence, replicas)) if prefix == JOURNAL_PREFIX else (),
    )


def _readers(journal: str, last: int, replicas: Sequence[Replica]) -> Iterator[JournalReader]:
    """Yield who reads a journal; who has told its place after the journal was looked at is not ahead of it."""
    for one in replicas:
        for place in one.places:
            if place.journal == journal:
                yield JournalReader(
                    actor=one.actor,
                    replica=one.replica,
                    reader=place.reader,
                    sequence=place.sequence,
                    lag=max(last - place.sequence, 0),
                )


async def _tap(app: AppContext, _request: RequestContext, arguments: TapQuery) -> Response:
    return TapStream(app, arguments.subject)


_LOOK: dict[str, Any] = {"method": "GET", "errors": frozenset({500, 503, 504}), "scope": Scope.OPERATE}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/bus",
        name="bus",
        summary="Tell how all that is kept on the bus stands: journals, queues of work, buckets and files.",
        about="How many messages and bytes each has, and of queues what waits and what is being done. What is called "
        "on the bus is in /api/system, by subject.",
        run=_bus,
        answer=BusFigures,
        **_LOOK,
    ),
    Endpoint(
        path="/api/bus/tap",
        name="tapBus",
        summary="Follow the packets that pass on the bus, as server-sent events; secrets are masked.",
        about="As `weft tap` shows them. It ends after ten minutes; ask again to go on.",
        run=_tap,
        params=TapQuery,
        media=(EVENTS,),
        stream="Server-sent events from now on: `packets` is `{packets, lost}`, with what has passed since the last "
        "event, each packet with `at`, `subject`, `size`, `headers` and what it says of itself (`type`, `id`, `task`, "
        f"`sender`, `conversationId`, `inReplyTo`, `error`), and whole as `packet` up to {MAX_SHOWN_BYTES} bytes. A "
        "reader that is too slow loses packets: `lost` is how many since the start. `error` says why it ends.",
        example={"subject": "web.>"},
        **_LOOK,
    ),
)
