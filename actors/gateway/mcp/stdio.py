"""MCP over stdin and stdout, for clients that start their servers themselves."""

from __future__ import annotations

from importlib import metadata

from mcp.server.stdio import stdio_server

from actors.gateway.access.caller import STDIO, called_by
from actors.gateway.asking import Asking, Desk
from actors.gateway.mcp.label import labelled, new_label
from actors.gateway.mcp.offers import Offers
from actors.gateway.mcp.progress import reporting
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import choosing, toolsets_of
from actors.gateway.watching import Watchers
from actors.settings import Settings


async def serve_stdio(bus: Asking, settings: Settings, watchers: Watchers, offers: Offers | None = None) -> None:
    """Speak MCP over stdin and stdout until stdin ends; anything else that is printed goes to stderr.

    `watchers` are told what others on the bus say of the progress of work, `offers` what they say of what they offer.
    """
    desk = Desk(bus, settings.restart_grace_ms, metadata.version("weft"), watchers)
    server = make_server(desk, offers)
    server.middleware.append(reporting(desk))
    with called_by(STDIO), labelled(new_label().name), choosing(toolsets_of(settings)):
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
