"""What one navigator learns, all know; no browse waits for it, and trouble on the bus loses nothing of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from actors.navigator import memory
from actors.navigator.attempts import Failed
from actors.navigator.choice import Early, StartReason
from actors.navigator.history import MAX_SHAPES, MAX_WAITING, HistoryCache
from actors.navigator.hosts import KnownHosts, SiteKey, site_key_of
from actors.navigator.memory import PROBE_MS, StartAdvice, TierMemory
from bus import Bus
from bus.memory import Broker, MemoryTransport
from bus.stores import KeyTable
from protocol.faults import Code, fault
from protocol.subject_kinds import Bucket
from protocol.subjects import TIER_HISTORY
from protocol.tiers import TIERS, HostKind, RenderTier, TierHistory
from tests.unit.actors.page_data import accepted, attempt, rejected

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
TEST_S = 240.0
URL = "https://shop.example/cart?id=7"
KEY = "shop.example"

STATIC = (attempt(CHEAP, accepted()),)
NEEDS_LIGHT = (attempt(CHEAP, rejected(Code.CONTENT_REQUIRES_JS)), attempt(LIGHT, accepted(LIGHT)))
NEEDS_BROWSER = (
    attempt(CHEAP, rejected(Code.CONTENT_REQUIRES_JS)),
    attempt(LIGHT, rejected(Code.CONTENT_REQUIRES_JS, LIGHT)),
    attempt(BROWSER, accepted(BROWSER)),
)
BY_BROWSER = (attempt(BROWSER, accepted(BROWSER)),)
DOWN = (attempt(CHEAP, Failed(fault(Code.NETWORK_CONNECTION_FAILED))),)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather and retry in no time."""
    monkeypatch.setattr(memory, "GATHER_S", 0.01)
    monkeypatch.setattr(memory, "RETRY_S", 0.01)


@dataclass
class Clock:
    """Stands still unless it is set."""

    now_ms: int = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@dataclass
class Part:
    """One navigator's memory on the bus."""

    memory: TierMemory
    bus: Bus
    transport: MemoryTransport

    async def stored(self, key: str = KEY) -> TierHistory | None:
        found = await (await self.bus.table(TIER_HISTORY)).get(key)
        return None if found is None else found.value


@asynccontextmanager
async def parts(count: int = 1) -> AsyncGenerator[list[Part]]:
    """Run some navigators' memories on one bus."""
    with anyio.fail_after(TEST_S):
        async with Broker() as broker, AsyncExitStack() as stack:
            yield [await stack.enter_async_context(taking_part(broker, number)) for number in range(count)]


@asynccontextmanager
async def taking_part(broker: Broker, number: int = 0) -> AsyncGenerator[Part]:
    transport = broker.connect(f"navigator{number}")
    bus = Bus(transport, "navigator", f"r{number}")
    async with bus.running():
        part = Part(TierMemory(bus, KnownHosts(), 10, Clock()), bus, transport)
        async with part.memory.open():
            yield part
    await transport.close()


def place(url: str = URL) -> SiteKey:
    found = site_key_of(url)
    assert found is not None
    return found


async def until(happened: Callable[[], bool]) -> None:
    while not happened():
        await anyio.sleep(0.002)


# What one knows by itself.


def alone(hosts: KnownHosts = KnownHosts()) -> TierMemory:  # noqa: B008 - frozen
    """Make a memory that is never opened: it works, for itself."""
    return TierMemory(NoBus(), hosts, 10, Clock())


class NoBus:
    async def table(self, bucket: Bucket[Any]) -> KeyTable[Any]:
        raise NotImplementedError


def test_the_next_visit_begins_where_the_last_ended() -> None:
    one = alone()
    assert one.start(URL, TIERS) == StartAdvice(CHEAP, StartReason.CHEAPEST)

    one.record(URL, NEEDS_LIGHT)

    assert one.start("http://shop.example/other", TIERS) == StartAdvice(LIGHT, StartReason.LEARNED)
    assert one.start("https://elsewhere.example/", TIERS) == StartAdvice(CHEAP, StartReason.CHEAPEST)


def test_pages_that_are_made_alike_are_known_by_each_other_whatever_the_rest_of_the_host_needs() -> None:
    one = alone()
    for number in range(6):
        one.record(f"https://shop.example/app/{number}", NEEDS_BROWSER)
    one.record("https://shop.example/article/1-warp", STATIC)
    one.record("https://shop.example/article/2-weft", STATIC)

    assert one.start("https://shop.example/article/3-shed", TIERS).tier is CHEAP
    assert one.start("https://shop.example/app/9", TIERS) == StartAdvice(BROWSER, StartReason.LEARNED)
    assert one.start("https://shop.example/nobody/was/here", TIERS).reason == StartReason.LEARNED


def test_of_a_host_so_many_shapes_are_remembered_and_the_rest_is_known_by_the_host() -> None:
    one = alone()
    for number in range(2 * MAX_SHAPES):
        one.record(f"https://shop.example/{'a' * (1 + number // 12)}/{'b' * (1 + number % 12)}", NEEDS_LIGHT)

    assert len(one.histories.due) == MAX_SHAPES + 2
    assert one.start("https://shop.example/elsewhere", TIERS).tier is LIGHT


def test_known_hosts_count_from_the_first_visit() -> None:
    one = alone(KnownHosts({"shop.example": HostKind.BROWSER_ONLY}))

    assert one.start("https://www.shop.example/", TIERS) == StartAdvice(BROWSER, StartReason.BROWSER_ONLY)


def test_what_failed_for_a_while_leaves_no_trace() -> None:
    one = alone()

    one.record(URL, DOWN)

    assert one.histories == HistoryCache()


@pytest.mark.parametrize("url", ["", "no address", "http://[x/"])
def test_what_is_no_address_is_neither_known_nor_learned(url: str) -> None:
    one = alone()

    one.record(url, STATIC)

    assert one.start(url, TIERS) == StartAdvice()
    assert one.hedge(url, CHEAP, TIERS) is None
    assert one.histories == HistoryCache()


def test_a_new_host_begins_with_what_its_domain_leaves_to_it() -> None:
    one = alone()
    for _ in range(4):
        one.record("https://a.shop.example/", NEEDS_BROWSER)

    assert one.start("https://b.shop.example/", TIERS) == StartAdvice(BROWSER, StartReason.LEARNED)
    one.record("https://b.shop.example/", BY_BROWSER)
    assert one.start("https://b.shop.example/", TIERS) == StartAdvice(BROWSER, StartReason.LEARNED)
    assert one.start("https://shop.example.org/", TIERS) == StartAdvice(CHEAP, StartReason.CHEAPEST)


def test_another_port_is_another_site() -> None:
    one = alone()
    one.record("http://127.0.0.1:1000/", NEEDS_LIGHT)

    assert one.start("http://127.0.0.1:1000/", TIERS).tier is LIGHT
    assert one.start("http://127.0.0.1:2000/", TIERS).tier is CHEAP


def probing() -> TierMemory:
    """Make a memory of a host whose cheaper tiers are due to be tried anew."""
    one = alone()
    for taught in [NEEDS_BROWSER] * 4 + [BY_BROWSER] * 3:
        one.record(URL, taught)
    return one


def test_of_the_visits_at_the_same_time_one_probes() -> None:
    one = probing()

    assert [one.start(URL, TIERS) for _ in range(3)] == [
        StartAdvice(CHEAP, StartReason.PROBE),
        StartAdvice(BROWSER, StartReason.LEARNED),
        StartAdvice(BROWSER, StartReason.LEARNED),
    ]
    one.record(URL, BY_BROWSER)
    assert one.start(URL, TIERS).tier is BROWSER


def test_a_probe_that_failed_for_a_while_is_made_again() -> None:
    one = probing()
    one.start(URL, TIERS)

    one.record(URL, DOWN)

    assert one.start(URL, TIERS) == StartAdvice(CHEAP, StartReason.PROBE)


def test_a_probe_that_never_ends_keeps_others_away_for_a_minute() -> None:
    one = probing()
    one.start(URL, TIERS)
    assert isinstance(one.clock, Clock)

    one.clock.now_ms += PROBE_MS

    assert one.start(URL, TIERS) == StartAdvice(CHEAP, StartReason.PROBE)


def test_the_next_tier_is_started_early_beside_one_that_mostly_fails() -> None:
    one = probing()

    early = one.hedge(URL, CHEAP, TIERS)

    assert early is not None
    assert early == Early(LIGHT, early.after_ms)
    assert one.hedge(URL, BROWSER, TIERS) is None


def test_the_hosts_that_were_longest_unused_are_forgotten() -> None:
    one = alone()
    one.histories.max_hosts = 8
    for name in ("a", "b", "c"):
        one.record(f"https://{name}.example:1/", NEEDS_LIGHT)
    one.start("https://a.example:1/", TIERS)
    for name in ("d", "e"):
        one.record(f"https://{name}.example:1/", NEEDS_LIGHT)

    tiers = [one.start(f"https://{name}.example:1/", TIERS).tier for name in "abcde"]
    assert tiers == [LIGHT, CHEAP, LIGHT, LIGHT, LIGHT]
    assert len(one.histories.due) == 8


def test_what_waits_for_the_bus_is_bounded() -> None:
    one = alone()
    for _ in range(3 * MAX_WAITING):
        one.record(URL, STATIC)

    assert one.histories.waiting(KEY) == MAX_WAITING


# What all know.


async def test_what_one_learns_all_know() -> None:
    async with parts(2) as (one, other):
        one.memory.record(URL, NEEDS_LIGHT)

        await until(lambda: other.memory.start(URL, TIERS).tier is LIGHT)
        await until(lambda: not one.memory.histories.due)
        assert one.memory.histories.of(place()) == other.memory.histories.of(place()) == await one.stored()


async def test_who_comes_later_knows_what_was_learned_before() -> None:
    async with parts(1) as (one,):
        one.memory.record(URL, NEEDS_LIGHT)
        await until(lambda: not one.memory.histories.due)
        late = TierMemory(one.bus, KnownHosts(), 10, Clock())

        async with late.open():
            await until(lambda: late.start(URL, TIERS).tier is LIGHT)


async def test_those_who_write_at_once_lose_nothing() -> None:
    async with parts(4) as navigators:
        for _ in range(5):
            for part in navigators:
                part.memory.record(URL, STATIC)
            await anyio.lowlevel.checkpoint()
        await until(lambda: not any(part.memory.histories.due for part in navigators))

        stored = await navigators[0].stored()
        assert stored is not None
        assert stored.tiers[CHEAP].run == 20


async def test_what_is_in_hand_at_the_end_is_written() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            async with taking_part(broker) as one:
                one.memory.record(URL, NEEDS_LIGHT)

            async with taking_part(broker) as other:
                assert await other.stored() is not None


async def test_while_the_bus_is_broken_it_learns_for_itself_and_tells_later() -> None:
    async with parts(2) as (one, other):
        one.memory.record(URL, STATIC)
        await until(lambda: other.memory.histories.of(place()) is not None)
        await one.transport.disconnect()

        for _ in range(4):
            one.memory.record(URL, NEEDS_LIGHT)
        other.memory.record(URL, NEEDS_LIGHT)
        assert one.memory.start(URL, TIERS).tier is LIGHT
        await until(lambda: not other.memory.histories.due)
        await one.transport.reconnect()

        await until(lambda: not one.memory.histories.due)
        stored = await one.stored()
        assert stored is not None
        assert stored.tiers[LIGHT].run == 5


async def test_a_key_that_nobody_can_read_is_written_over() -> None:
    async with parts(1) as (one,):
        garbled = await one.bus.table(Bucket(TIER_HISTORY.name, int))
        await garbled.put(KEY, 7)

        one.memory.record(URL, NEEDS_LIGHT)

        await until(lambda: not one.memory.histories.due)
        assert await one.stored() is not None


async def test_a_history_that_was_removed_is_forgotten() -> None:
    async with parts(1) as (one,):
        one.memory.record(URL, NEEDS_LIGHT)
        await until(lambda: not one.memory.histories.due)

        table = await one.bus.table(TIER_HISTORY)
        await table.delete(KEY)
        await table.delete(f"{KEY}/any")
        await table.delete(place().shape_key)

        await until(lambda: one.memory.histories.of(place()) is None)


async def test_only_hosts_and_hashes_of_shapes_are_written() -> None:
    async with parts(1) as (one,):
        url = "https://a.shop.example/private?token=1#here"
        one.memory.record(url, NEEDS_LIGHT)
        await until(lambda: not one.memory.histories.due)

        table = await one.bus.table(TIER_HISTORY)
        async with table.watch() as changes:
            keys = {(await anext(changes)).key for _ in range(3)}
        assert keys == {"a.shop.example", "shop.example/any", place(url).shape_key}
