"""Speaking with the actors as their owner at this machine, whose trust level is local (002 §9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from actors.cli.running import connected, connected_or_private
from actors.settings import Loaded

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient


@asynccontextmanager
async def at_gateway(loaded: Loaded, *, or_private: bool = False) -> AsyncGenerator[GatewayClient]:
    """Yield a client of the running Weft.

    Where none runs, `or_private` starts one that ends with the block, and what it keeps ends with it.

    Raises:
        NotRunningError: there is none.
    """
    from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

    from actors.gateway.client import GatewayClient  # noqa: PLC0415 - imports the gateway

    joined = connected_or_private if or_private else connected
    async with joined(loaded, stdio=True) as bus:
        yield GatewayClient(bus, version("weft"), loaded.settings.restart_grace_ms)
