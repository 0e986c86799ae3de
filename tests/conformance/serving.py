"""A gateway in a process of its own, with the actor of the suite on the same nats-server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from tests.conformance.fixture import Fixture, fixture
from tests.conformance.offer import PLAIN_TOOLS
from tests.support.nats import serve_open_nats
from tests.support.system import RunningWeft, running_weft

LOOK_S = 0.02


@asynccontextmanager
async def gateway(folder: Path) -> AsyncGenerator[tuple[RunningWeft, Fixture, str]]:
    """Return a gateway that has heard what is offered, the actor that offers it, and the address of their NATS."""
    async with (
        serve_open_nats(folder / "nats") as url,
        fixture(url) as actor,
        running_weft(folder / "weft", ("--nats", url, "--actors", "gateway")) as weft,
    ):
        await _until_offered(weft)
        yield weft, actor, url


async def _until_offered(weft: RunningWeft) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with weft.client() as client:
        while True:
            listed = await client.post("/mcp", json=request, headers={"Accept": "application/json"})
            if PLAIN_TOOLS[0] in listed.text:
                return
            await anyio.sleep(LOOK_S)
