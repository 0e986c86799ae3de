"""The whole ASGI application of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.routing import Route
from starlette.types import ASGIApp

from actors.gateway.access.gate import Gate, Marks, rules
from actors.gateway.asking import Asking, Desk
from actors.gateway.exchange import Exchanges
from actors.gateway.here import Here
from actors.gateway.mcp import http
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import toolsets_of
from actors.gateway.rest import endpoints
from actors.gateway.rest.routing import router
from actors.settings import Settings
from bus.ids import new_id


class Edge(NamedTuple):
    """The application, and what ends the requests it has in hand when there is no more time for them."""

    app: ASGIApp
    abandon: Callable[[], None]


@asynccontextmanager
async def edge(bus: Asking, settings: Settings, version: str, here: Here | None = None) -> AsyncGenerator[Edge, None]:
    """Make the application that listens at `settings.host` and `settings.port`; it works within the block.

    `here` is what others on the bus speak to by the name of this replica; without it, none do.
    """
    here = here or Here(new_id())
    desk = Desk(bus, settings.restart_grace_ms, version, here.watchers, settings.api_key.encode())
    mcp = http.Endpoint(make_server(desk), desk, here, toolsets_of(settings))
    routes = router(desk, endpoints.ENDPOINTS, Route(http.PATH, mcp))
    allowed = rules(settings, endpoints.OPEN_PATHS)
    exchanges = Exchanges(Gate(routes, allowed), endpoints.PATHS | {http.PATH}, endpoints.PROBES, bus.meter("http"))
    async with mcp.running():
        yield Edge(Marks(exchanges, allowed), exchanges.abandon)
