"""Clients of several replicas that share a real bus, and a site whose name is not an address."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from actors.settings import Settings
from actors.web.client import BUCKETS, WebClient, web_client
from bus import Bus
from bus.permissions import grant
from bus.seal import Seal, new_key
from tests.site import Site, serve_site
from tests.support.nats import OVERSEER, NatsServer, serve_nats

FETCHER = "fetchers.test"
OWN = ("127.0.0.0/8",)
TEST_S = 240.0


@dataclass(frozen=True)
class Replicas:
    """Everybody who takes part; each client has a connection of its own."""

    site: Site
    bus: NatsServer
    clients: Sequence[WebClient]

    def url(self, path: str) -> str:
        """Return the address of a path by a name, which is paced as those of strangers are."""
        return f"http://localhost:{self.site.port}{path}"


@asynccontextmanager
async def replicas(folder: Path, count: int, **settings: object) -> AsyncGenerator[Replicas]:
    """Run a site, a bus and clients."""
    chosen = Settings(allow_private=OWN, **settings)  # type: ignore[arg-type]  # a test's shorthand
    with anyio.fail_after(TEST_S):
        async with (
            serve_site() as site,
            serve_nats(folder, {FETCHER: grant(FETCHER, [], [], BUCKETS)}) as server,
            AsyncExitStack() as stack,
        ):
            overseer = await stack.enter_async_context(server.connect(OVERSEER))
            for bucket in BUCKETS:
                await overseer.keys(bucket)
            seal, clients = Seal.of(new_key()), list[WebClient]()
            for number in range(count):
                bus = Bus(await stack.enter_async_context(server.connect(FETCHER)), FETCHER, f"r{number}")
                bus.seal = seal
                clients.append(await stack.enter_async_context(web_client(chosen, bus)))
            yield Replicas(site, server, clients)
