"""uvicorn inside a task group of ours: no signal handlers, and a stop that is bounded."""

from __future__ import annotations

import math
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, cast

import anyio
import uvicorn
from starlette.types import ASGIApp

from actors.gateway.serving.connection import Connection, Socket
from actors.gateway.serving.connections import Connections

KEEP_ALIVE_S = 75
"""How long an idle connection is kept, in seconds: longer than clients keep theirs."""

MAX_MESSAGE_BYTES = 1_048_576
"""The largest message of a WebSocket."""

_LAST_WORDS_S = 1
"""What clients get to read the last answers, in seconds, after the time to finish is over."""


@asynccontextmanager
async def serving(
    app: ASGIApp,
    listener: socket.socket,
    drain_ms: int,
    abandon: Callable[[], None],
    connections: Connections | None = None,
) -> AsyncGenerator[None, None]:
    """Serve `app` on a listening socket, which is closed in the end; `connections` bounds those that are open.

    At the end of the block nothing new is accepted, and what is in hand gets `drain_ms` to finish; then `abandon` is
    called, which has to end it. When the block fails, what is in hand gets no time.
    """
    # asyncio sets this itself only for sockets that name their protocol, and 40 ms per answer hang on it
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _Server(_configuration(app, drain_ms, connections or Connections()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.live, listener)
        await server.accepting.wait()
        try:
            yield
        except BaseException:
            drain_ms = 0
            raise
        finally:
            server.should_exit = True
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(drain_ms / 1_000):
                    await server.stopped.wait()
                abandon()
                await server.stopped.wait()


class _Server(uvicorn.Server):
    """A server that leaves signals alone, and tells when it accepts and when it has stopped."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = anyio.Event()
        self.stopped = anyio.Event()

    async def live(self, listener: socket.socket) -> None:
        with anyio.CancelScope(shield=True):  # cancelled, it would leave its connections behind
            try:
                await self.serve([listener])
            finally:
                self.stopped.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


def _configuration(app: ASGIApp, drain_ms: int, connections: Connections) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="none",
        http=cast("Any", partial(Connection, connections)),
        ws=cast("Any", partial(Socket, connections)),
        ws_max_size=MAX_MESSAGE_BYTES,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(drain_ms / 1_000) + _LAST_WORDS_S,
    )
