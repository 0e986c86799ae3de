"""Finding the Weft that runs with a data folder, or starting a private one for one call."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from actors.cli.errors import first, not_running
from actors.runtime.rundir import Ready, read_ready
from actors.settings import Loaded, Settings
from protocol.faults import Category, FaultError

if TYPE_CHECKING:
    from bus.bus import Bus

HEALTH_TIMEOUT_S = 2.0


async def find(settings: Settings) -> Ready | None:
    """Find the system that runs with the data folder and answers at its edge."""
    ready = read_ready(settings.data_dir)
    if ready is None or not ready.rest:
        return None
    import httpx2  # noqa: PLC0415 - costs 100 ms

    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(trust_env=False, timeout=HEALTH_TIMEOUT_S) as client:
            answer = await client.get(f"{ready.rest}/healthz")
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return None
    return ready if answer.is_success else None


def key_of(settings: Settings, ready: Ready) -> str:
    """Return the key of a running system."""
    return settings.api_key or Path(ready.key_file).read_text(encoding="ascii").strip()


@asynccontextmanager
async def connected(loaded: Loaded, *, stdio: bool = False) -> AsyncGenerator[Bus, None]:
    """Join the bus of the running system, to look and ask or to speak MCP over stdio.

    Raises:
        NotRunningError: there is none, or it cannot be reached.
    """
    from actors.runtime.launch import connect  # noqa: PLC0415 - imports the bus

    settings = quiet(loaded)
    async with AsyncExitStack() as stack:
        try:
            bus = await stack.enter_async_context(connect(settings, stdio=stdio))
        except Exception as error:
            if not _is_absence(error):
                raise
            raise not_running(settings.data_dir) from None
        yield bus


@asynccontextmanager
async def private(loaded: Loaded) -> AsyncGenerator[Bus, None]:
    """Start a system of one's own in this process, on a temporary data folder, and join its bus."""
    from actors.runtime.launch import private as launch_private  # noqa: PLC0415 - imports the bus

    async with launch_private(quiet(loaded)) as system:
        yield system.bus


@asynccontextmanager
async def connected_or_private(loaded: Loaded, *, stdio: bool = False) -> AsyncGenerator[Bus, None]:
    """Join the bus of the running system, or else of a private one."""
    there_is_one = loaded.settings.nats_url or read_ready(loaded.settings.data_dir)
    async with connected(loaded, stdio=stdio) if there_is_one else private(loaded) as bus:
        yield bus


def quiet(loaded: Loaded) -> Settings:
    """Have the log written to stderr, warnings and worse unless a level was chosen, and give the settings so."""
    from bus.telemetry import configure  # noqa: PLC0415 - imports structlog

    chosen = loaded.origins["log_level"] != "default"
    settings = loaded.settings if chosen else msgspec.structs.replace(loaded.settings, log_level="warning")
    configure(settings.log_level, settings.log_format)
    return settings


def _is_absence(error: Exception) -> bool:
    found = first(error, FaultError)
    return found.fault.category is Category.INTERNAL if found else first(error, OSError) is not None
