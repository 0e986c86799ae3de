"""The whole ASGI application of the gateway."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from actors.gateway.access.authentication import access_control
from actors.gateway.access.gate import Gate
from actors.gateway.access.security_headers import SecurityHeaders
from actors.gateway.access.sockets import Socket, SocketGate
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.mcp.here import Here
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import toolsets_of
from actors.gateway.mcp.transport import http
from actors.gateway.rest import endpoints, metadata
from actors.gateway.rest.envelope import Enveloped
from actors.gateway.rest.routing import router
from actors.gateway.serving.exchange import Exchanges
from actors.settings import Settings
from bus.context import new_id

SOCKETS: tuple[Socket, ...] = ()
"""The WebSockets that clients may open."""


class Edge(NamedTuple):
    """The application, and what ends the requests it has in hand when there is no more time for them."""

    app: ASGIApp
    abandon: Callable[[], None]


@asynccontextmanager
async def edge(
    bus: BusClient, settings: Settings, version: str, here: Here | None = None
) -> AsyncGenerator[Edge, None]:
    """Make the application that listens at `settings.host` and `settings.port`; it works within the block.

    `here` is what others on the bus speak to by the name of this replica; without it, none do.
    """
    here = here or Here(new_id())
    async with access_control(bus, settings, endpoints.OPEN_PATHS, here.replica) as access:
        app = AppContext(
            bus=bus,
            grace_ms=settings.restart_grace_ms,
            version=version,
            watchers=here.watchers,
            naming=settings.api_key.encode(),
            keys=access.credentials.key_store,
            ledger=access.ledger,
        )
        mcp = http.Endpoint(make_server(app, here.offers), app, here, toolsets_of(settings))
        table = (*endpoints.ENDPOINTS, *metadata.endpoints(settings))
        routes = router(app, table, {http.PATH: mcp})
        async with mcp.running(), anyio.create_task_group() as watchers:
            exchanges = Exchanges(
                Gate(routes, access),
                SecurityHeaders(access.rules),
                endpoints.PATHS | {http.PATH},
                endpoints.PROBES,
                bus.meter("http"),
                watchers,
            )
            ways: ASGIApp = Ways(Enveloped(exchanges), SocketGate(access, SOCKETS))
            if settings.trusted_proxies:
                ways = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", ways), list(settings.trusted_proxies)))

            def abandon() -> None:
                app.closing.set()
                exchanges.abandon()

            yield Edge(ways, abandon)
            watchers.cancel_scope.cancel()


@dataclass(frozen=True)
class Ways:
    """ASGI: the two ways in, requests and WebSockets."""

    http: ASGIApp
    websocket: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes in."""
        await (self.websocket if scope["type"] == "websocket" else self.http)(scope, receive, send)
