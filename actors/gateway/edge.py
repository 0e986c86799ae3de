"""The whole ASGI application of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.routing import Route
from starlette.types import ASGIApp

from actors.gateway import mcp, rest
from actors.gateway.asking import Asking
from actors.gateway.exchange import Exchanges
from actors.gateway.security import Gate, Marks, rules
from actors.settings import Settings


class Edge(NamedTuple):
    """The application, and what ends the requests it has in hand when there is no more time for them."""

    app: ASGIApp
    abandon: Callable[[], None]


@asynccontextmanager
async def edge(bus: Asking, settings: Settings, version: str) -> AsyncGenerator[Edge, None]:
    """Make the application that listens at `settings.host` and `settings.port`; it works within the block."""
    manager = mcp.make_manager(mcp.make_server(bus, settings, version))
    desk = rest.Desk(bus, settings.restart_grace_ms, version)
    routes = rest.router(desk, Route(mcp.PATH, mcp.PostOnly(manager)))
    allowed = rules(settings, rest.OPEN_PATHS)
    exchanges = Exchanges(Gate(routes, allowed), rest.PATHS | {mcp.PATH}, rest.PROBES, bus.meter("http"))
    async with manager.run():
        yield Edge(Marks(exchanges, allowed), exchanges.abandon)
