"""A server of push alone, in the process of a test: the sockets of a gateway without the gateway around them."""

from __future__ import annotations

import json
import socket as plain
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect

from actors.gateway.push.channels import Channels
from actors.gateway.push.signatures import PushApp
from actors.gateway.push.sockets import PushSockets
from actors.gateway.server import serving
from protocol.push import PushEvent

APP: Final = PushApp("7", "app-key", "app-secret")
CHANNEL: Final = "private-session-1"


class PushingServer:
    """A server of push on a free port; `ended` are callers whose keys have ended."""

    def __init__(self, port: int, **chosen: int) -> None:
        self.port = port
        self.ended = set[str]()
        self.channels = Channels(self.ended.__contains__)
        self.sockets = PushSockets(APP, self.channels, chosen.get("most", 100), chosen.get("activity_timeout_s", 60))

    def opened(self, query: str = "?protocol=7", key: str = APP.key, **given: Any) -> connect:
        """Return a connection that is still to be opened."""
        return connect(f"ws://127.0.0.1:{self.port}/app/{key}{query}", proxy=None, **given)

    def deliver(self, count: int, chars: int = 10, **given: str) -> None:
        """Deliver so many events to the channel, each with its number."""
        for number in range(count):
            data = json.dumps({"number": number, "text": "x" * chars})
            self.channels.deliver(PushEvent(channel=CHANNEL, event="new_message", data=data, **given))


@asynccontextmanager
async def push_server(within_s: float = 40.0, **chosen: int) -> AsyncGenerator[PushingServer]:
    """Serve push while the block lasts, which has so much time."""
    listener = plain.create_server(("127.0.0.1", 0))
    server = PushingServer(listener.getsockname()[1], **chosen)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["path_params"] = {"key": scope["path"].rpartition("/")[2]}
        await server.sockets.run(WebSocket(scope, receive, send))

    with anyio.fail_after(within_s):
        async with serving(app, listener, 100, server.channels.end):
            yield server
