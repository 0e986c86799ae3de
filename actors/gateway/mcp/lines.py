"""The log of what is done for a client, told to one that wants to read along."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.connection import allowed_log_levels
from mcp.types import EmptyResult, LoggingMessageNotification, LoggingMessageNotificationParams, SetLevelRequestParams

from actors.gateway.mcp.clients import Context
from actors.gateway.mcp.offers import Offers
from protocol.offers import Logged
from protocol.progress import Watch

_ROOM = 100
"""Lines that a slow client may be behind."""

_LAST_WORDS_S = 1.0
_TOKEN_BYTES = 12


async def set_level(_context: Context, _params: SetLevelRequestParams) -> EmptyResult:
    """Take note of a level. Without sessions nobody is remembered: a client gets every line, and leaves out some."""
    return EmptyResult()


@asynccontextmanager
async def lines_of(offers: Offers, replica: str, context: Context) -> AsyncGenerator[Watch | None]:
    """Send the client what is logged about the work in the block; None, if it wants nothing of that."""
    levels = allowed_log_levels(context.protocol_version, context.meta)
    if not levels:
        yield None
        return
    failure: Exception | None = None
    send, receive = anyio.create_memory_object_stream[Logged](_ROOM)

    def put(line: Logged) -> None:
        if line.level in levels:
            with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
                send.send_nowait(line)

    token = secrets.token_urlsafe(_TOKEN_BYTES)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_on, receive, context)
        try:
            with send, offers.logging(token, put):
                yield Watch(replica=replica, token=token)
        except Exception as error:  # noqa: BLE001 - raised below, where no task group wraps it
            failure = error
            tasks.cancel_scope.cancel()
        tasks.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS_S
    if failure is not None:
        raise failure


async def _pass_on(lines: MemoryObjectReceiveStream[Logged], context: Context) -> None:
    with lines:
        async for line in lines:
            params = LoggingMessageNotificationParams(
                level=line.level.value, data=line.data, logger=line.logger or None
            )
            notice = LoggingMessageNotification(params=params)
            await context.session.send_notification(notice, related_request_id=context.request_id)
