"""Object stores: files put, got, deleted, forgotten and kept from strangers, in memory and over NATS alike."""

from __future__ import annotations

import anyio
import pytest

from bus import TransportError
from bus.errors import ForbiddenError
from bus.stores import MAX_NAME_CHARS, FileStore
from protocol.subject_kinds import Objects
from tests.contract.world import CUPBOARD, FILES, SMOKE, MakeWorld, taking_part, until
from tests.support.nats import OVERSEER

MB = 1024 * 1024
PATTERN = bytes(range(256)) * 4


async def test_what_one_puts_another_gets(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        await (await bus.objects(FILES)).put("a b/\u00e4.png", b"pixels")

        assert await (await other.objects(FILES)).get("a b/\u00e4.png") == b"pixels"


@pytest.mark.parametrize("size", [0, 1, 128 * 1024, 128 * 1024 + 1, 8 * MB + 5, 20 * MB])
@pytest.mark.slow
async def test_a_file_comes_back_as_it_was_whatever_its_size(make_world: MakeWorld, size: int) -> None:
    data = (PATTERN * (size // len(PATTERN) + 1))[:size]
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)

        await store.put("file", data)

        assert await store.get("file") == data


async def test_files_do_not_mix_when_many_come_and_go_at_once(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)
        right: list[bool] = []

        async def use(number: int) -> None:
            data = bytes([number]) * (300_000 + number)
            await store.put(f"file-{number}", data)
            right.append(await store.get(f"file-{number}") == data)

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(use, number)

        assert right == [True] * 10


async def test_the_last_put_stands(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)
        await store.put("file", b"old" * 100_000)

        await store.put("file", b"new")

        assert await store.get("file") == b"new"


async def test_what_was_never_there_or_was_deleted_is_gone(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)
        await store.put("file", b"data")

        await store.delete("file")
        await store.delete("file")
        await store.delete("never-there")

        for name in ("file", "never-there"):
            with pytest.raises(KeyError):
                await store.get(name)


async def test_what_is_too_old_is_gone(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(SMOKE)
        await store.put("file", b"data")
        assert await store.get("file") == b"data"

        await _until_gone(store, "file")


async def test_the_oldest_make_room_for_the_newest(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(CUPBOARD)
        for number in range(5):
            await store.put(f"file-{number}", bytes([number]) * 400_000)

        assert await store.get("file-4") == bytes([4]) * 400_000
        with pytest.raises(KeyError):
            await store.get("file-0")


async def test_a_store_takes_less_room_where_there_is_not_as_much(make_world: MakeWorld) -> None:
    async with make_world() as world, world.connect(OVERSEER) as transport:
        barn = await transport.objects(Objects("barn", ttl_ms=60_000, max_bytes=2**40))

        await barn.put("file", b"data")

        assert await barn.get("file") == b"data"


async def test_what_is_no_name_or_fits_nowhere_is_refused(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(CUPBOARD)
        for name in ("", "n" * (MAX_NAME_CHARS + 1)):
            for refused in (store.put(name, b""), store.get(name), store.delete(name)):
                with pytest.raises(ValueError, match="a name has"):
                    await refused

        with pytest.raises(ValueError, match="more than half"):
            await store.put("file", bytes(MB))


@pytest.mark.slow
async def test_a_store_that_was_not_declared_stays_closed(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "stranger") as stranger:
        with pytest.raises((ForbiddenError, TransportError)):
            await stranger.objects(FILES)


async def test_files_survive_a_restart(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)
        await store.put("file", PATTERN * 1_000)
        await world.breaks()
        await until(lambda: not bus.transport.connected)
        await world.mends()
        await until(lambda: bus.transport.connected)

        assert await store.get("file") == PATTERN * 1_000
        await store.put("file", b"after")
        assert await store.get("file") == b"after"


@pytest.mark.full
@pytest.mark.slow
async def test_while_the_connection_is_broken_a_store_does_not_hang_for_long(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        store = await bus.objects(FILES)
        await store.put("file", b"data")
        await world.breaks()
        await until(lambda: not bus.transport.connected)

        with anyio.fail_after(90), pytest.raises(TransportError):
            await store.get("file")


async def _until_gone(store: FileStore, name: str) -> None:
    """Wait for it: nats-server looks for what is too old from time to time; the test's own deadline bounds it."""
    while True:
        try:
            await store.get(name)
        except KeyError:
            return
        await anyio.sleep(0.05)
