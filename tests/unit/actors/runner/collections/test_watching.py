"""A watched collection is read anew when it is due, once, and what has changed is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.keeper.actor import Keeper
from actors.key_ends import KeyEnds
from actors.runner.actor import Runner
from actors.runner.collections.capturing import Capturing
from actors.runner.collections.collection_log import CollectionLog
from actors.runner.collections.key_room import KeyRoom
from actors.runner.collections.watching import Watching, every_ms
from actors.settings import Settings
from bus.clock import now_ms
from protocol.access import KeyEnd
from protocol.faults import Code, FaultError, fault
from protocol.policy import ToolStatus
from protocol.subjects import KEY_ENDS
from tests.support.collecting import ME, Collecting, alone, collecting

PAGE = "https://looms.example/page"
HOUR_MS = 3_600_000


@dataclass
class Told:
    """An integration that notes what it is told, and a clock that a test sets."""

    now: int = field(default_factory=now_ms)
    told: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    broken: bool = False

    async def notify(self, caller: str, name: str, operation: str, payload: dict[str, Any], key: str) -> None:
        self.told.append((caller, name, operation, payload, key))
        if self.broken:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST))

    def watching(self, world: Collecting, ends: KeyEnds | None = None) -> Watching:
        ended = (ends or KeyEnds()).has_ended
        capturing = Capturing(
            CollectionLog(world.journal, KeyRoom(world.bus)), world.bus, Settings(data_dir=world.folder), ended
        )
        return Watching(capturing, self.notify, lambda: self.now)


async def look(world: Collecting, collection: str, *replicas: Watching) -> None:
    """Let replicas look until nothing is under way, and once more."""
    for _ in range(2):
        for replica in replicas:
            await replica.look()
        await world.settled(collection)


@pytest.mark.parametrize(
    ("every", "expected"), [(None, 0), ("5m", 300_000), ("12h", 12 * HOUR_MS), ("1d", 24 * HOUR_MS)]
)
def test_what_is_said_of_time(every: str | None, expected: int) -> None:
    assert every_ms(every) == expected


async def test_pages_are_read_anew_when_it_is_time_and_changes_are_told(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{number}": f"Page {number}." for number in range(4)}
        here = Told()
        first, second = here.watching(world), here.watching(world)
        collection = await world.create()
        await world.add(collection, *world.pages)
        await world.settled(collection)
        watched = await world.tool("collection.watch", collectionId=collection, every="1h")

        await look(world, collection, first, second)
        early = len(world.browsed)
        here.now += HOUR_MS + 60_000
        world.later = here.now
        world.pages[f"{PAGE}/1"] = "Page 1 has changed."
        world.pages[f"{PAGE}/2"] = Code.HTTP_NOT_FOUND
        await look(world, collection, first, second)
        await look(world, collection, first, second)
        late = len(world.browsed)
        view = await world.view(collection)

        assert watched.payload == {"collectionId": collection, "everyMs": HOUR_MS, "webhook": ""}
        assert (early, late) == (4, 8)
        assert [(one.version, one.status.value) for one in view.sources] == [
            (1, "captured"),
            (2, "captured"),
            (1, "failed"),
            (1, "captured"),
        ]
        assert [one.source_id for one in world.changes if one.event == "changed"] == [view.sources[1].id]
        assert [one.source_id for one in world.changes if one.event == "refreshed" and not one.source_id] == [""]
        assert here.told == []


async def test_an_integration_is_told_once_of_each_round(tmp_path: Path) -> None:
    file = tmp_path / "integrations.toml"
    file.write_text(
        """[[integrations]]
name = "office"
url = "https://office.example/hook"
operations = ["collection.changed"]
""",
        encoding="utf-8",
    )
    async with collecting(tmp_path, integrations_file=str(file)) as world:
        world.pages = {PAGE: "One."}
        here = Told()
        watching = here.watching(world)
        collection = await world.create()
        await world.add(collection, PAGE)
        await world.settled(collection)
        unknown = await world.tool("collection.watch", collectionId=collection, every="1h", webhook="nobody")
        known = await world.tool("collection.watch", collectionId=collection, every="1h", webhook="office")

        for words in ("Two.", "Two.", "Three."):
            here.now += HOUR_MS + 60_000
            world.later = here.now
            world.pages[PAGE] = words
            await look(world, collection, watching)
        await world.tool("collection.watch", collectionId=collection, every=None)
        here.now += HOUR_MS + 60_000
        await look(world, collection, watching)

        assert (unknown.status, known.status) == (ToolStatus.ERROR, ToolStatus.OK)
        assert [(one[0], one[1], one[2], one[3]["changedCount"]) for one in here.told] == [
            (ME, "office", "collection.changed", 1)
        ] * 2
        assert len({one[4] for one in here.told}) == 2
        assert len(world.browsed) == 4


async def test_a_round_that_a_dead_replica_has_begun_is_gone_on_with(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{number}": f"Page {number}." for number in range(3)}
        here = Told()
        collection = await world.create()
        await world.add(collection, *world.pages)
        await world.settled(collection)
        await world.tool("collection.watch", collectionId=collection, every="1h")
        here.now += HOUR_MS + 60_000
        world.later = here.now
        begun = await CollectionLog(world.journal, KeyRoom(world.bus)).history(collection)
        assert begun.created is not None

        await here.watching(world)._write(begun.created, begun, here.now, ended=False)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as one that dies then
        await look(world, collection, here.watching(world))

        assert len(world.browsed) == 6
        assert (await CollectionLog(world.journal, KeyRoom(world.bus)).history(collection)).open is False


async def test_with_the_key_of_its_caller_a_watch_ends_for_good(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: "One."}
        here = Told()
        ends = KeyEnds(lambda: here.now)
        watching = here.watching(world, ends)
        collection = await world.create()
        await world.add(collection, PAGE)
        await world.settled(collection)
        await world.tool("collection.watch", collectionId=collection, every="1h")
        here.now += HOUR_MS + 60_000
        await watching.look()  # a round is open

        ends.update(ME, KeyEnd(at=here.now), 1)
        await look(world, collection, watching)
        known = len(world.browsed)
        here.now += 2 * HOUR_MS
        await look(world, collection, watching, here.watching(world))  # and one that never heard of the end
        history = await CollectionLog(world.journal, KeyRoom(world.bus)).history(collection)

        assert history.watched is not None
        assert (history.watched.every_ms, history.open) == (0, False)
        assert len(world.browsed) == known


async def test_what_an_ended_key_has_queued_is_read_no_more_after_a_restart_either(tmp_path: Path) -> None:
    async with alone(tmp_path) as world, world.replica(Keeper, "k1"):
        world.pages, world.hold = {f"{PAGE}/{number}": f"Page {number}." for number in range(6)}, anyio.Event()
        async with world.replica(Runner, "r1", captures_at_once=1):
            collection = await world.create()
            await world.add(collection, *world.pages)
            await world.begun.wait()
            await (await world.bus.table(KEY_ENDS)).put(ME, KeyEnd(at=1))
        world.hold = None
        for held in world.broker.queues.values():
            for item in held.waiting.values():
                item.visible_at = 0.0
        async with world.replica(Runner, "r2"):
            view = await world.settled(collection)

        assert {one.error.code for one in view.sources if one.error is not None} == {Code.AUTH_INVALID_CREDENTIALS}
        assert [one.status.value for one in view.sources] == ["failed"] * 6
        assert len(world.browsed) == 1
