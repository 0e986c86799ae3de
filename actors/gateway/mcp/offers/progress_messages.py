"""What an offering actor says while it works, told to the client that waits: how far it is, and lines of its log."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.connection import allowed_log_levels
from mcp.types import EmptyResult, LoggingMessageNotification, LoggingMessageNotificationParams, SetLevelRequestParams

from actors.gateway.mcp.offers.clients import Context
from actors.gateway.mcp.offers.known import Offers
from actors.gateway.request import beside
from protocol.offers.results import LogLine, Said, Step
from protocol.replicas import Watch

_ROOM = 100
"""Sayings that a slow client may be behind."""

MAX_LINE_BYTES = 64 * 1024
"""A longer line of a log is only said to be too long."""

_LAST_WORDS_S = 5.0
"""How long an answer waits for what was said before it, and then for the client to take it; a busy loop may stall."""

_TOKEN_BYTES = 12


async def set_level(_context: Context, _params: SetLevelRequestParams) -> EmptyResult:
    """Take note of a level. Without sessions nobody is remembered: a client gets every line, and leaves out some."""
    return EmptyResult()


@dataclass(eq=False)
class Ear:
    """Hears what is said of one request; `watch` is where to say it, None where the client wants none of it."""

    watch: Watch | None
    _stream: MemoryObjectSendStream[Said]
    _heard: int = 0
    _more: anyio.Event = field(default_factory=anyio.Event)

    def put(self, said: Said) -> None:
        """Take one saying; dropped where the client is too far behind."""
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self._stream.send_nowait(said)
        self._heard += 1
        self._more.set()
        self._more = anyio.Event()

    async def until(self, count: int) -> None:
        """Wait until so much has been heard: an answer may overtake what was said before it."""
        with anyio.move_on_after(_LAST_WORDS_S):
            while self.watch is not None and self._heard < count:
                await self._more.wait()


@asynccontextmanager
async def hearing(offers: Offers, replica: str, context: Context) -> AsyncGenerator[Ear]:
    """Send the client what is said about the work in the block, as far as it wants to know."""
    levels = allowed_log_levels(context.protocol_version, context.meta)
    wanted = bool(levels) or (context.meta or {}).get("progress_token") is not None
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    send, receive = anyio.create_memory_object_stream[Said](_ROOM)
    ear = Ear(Watch(replica=replica, token=token) if wanted else None, send)
    async with beside(lambda: _pass_on(receive, context, levels), _LAST_WORDS_S):
        with send, offers.hearing(token, ear.put):
            yield ear


async def _pass_on(stream: MemoryObjectReceiveStream[Said], context: Context, levels: frozenset[str]) -> None:
    with stream:
        async for said in stream:
            match said.says:
                case Step(done=done, total=total, message=message):
                    await context.session.report_progress(done, total, message or None)
                case LogLine() as line if line.level in levels:
                    await _log(context, line)
                case LogLine():
                    continue


async def _log(context: Context, line: LogLine) -> None:
    long = len(msgspec.json.encode(line.data)) > MAX_LINE_BYTES
    data: Any = f"(longer than {MAX_LINE_BYTES // 1024} KiB)" if long else line.data
    params = LoggingMessageNotificationParams(level=line.level.value, data=data, logger=line.logger or None)
    await context.session.send_notification(
        LoggingMessageNotification(params=params), related_request_id=context.request_id
    )
