"""What pusher-js makes of a server that cuts it off: it learns why, comes back, and hears what is told then."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread

from actors.gateway.push.sockets import MAX_FRAMES
from tests.push.listeners import NodeListener, node_listener
from tests.push.server import APP, CHANNEL, PushingServer, push_server

WITHIN_S = 240.0


@asynccontextmanager
async def listening(**chosen: int) -> AsyncGenerator[tuple[PushingServer, NodeListener]]:
    """Run a server, and pusher-js that has subscribed to the channel there."""
    async with push_server(WITHIN_S, **chosen) as server:
        config = {"key": APP.key, "host": "127.0.0.1", "port": server.port}
        with node_listener({"config": config, "channel": CHANNEL, "secret": APP.secret}) as listener:
            await next_of(listener, "pusher:subscription_succeeded")
            yield server, listener


async def next_of(listener: NodeListener, *names: str) -> object:
    return (await to_thread.run_sync(listener.next_of, *names))["data"]


async def comes_back(server: PushingServer, listener: NodeListener) -> None:
    """Hold pusher-js to hearing again what is told after it was cut off."""
    await next_of(listener, "pusher:subscription_succeeded")
    server.deliver(1)
    assert await next_of(listener, "new_message") == {"number": 0, "text": "x" * 10}


@pytest.mark.slow
async def test_who_does_not_answer_learns_that_and_connects_again() -> None:
    async with listening(activity_timeout_s=1) as (server, listener):
        listener.pause()
        while server.channels.sockets:
            await anyio.sleep(0.05)  # under the deadline
        listener.go_on()

        assert await next_of(listener, "error") == 4201
        await comes_back(server, listener)


@pytest.mark.slow
async def test_who_is_too_far_behind_learns_that_and_comes_back_later() -> None:
    async with listening() as (server, listener):
        server.deliver(MAX_FRAMES + 1)

        assert await next_of(listener, "error") == 4100
        await comes_back(server, listener)


@pytest.mark.slow
async def test_who_takes_nothing_is_cut_off_and_comes_back() -> None:
    """Here its line is full, so that it cannot be told why."""
    async with listening() as (server, listener):
        listener.pause()
        while server.channels.sockets:
            server.deliver(8, 9_000)
            await anyio.lowlevel.checkpoint()
        listener.go_on()

        await comes_back(server, listener)
