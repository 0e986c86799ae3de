"""A gateway that listens on a free port of 127.0.0.1, with a bus of the test."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc
import httpx2

from actors.gateway.access.limits import connection_limits
from actors.gateway.edge import edge
from actors.gateway.server import serving
from tests.unit.actors.gateway_data import BEARER, FakeBus, settings


@dataclass(frozen=True)
class Listening:
    """Where it listens; clients are to be closed before it is."""

    port: int

    @property
    def base(self) -> str:
        """Its address over HTTP."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """Return a client with the owner's key, unless other headers say."""
        return httpx2.AsyncClient(
            base_url=self.base, headers=headers or BEARER, trust_env=False, verify=False, timeout=90
        )

    async def say(self, *parts: bytes) -> bytes:
        """Say something of one's own over a connection, and hear the answer to its end."""
        with anyio.fail_after(90):
            async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
                for part in parts:
                    await stream.send(part)
                return await heard(stream)


async def heard(stream: anyio.abc.SocketStream) -> bytes:
    """Hear whatever comes until the other side closes, or breaks off."""
    found = bytearray()
    try:
        async for chunk in stream:
            found += chunk
    except anyio.BrokenResourceError:
        pass
    return bytes(found)


@asynccontextmanager
async def listening(bus: FakeBus, drain_ms: int = 100, **chosen: Any) -> AsyncGenerator[Listening]:
    """Run one within the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    told = settings(port=port, **chosen)
    async with (
        edge(bus, told, "1.2.3") as (app, abandon),
        serving(app, listener, drain_ms, abandon, connection_limits(told)),
    ):
        yield Listening(port)
