"""Sealed tables, journals and stores: whoever has the key reads them, and the bus holds nothing that can be read."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bus import Bus
from bus.seal import Seal, UnsealError, new_key
from bus.stores import KeyChange
from tests.contract.world import CIPHERS, SAFE, STRONGROOM, Ask, MakeWorld, World, taking_part

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

        assert seen == KeyChange("a/b", Ask(text="secret two"), second)
        assert await (await other.table(SAFE)).get("a/b") == seen


async def test_nothing_of_it_can_be_read_on_the_bus(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        await (await bus.table(SAFE)).put("a", Ask(text="very-secret", number=123456789))

        raw = await (await bus.transport.keys(SAFE)).get("a")

        assert raw is not None
        assert raw.value is not None
        for part in (b"very", b"secret", b"text", b"123456789"):
            assert part not in raw.value


@pytest.mark.slow
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


async def test_whoever_has_the_key_reads_the_lines_of_a_journal(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world) as other:
        journal = await other.journal(CIPHERS)
        sequence = await (await one.journal(CIPHERS)).append("run.a", Ask(text="very-secret"), last=0)
        raw = await (await one.transport.records(CIPHERS)).last("run.a")

        line = await journal.last("run.a")

        assert line is not None
        assert (line.sequence, line.value) == (sequence, Ask(text="very-secret"))
        assert [line.value async for line in journal.read("run.*")] == [Ask(text="very-secret")]
        assert raw is not None
        assert b"secret" not in raw.data


async def test_lines_of_another_key_are_passed_over(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world, new_key()) as other:
        mine, theirs = await one.journal(CIPHERS), await other.journal(CIPHERS)
        first = await mine.append("run.a", Ask(text="mine"))
        await theirs.append("run.a", Ask(text="theirs"))
        await mine.append("run.a", Ask(text="mine too"))

        assert [line.value.text async for line in mine.read()] == ["mine", "mine too"]
        assert [line.value.text async for line in theirs.read()] == ["theirs"]
        assert (await theirs.last("run.a"), await theirs.at(first)) == (None, None)
        async with theirs.follow() as lines:
            assert (await anext(lines)).value.text == "theirs"


async def test_a_line_that_was_moved_to_another_topic_does_not_open(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        journal, records = await bus.journal(CIPHERS), await bus.transport.records(CIPHERS)
        await journal.append("run.alice", Ask(text="secret"))
        stolen = await records.last("run.alice")
        assert stolen is not None

        await records.append("run.mallory", stolen.data)

        assert await journal.last("run.mallory") is None


async def test_whoever_has_the_key_reads_a_sealed_file(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world) as other:
        store, blobs = await one.objects(STRONGROOM), await one.transport.objects(STRONGROOM)
        await store.put("art_1.0", b"very-secret" * 20_000)

        assert await (await other.objects(STRONGROOM)).get("art_1.0") == b"very-secret" * 20_000
        assert b"secret" not in await blobs.get(store.kept_as("art_1.0"))


async def test_the_key_of_a_store_opens_no_file_whose_name_is_not_known(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as bus:
        store, blobs = await bus.objects(STRONGROOM), await bus.transport.objects(STRONGROOM)
        await store.put("art_1.0", b"secret")
        kept_as = store.kept_as("art_1.0")
        sealed = await blobs.get(kept_as)

        assert "art_1.0" not in kept_as
        with pytest.raises(KeyError):
            await store.get(kept_as)
        assert store.seal is not None
        for place in (f"{STRONGROOM.name} {kept_as}", f"{STRONGROOM.name} art_1.0"):
            with pytest.raises(UnsealError):
                store.seal.unseal(sealed, place)


async def test_a_file_of_another_key_or_another_name_is_not_there(make_world: MakeWorld) -> None:
    async with make_world() as world, trusted(world) as one, trusted(world, new_key()) as other:
        store, blobs = await one.objects(STRONGROOM), await one.transport.objects(STRONGROOM)
        await store.put("a", b"secret")
        await blobs.put(store.kept_as("b"), await blobs.get(store.kept_as("a")))

        for where, name in ((await other.objects(STRONGROOM), "a"), (store, "b")):
            with pytest.raises(KeyError):
                await where.get(name)


async def test_without_a_key_a_sealed_journal_and_a_sealed_store_stay_shut(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "trusted") as bus:
        with pytest.raises(ValueError, match="ciphers is sealed"):
            await bus.journal(CIPHERS)
        with pytest.raises(ValueError, match="strongroom is sealed"):
            await bus.objects(STRONGROOM)
