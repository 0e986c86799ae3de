"""An engine that answers as a test wants, on a unix socket."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio import Event
from websockets.asyncio.server import ServerConnection, unix_serve

Behaviour = Callable[[ServerConnection], Awaitable[None]]


async def echo(socket: ServerConnection) -> None:
    """Answer each call with its own method and parameters."""
    async for data in socket:
        message: dict[str, Any] = msgspec.json.decode(data)
        result = {"method": message["method"], "params": message.get("params"), "session": message.get("sessionId")}
        await socket.send(msgspec.json.encode({"id": message["id"], "result": result}), text=True)


@asynccontextmanager
async def answering(behaviour: Behaviour = echo) -> AsyncGenerator[Path]:
    """Listen while the block lasts."""
    with anyio.fail_after(90), tempfile.TemporaryDirectory(prefix="weft-") as folder:
        path = Path(folder) / "s"
        async with unix_serve(behaviour, str(path), max_size=None):
            yield path


class FakeProcess:
    """A process that listens until it is killed."""

    def __init__(self, number: int) -> None:
        self.ended = Event()
        self.pid = number
        self.resident_bytes = 1
        self.socket = Path()
        self._killed = Event()

    @property
    def cpu_s(self) -> float:
        """Nothing is computed."""
        return 0.0

    def give_way(self) -> None:
        """Do nothing."""

    async def serve(self, ready: Event) -> None:
        """Listen until killed."""
        try:
            async with answering() as self.socket:
                ready.set()
                await self._killed.wait()
        finally:
            self.ended.set()

    def kill(self) -> None:
        """End it."""
        self._killed.set()
