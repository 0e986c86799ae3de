"""MCP over stdin and stdout, for clients that start their servers themselves."""

from __future__ import annotations

from importlib import metadata

from mcp.server.stdio import stdio_server

from actors.gateway.access.caller import STDIO, called_by
from actors.gateway.asking import Asking, Desk
from actors.gateway.mcp.here import Here
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import choosing, toolsets_of
from actors.gateway.mcp.transport.label import labelled, new_label
from actors.gateway.mcp.transport.progress import reporting
from actors.settings import Settings


async def serve_stdio(bus: Asking, settings: Settings, here: Here) -> None:
    """Speak MCP over stdin and stdout until stdin ends; anything else that is printed goes to stderr.

    `here` is told what others on the bus say to whoever speaks MCP (`Here.events`).
    """
    desk = Desk(bus, settings.restart_grace_ms, metadata.version("weft"), here.watchers)
    server = make_server(desk, here.offers)
    server.middleware.append(reporting(desk))
    with called_by(STDIO), labelled(new_label().name), choosing(toolsets_of(settings)):
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
