"""JetStream streams: made as large as the server has room for, read by direct-get requests, many at once (ADR-31)."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import APIError

from bus.errors import TransportError
from bus.nats.client import HearingClient, translated_errors

_NO_ROOM = (10028, 10047)
"""Codes of the JetStream API: not enough memory, not enough storage."""

FULL = frozenset({10047, 10077})
"""Codes of the JetStream API: no storage, and a stream that refuses what would exceed its size."""

WRONG_LAST = 10071
"""Code of the JetStream API: the subject has another last message."""


async def make(stream: JetStreamContext, config: StreamConfig) -> None:
    """Make a stream; a server with less room than its `max_bytes` gives it half, or half of that."""
    with translated_errors():
        while True:
            try:
                await stream.add_stream(config)
            except APIError as error:
                if error.err_code not in _NO_ROOM or not config.max_bytes:
                    raise
                config = config.evolve(max_bytes=config.max_bytes // 2)
            else:
                return


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
    subscription = await client.subscribe(inbox, cb=arrived)
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
