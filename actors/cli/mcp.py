"""`weft mcp`: MCP over stdio, for clients that start their servers themselves."""

from __future__ import annotations

import gc

import anyio

from actors.cli.options import ConfigFile, DataDir, LogLevel, read
from actors.cli.running import connected_or_private
from actors.settings import Loaded


def mcp(*, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None) -> None:
    """Speak MCP over stdin and stdout.

    For an MCP client that starts its servers itself. Uses the running Weft, or starts a private one that ends with the
    client. Nothing but the protocol is written to stdout; the log goes to stderr.
    """
    gc.disable()  # the client waits while thousands of classes are made, and the collector would look at all of them
    anyio.run(_serve, read(config, data_dir, log_level))


async def _serve(loaded: Loaded) -> None:
    from actors.gateway.client import load_stdio_server  # noqa: PLC0415 - imports the gateway

    serve_stdio = load_stdio_server()
    gc.freeze()
    gc.enable()
    async with connected_or_private(loaded, stdio=True) as bus:
        await serve_stdio(bus, loaded.settings)
