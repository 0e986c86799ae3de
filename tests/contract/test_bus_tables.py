"""Tables: put, got, deleted, compared and watched, in memory and over NATS alike."""

from __future__ import annotations

from itertools import groupby

import anyio
import pytest
from anyio.lowlevel import checkpoint

from bus import TransportError
from bus.errors import ForbiddenError
from bus.stores import KeyChange
from protocol.subject_kinds import Bucket
from tests.contract.world import FLEETING, PLACES, Ask, MakeWorld, taking_part, until

BACK_S = 90.0
"""A generous bound; the benchmark holds the second."""


async def test_what_was_put_is_there(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        table = await bus.table(PLACES)

        revision = await table.put("a/b.c", Ask(text="home"))

        assert await (await other.table(PLACES)).get("a/b.c") == KeyChange("a/b.c", Ask(text="home"), revision)
        assert await table.get("elsewhere") is None


async def test_what_was_deleted_is_gone(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        await table.put("a", Ask())

        await table.delete("a")
        await table.delete("never-there")

        assert await table.get("a") is None


async def test_a_value_is_replaced_only_at_its_revision(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        first = await table.put("a", Ask(text="1"), revision=0)
        second = await table.put("a", Ask(text="2"), revision=first)

        for stale in (0, first, second + 1):
            with pytest.raises(ValueError, match="revision"):
                await table.put("a", Ask(text="3"), revision=stale)

        assert second > first
        assert await table.get("a") == KeyChange("a", Ask(text="2"), second)


async def test_a_deleted_key_has_a_revision_too(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        first = await table.put("a", Ask())
        await table.delete("a")

        for stale in (0, first):
            with pytest.raises(ValueError, match="revision"):
                await table.put("a", Ask(text="again"), revision=stale)
        await table.put("a", Ask(text="again"), revision=await table.revision("a"))
        again = await table.get("a")

        assert again is not None
        assert again.value == Ask(text="again")
        assert (await table.revision("a"), await table.revision("never-there")) == (again.revision, 0)


async def test_a_value_is_deleted_only_at_its_revision(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        first = await table.put("a", Ask(text="1"))
        second = await table.put("a", Ask(text="2"))

        for stale in (0, first, second + 1):
            with pytest.raises(ValueError, match="revision"):
                await table.delete("a", revision=stale)
        kept = await table.get("a")
        await table.delete("a", revision=second)

        assert kept == KeyChange("a", Ask(text="2"), second)
        assert await table.get("a") is None


async def test_of_many_who_want_a_revision_one_gets_it(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        won: list[int] = []

        async def want(number: int) -> None:
            try:
                await table.put("lease", Ask(number=number), revision=0)
            except ValueError:
                return
            won.append(number)

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(want, number)

        assert len(won) == 1
        found = await table.get("lease")
        assert found is not None
        assert found.value == Ask(number=won[0])


async def test_the_names_are_those_of_the_keys_that_have_a_value(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        none = await table.names()
        for key in ("a", "b/c.d", "gone"):
            await table.put(key, Ask())
        await table.delete("gone")
        await table.put("a", Ask(text="again"))

        assert (none, sorted(await table.names())) == ([], ["a", "b/c.d"])


async def test_no_name_is_missing_while_values_change(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        keys = [f"key-{number}" for number in range(10)]
        for key in keys:
            await table.put(key, Ask())
        found = list[list[str]]()

        async def change() -> None:
            while True:
                for key in keys:
                    await table.put(key, Ask(text="again"))
                    await checkpoint()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(change)
            tasks.start_soon(change)
            for _ in range(50):
                found.append(sorted(await table.names()))
            tasks.cancel_scope.cancel()

        assert found == [keys] * 50


@pytest.mark.parametrize("key", ["", "a b", ".a", "a.", "a*", "ä", ">"])
async def test_what_is_no_key_is_refused(make_world: MakeWorld, key: str) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)

        with pytest.raises(ValueError, match="is no key"):
            await table.put(key, Ask())
        with pytest.raises(ValueError, match="is no key"):
            await table.get(key)


async def test_old_values_of_a_fleeting_table_go(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(FLEETING)
        await table.put("a", Ask())
        assert await table.get("a") is not None

        while await table.get("a") is not None:
            await anyio.sleep(0.05)

        await table.put("a", Ask(), revision=0)


@pytest.mark.slow
async def test_a_table_that_was_not_declared_stays_closed(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "stranger") as stranger:
        with pytest.raises((ForbiddenError, TransportError)):
            await stranger.table(PLACES)


async def test_a_watch_tells_what_is_there_and_what_changes(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        await table.put("a", Ask(text="old"))
        await table.put("gone", Ask())
        await table.delete("gone")
        await table.put("b", Ask(text="there"))
        await table.put("a", Ask(text="there"))

        async with table.watch() as changes:
            seen = [await anext(changes), await anext(changes)]
            await table.put("a", Ask(text="new"))
            seen.append(await anext(changes))
            await table.delete("b")
            seen.append(await anext(changes))

        assert [(one.key, one.value) for one in seen] == [
            ("b", Ask(text="there")),
            ("a", Ask(text="there")),
            ("a", Ask(text="new")),
            ("b", None),
        ]
        assert sorted(one.revision for one in seen) == [one.revision for one in seen]


async def test_a_watch_of_an_empty_table_waits(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        async with table.watch() as changes, anyio.create_task_group() as tasks:
            tasks.start_soon(table.put, "a", Ask(text="first"))

            assert (await anext(changes)).value == Ask(text="first")


async def test_a_watch_survives_a_restart(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        await table.put("a", Ask(text="before"))
        seen: list[tuple[str, Ask | None]] = []

        async def look() -> None:
            async with table.watch() as changes:
                async for change in changes:
                    seen.append((change.key, change.value))  # noqa: PERF401 - looked at while it grows

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            await until(lambda: len(seen) == 1)
            for turn in (1, 2):
                await world.breaks()
                await until(lambda: not bus.transport.connected)
                await world.mends()
                await until(lambda: bus.transport.connected)
                with anyio.fail_after(BACK_S):
                    await table.put("b", Ask(number=turn))
                    await until(lambda turn=turn: ("b", Ask(number=turn)) in seen)  # type: ignore[misc]  # bound at once
            tasks.cancel_scope.cancel()

        # A put that the restart cut through is repeated, so it may be told twice.
        told = [change for change, _ in groupby(seen)]
        assert told == [("a", Ask(text="before")), ("b", Ask(number=1)), ("b", Ask(number=2))]


async def test_what_is_absent_is_known_without_asking(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        table, others = await bus.table(PLACES), await other.table(PLACES)
        await others.put("before", Ask())

        async with table.presence() as presence:
            await until(lambda: presence.absent("own") and presence.absent("theirs"))
            assert not presence.absent("before")
            await table.put("own", Ask())
            assert not presence.absent("own")
            await others.put("theirs", Ask())
            await until(lambda: not presence.absent("theirs"))

            await world.breaks()
            await until(lambda: not bus.transport.connected and not other.transport.connected)
            await world.mends()
            await until(lambda: bus.transport.connected and other.transport.connected)
            with anyio.fail_after(BACK_S):
                await others.put("after", Ask())
                await until(lambda: presence.absent("never") and not presence.absent("after"))
            assert not any(map(presence.absent, ("before", "own", "theirs")))


@pytest.mark.full
@pytest.mark.slow
async def test_while_the_connection_is_broken_a_table_does_not_hang_for_long(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        table = await bus.table(PLACES)
        await world.breaks()
        await until(lambda: not bus.transport.connected)

        with anyio.fail_after(90), pytest.raises(TransportError):
            await table.get("a")


async def test_values_are_checked(make_world: MakeWorld) -> None:
    other = Bucket("places", int)
    async with make_world() as world, taking_part(world, "asker") as bus:
        await (await bus.table(other)).put("a", 5)

        with pytest.raises(Exception, match="VALIDATION_INVALID_PACKET"):
            await (await bus.table(PLACES)).get("a")
