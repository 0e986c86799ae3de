"""`weft mcp`: MCP over stdio, for clients that start their servers themselves."""

from __future__ import annotations

import anyio

from actors.cli.options import ConfigFile, DataDir, LogLevel, read
from actors.cli.running import connected_or_private
from actors.settings import Loaded


def mcp(*, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None) -> None:
    """Speak MCP over stdin and stdout.

    For an MCP client that starts its servers itself. Uses the running Weft, or starts a private one that ends with the
    client. Nothing but the protocol is written to stdout; the log goes to stderr.
    """
    anyio.run(_serve, read(config, data_dir, log_level))


async def _serve(loaded: Loaded) -> None:
    from actors.gateway.mcp.stdio import serve_stdio  # noqa: PLC0415 - imports the MCP SDK
    from actors.gateway.watching import Watchers  # noqa: PLC0415 - imports anyio's streams
    from protocol.subjects import PROGRESS  # noqa: PLC0415 - imports the table of subjects

    async with connected_or_private(loaded) as bus:
        watchers = Watchers(bus.replica)
        await bus.serve(PROGRESS.answered_by(bus.replica), watchers.heard, at_once=1)
        await serve_stdio(bus, loaded.settings, watchers)
