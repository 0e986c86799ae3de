"""What navigators learn of tiers, on a real server: shared, kept through restarts, within the navigator's grant."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from actors.actor import grant_of
from actors.navigator import Navigator
from actors.navigator.hosts import KnownHosts
from actors.navigator.memory import TierMemory
from bus import Bus
from protocol.faults import Code
from protocol.subjects import TIER_HISTORY
from protocol.tiers import TIERS, RenderTier
from tests.support.nats import OVERSEER, NatsServer, serve_nats
from tests.unit.actors.page_data import accepted, attempt, rejected

pytestmark = pytest.mark.nats

TEST_S = 240.0
CHEAP, LIGHT = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT
NEEDS_LIGHT = (attempt(CHEAP, rejected(Code.CONTENT_REQUIRES_JS)), attempt(LIGHT, accepted(LIGHT)))
SITES = [f"https://www.site-{number}.example/page" for number in range(50)] + ["http://[::1]:8080/", "http://10.0.0.1/"]


@asynccontextmanager
async def remembering(server: NatsServer, replica: str) -> AsyncGenerator[TierMemory]:
    """Take part as a replica of the navigator."""
    async with server.connect("navigator") as transport:
        bus = Bus(transport, "navigator", replica)
        memory = TierMemory(bus, KnownHosts(), 10)
        async with bus.running(), memory.open():
            yield memory


async def until(happened: Callable[[], bool]) -> None:
    while not happened():
        await anyio.sleep(0.01)


def light(memory: TierMemory) -> bool:
    return all(memory.start(url, TIERS).tier is LIGHT for url in SITES)


@pytest.mark.slow
async def test_what_is_learned_is_shared_and_outlives_everybody(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, {"navigator": grant_of(Navigator)}) as server:
            async with server.connect(OVERSEER) as transport:
                await transport.keys(TIER_HISTORY)
            async with remembering(server, "one") as one, remembering(server, "other") as other:
                for url in SITES:
                    one.record(url, NEEDS_LIGHT)
                await until(lambda: light(other))
                await server.kill()
                await server.start()
                other.record("https://late.example/", NEEDS_LIGHT)
                await until(lambda: one.start("https://late.example/", TIERS).tier is LIGHT)

            async with remembering(server, "third") as third:
                await until(lambda: light(third))


async def test_those_who_write_the_same_host_at_once_lose_nothing(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(tmp_path, {"navigator": grant_of(Navigator)}) as server,
            server.connect(OVERSEER) as transport,
        ):
            await transport.keys(TIER_HISTORY)
            async with remembering(server, "one") as one, remembering(server, "other") as other:
                for memory in (one, other) * 10:
                    memory.record("http://10.0.0.1/", NEEDS_LIGHT)
                await until(lambda: not one.histories.due and not other.histories.due)

            stored = await (await Bus(transport, OVERSEER, "r").table(TIER_HISTORY)).get("10.0.0.1")
            assert stored is not None
            assert stored.value is not None
            assert stored.value.tiers[LIGHT].run == 20
