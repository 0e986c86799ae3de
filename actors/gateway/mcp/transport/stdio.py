"""MCP over stdin and stdout, for clients that start their servers themselves."""

from __future__ import annotations

from importlib import metadata

from mcp.server.stdio import stdio_server

from actors.gateway.access.caller import STDIO
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.mcp.here import Here
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import toolsets_of
from actors.gateway.mcp.transport.client_id import new_client_id
from actors.gateway.mcp.transport.progress import reporting
from actors.gateway.request import RequestContext
from actors.settings import Settings


async def serve_stdio(bus: BusClient, settings: Settings, here: Here) -> None:
    """Speak MCP over stdin and stdout until stdin ends; anything else that is printed goes to stderr.

    `here` is told what others on the bus say to whoever speaks MCP (`Here.events`).
    """
    app = AppContext(
        bus=bus, grace_ms=settings.restart_grace_ms, version=metadata.version("weft"), watchers=here.watchers
    )
    request = RequestContext(caller=STDIO, client_id=new_client_id().name, toolsets=toolsets_of(settings))
    server = make_server(app, here.offers, request)
    server.middleware.append(reporting(app.watchers))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
