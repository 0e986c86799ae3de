"""A client of the REST API of a gateway in this process, and a bus that answers each call in its own way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec

from actors.gateway.edge import edge
from bus.context import current_conversation
from protocol.browse import StructuredError
from protocol.packets import Conversation
from protocol.patterns.listing import PatternList
from protocol.subject_kinds import Call
from tests.unit.actors.gateway_data import BASE, BEARER, FakeBus, settings

JSON = {"Content-Type": "application/json"}


class Replying(FakeBus):
    """Answers each call by its pattern, and notes the conversation that it is asked in."""

    def __init__(self, replies: Mapping[str, Any]) -> None:
        super().__init__()
        self.replies = {"pattern.list": PatternList(patterns=()), **replies}
        self.conversations: list[Conversation] = []

    async def call(self, call: Call[Any, Any], args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        self.conversations.append(current_conversation())
        self.outcome = self.replies[call.pattern]
        return await super().call(call, args, timeout_ms=timeout_ms, wait_ms=wait_ms)


@asynccontextmanager
async def client(bus: FakeBus, **chosen: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """Return a client with the owner's key."""
    async with edge(bus, settings(**chosen), "1.2.3") as (app, _):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER) as http:
            yield http


def error_of(answer: httpx2.Response) -> StructuredError:
    """Read an error."""
    return msgspec.json.decode(answer.content, type=StructuredError)
