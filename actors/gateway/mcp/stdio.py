"""MCP over stdin and stdout, for clients that start their servers themselves."""

from __future__ import annotations

from importlib import metadata

from mcp.server.stdio import stdio_server

from actors.gateway.access.caller import STDIO, called_by
from actors.gateway.asking import Asking, Desk
from actors.gateway.mcp.server import make_server
from actors.settings import Settings


async def serve_stdio(bus: Asking, settings: Settings) -> None:
    """Speak MCP over stdin and stdout until stdin ends; anything else that is printed goes to stderr."""
    server = make_server(Desk(bus, settings.restart_grace_ms, metadata.version("weft")))
    with called_by(STDIO):
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
