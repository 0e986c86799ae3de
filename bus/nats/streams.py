"""JetStream streams: made as large as the server has room for, read by direct-get requests, many at once (ADR-31)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import anyio
import msgspec
from msgspec import Struct, field
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from nats.js.errors import APIError

from bus.errors import NoRoomError, TransportError
from bus.nats.client import HearingClient, translated_errors
from bus.permissions import WORK_PREFIX
from bus.transport import ConsumerFigures, StreamFigures

NO_ROOM = (10028, 10047)
"""Codes of the JetStream API: not enough memory, not enough storage."""

LEAST_BYTES = 1024 * 1024
"""A stream that would have to be smaller is not made."""

WRONG_LAST = 10071
"""Code of the JetStream API: the subject has another last message."""


async def make(stream: JetStreamContext, config: StreamConfig) -> None:
    """Make a stream; a server with less room than its `max_bytes` gives it half, or half of that.

    Raises:
        NoRoomError: there is no room for a megabyte.
    """
    with translated_errors():
        while True:
            try:
                await stream.add_stream(config)
            except APIError as error:
                if error.err_code not in NO_ROOM or not config.max_bytes:
                    raise
                if config.max_bytes < 2 * LEAST_BYTES:
                    raise NoRoomError(config.max_bytes, in_memory=config.storage is StorageType.MEMORY) from error
                config = config.evolve(max_bytes=config.max_bytes // 2)
            else:
                return


class _Config(Struct, frozen=True):
    name: str
    max_bytes: int = -1


class _State(Struct, frozen=True):
    messages: int
    size_bytes: int = field(name="bytes")
    last_seq: int
    last_ts: datetime


class _Stream(Struct, frozen=True):
    config: _Config
    state: _State


class _Consumer(Struct, frozen=True):
    name: str
    num_ack_pending: int = 0
    num_redelivered: int = 0
    num_waiting: int = 0


class _Listed(Struct, frozen=True):
    """An answer of STREAM.LIST or CONSUMER.LIST (`$JS.API`): a page of them, and how many there are."""

    total: int = 0
    streams: tuple[_Stream, ...] = ()
    consumers: tuple[_Consumer, ...] = ()


async def figures(client: HearingClient) -> tuple[StreamFigures, ...]:
    """Return how every stream stands, those of work with their consumers, by name.

    Raises:
        TransportError: the server does not say so.
    """
    streams: list[_Stream] = []
    while True:
        page = await _list(client, "STREAM.LIST", offset=len(streams))
        streams += page.streams
        if not page.streams or len(streams) >= page.total:
            break
    stands = [_figures(one, await _consumers(client, one.config.name)) for one in streams]
    return tuple(sorted(stands, key=lambda one: one.name))


async def _consumers(client: HearingClient, stream: str) -> tuple[_Consumer, ...]:
    if not stream.startswith(WORK_PREFIX):
        return ()
    return (await _list(client, f"CONSUMER.LIST.{stream}", offset=0)).consumers


async def _list(client: HearingClient, request: str, offset: int) -> _Listed:
    query = msgspec.json.encode({"offset": offset})
    with translated_errors():
        message = await client.request(f"{client.api}.{request}", query, timeout=LIST_TIMEOUT_S)
    try:
        return msgspec.json.decode(message.data, type=_Listed)
    except msgspec.DecodeError as error:
        raise TransportError(request) from error


def _figures(stream: _Stream, consumers: tuple[_Consumer, ...]) -> StreamFigures:
    config, state = stream.config, stream.state
    return StreamFigures(
        name=config.name,
        messages=state.messages,
        size_bytes=state.size_bytes,
        last_sequence=state.last_seq,
        last_at_ms=max(int(state.last_ts.timestamp() * 1_000), 0),
        max_bytes=config.max_bytes if config.max_bytes > 0 else None,
        consumers=tuple(
            ConsumerFigures(
                name=one.name,
                waiting=max(0, state.messages - one.num_ack_pending),  # those in lines, too
                in_hand=one.num_ack_pending,
                again=one.num_redelivered,
                pulling=one.num_waiting,
            )
            for one in consumers
        ),
    )


LIST_TIMEOUT_S = 5
"""For the server to tell what streams there are."""

GET_TIMEOUT_S = 30
"""For all messages of one request to arrive."""

MAX_BATCH_BYTES = 8 * 1024 * 1024
"""What one request brings at most, a message more or less: it stays far below the server's `max_pending`."""

_END = "204"
_NOT_FOUND = "404"


async def get_one(client: HearingClient, stream: str, **wanted: int | str) -> Msg | None:
    """Get the one message that `seq` or `last_by_subj` names, if it is there."""
    return _found(await client.request(_subject(client, stream), msgspec.json.encode(wanted), timeout=GET_TIMEOUT_S))


async def get_by_subject(client: HearingClient, stream: str, subject: str) -> Msg | None:
    """Get the last message of a subject, if there is one, by a request that can ask for that subject alone."""
    return _found(await client.request(f"{_subject(client, stream)}.{subject}", timeout=GET_TIMEOUT_S))


def _found(message: Msg) -> Msg | None:
    match _status(message):
        case "":
            return message
        case str(status) if status == _NOT_FOUND:
            return None
        case status:
            raise TransportError(status)


async def get_batch(client: HearingClient, stream: str, subject: str, sequence: int, count: int) -> list[Msg]:
    """Get up to `count` messages from `sequence` on, of subjects that fit, in their order (nats-server 2.11)."""
    messages: list[Msg] = []
    ended: list[str] = []
    complete = anyio.Event()

    async def arrived(message: Msg) -> None:
        if status := _status(message):
            ended.append(status)
            complete.set()
            return
        messages.append(message)
        if len(messages) == count:
            complete.set()

    inbox = client.new_inbox()
    subscription = await client.subscribe_promptly(inbox, arrived)
    try:
        request = {"seq": sequence, "batch": count, "max_bytes": MAX_BATCH_BYTES, "next_by_subj": subject}
        await client.publish(_subject(client, stream), msgspec.json.encode(request), reply=inbox)
        with anyio.fail_after(GET_TIMEOUT_S):
            await complete.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await subscription.unsubscribe()
    if ended and ended[0] not in (_END, _NOT_FOUND):
        raise TransportError(ended[0])
    return messages


def header(message: Msg, name: str) -> str:
    """Return a header of a message, empty where it has none."""
    headers: dict[Any, str] = message.headers or {}
    return headers.get(name, "")


def _status(message: Msg) -> str:
    return header(message, "Status")


def _subject(client: HearingClient, stream: str) -> str:
    return f"{client.api}.DIRECT.GET.{stream}"
