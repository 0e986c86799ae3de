"""Sealed tables: whoever has the key reads them, and the bus holds nothing that can be read."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bus import Bus
from bus.seal import Seal, new_key
from bus.table import Change
from tests.contract.world import SAFE, Ask, MakeWorld, World, taking_part

KEY = new_key()


@asynccontextmanager
async def trusted(world: World, key: str = KEY) -> AsyncGenerator[Bus]:
    """Take part with a key."""
    async with taking_part(world, "trusted") as bus:
        bus.seal = Seal.of(key)
        yield bus


async def test_whoever_has_the_key_reads_what_was_put(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world) as other:
        table = await one.table(SAFE)
        first = await table.put("a/b", Ask(text="secret"), revision=0)
        second = await table.put("a/b", Ask(text="secret two"), revision=first)

        async with (await other.table(SAFE)).watch() as changes:
            seen = await anext(changes)

        assert seen == Change("a/b", Ask(text="secret two"), second)
        assert await (await other.table(SAFE)).get("a/b") == seen


async def test_nothing_of_it_can_be_read_on_the_bus(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        await (await bus.table(SAFE)).put("a", Ask(text="very-secret", number=123456789))

        raw = await (await bus.transport.keys(SAFE)).get("a")

        assert raw is not None
        assert raw.value is not None
        for part in (b"very", b"secret", b"text", b"123456789"):
            assert part not in raw.value


async def test_with_another_key_there_is_nothing(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world, new_key()) as other:
        await (await one.table(SAFE)).put("a", Ask(text="secret"))
        table = await other.table(SAFE)

        async with table.watch() as changes:
            seen = await anext(changes)

        assert (await table.get("a"), seen.value, await table.names()) == (None, None, ["a"])


async def test_a_value_that_was_moved_to_another_key_does_not_open(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        table, keys = await bus.table(SAFE), await bus.transport.keys(SAFE)
        await table.put("alice", Ask(text="secret"))
        stolen = await keys.get("alice")
        assert stolen is not None
        assert stolen.value is not None

        await keys.put("mallory", stolen.value)

        assert await table.get("mallory") is None


async def test_a_value_that_was_tampered_with_counts_as_none(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        table, keys = await bus.table(SAFE), await bus.transport.keys(SAFE)
        await table.put("a", Ask(text="secret"))
        entry = await keys.get("a")
        assert entry is not None
        assert entry.value is not None

        await keys.put("a", entry.value[:-1] + bytes([entry.value[-1] ^ 1]))

        assert await table.get("a") is None


async def test_without_a_key_a_sealed_table_stays_shut(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "trusted") as bus:
        with pytest.raises(ValueError, match="safe is sealed"):
            await bus.table(SAFE)
