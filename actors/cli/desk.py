"""Speaking with the actors as their owner at this machine, whose trust level is local (002 §9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from actors.cli.running import connected, connected_or_private
from actors.settings import Loaded

if TYPE_CHECKING:
    from actors.gateway.asking import Desk


@asynccontextmanager
async def at_desk(loaded: Loaded, *, or_private: bool = False) -> AsyncGenerator[Desk]:
    """Return what the gateway's questions are asked with, at the running Weft.

    Where none runs, `or_private` starts one that ends with the block, and what it keeps ends with it.

    Raises:
        NotRunningError: there is none.
    """
    from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

    from actors.gateway.access.caller import STDIO, called_by  # noqa: PLC0415 - imports the gateway
    from actors.gateway.asking import Desk  # noqa: PLC0415 - as above

    joined = connected_or_private if or_private else connected
    async with joined(loaded, stdio=True) as bus:
        with called_by(STDIO):
            yield Desk(bus, loaded.settings.restart_grace_ms, version("weft"))
