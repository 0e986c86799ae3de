"""Collections through their tools: what is added is captured once, kept in versions, and found by its owner alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from actors.keeper.actor import Keeper
from actors.keeper.log_events import events_of
from actors.runner.actor import Runner
from actors.runner.collections import capturing
from actors.runner.collections.captured_page import read_page
from bus.clock import now_ms
from protocol import subjects
from protocol.access import OWNER_NAME
from protocol.collection_views import ListCollections
from protocol.collections import (
    KEPT_VERSIONS,
    CaptureMode,
    CaptureQueued,
    CaptureStatus,
    CollectionLine,
    SectionChange,
    SourceAdded,
    SourceCaptured,
    SourceDeleted,
)
from protocol.documents import CollectionSource, PageParts
from protocol.faults import Code, FaultError
from protocol.page import RecordList
from protocol.policy import ToolErrorCode, ToolResult, ToolStatus
from tests.requirements import requirement
from tests.support.collecting import ME, NOW, TEST_S, YOU, alone, collecting
from tests.support.scale import sized
from tests.unit.actors.gateway_data import browsed

PAGE = "https://looms.example/page"
LATER = NOW + 86_400_000
WORDS = "# Looms\n\nA loom weaves cloth.\n\n## Kinds\n\nThere are hand looms.\n"
CHANGED = (
    "# Looms\n\nA loom weaves cloth.\n\n## Kinds\n\nThere are hand looms.\nAnd power looms.\n\n## Prices\n\n12 euros.\n"
)


def of(lines: list[CollectionLine], kind: type[CollectionLine]) -> list[CollectionLine]:
    return [line for line in lines if isinstance(line, kind)]


def words(result: ToolResult) -> str:
    """Return the words of the source that a result brings."""
    (document,) = result.documents
    assert isinstance(document.content, CollectionSource)
    return document.content.markdown


@requirement("003.tools.collections")
async def test_pages_and_notes_are_added_once_and_captured(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{number}": f"Page {number} of looms." for number in range(3)}
        collection = await world.create()
        await world.add(collection, *world.pages)

        again = await world.add(collection, f"{PAGE}/1/?utm_source=x#top")
        note = {"type": "note", "text": "Ask about warps.", "title": "To do"}
        added = await world.tool("collection.add_sources", collectionId=collection, sources=[note])
        view = await world.settled(collection)

        assert again[0]["added"] is False
        assert added.payload["sources"][0]["status"] == "captured"
        assert view.total == 4
        assert [(one.kind.value, one.title, one.status, one.version) for one in view.sources] == [
            ("url", "0", CaptureStatus.CAPTURED, 1),
            ("url", "1", CaptureStatus.CAPTURED, 1),
            ("url", "2", CaptureStatus.CAPTURED, 1),
            ("note", "To do", CaptureStatus.CAPTURED, 0),
        ]
        assert len(world.browsed) == 3
        assert (await world.source(view.sources[1].id)).markdown == "Page 1 of looms."
        assert (await world.source(view.sources[3].id)).markdown == "Ask about warps."


async def test_a_capture_returns_the_page_and_a_refresh_what_has_changed(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: WORDS}
        collection = await world.create()
        captured = await world.tool("source.capture", collectionId=collection, url=PAGE)
        source = str(captured.payload["sourceId"])
        same = await world.tool("source.refresh", sourceId=source)
        world.pages[PAGE] = CHANGED
        changed = await world.tool("source.refresh", sourceId=source)
        content = await world.source(source)

        assert (captured.status, captured.payload["version"]) == (ToolStatus.OK, 1)
        assert words(captured) == WORDS
        assert (same.payload["unchanged"], same.payload["version"]) == (True, 1)
        assert words(same) == WORDS
        assert (changed.payload["unchanged"], changed.payload["version"]) == (False, 2)
        assert changed.payload["changes"] == [
            {"heading": "Kinds", "change": "changed", "addedLines": 1},
            {"heading": "Prices", "change": "added", "addedLines": 1},
        ]
        assert [one.version for one in content.versions] == [2, 1]
        assert (await world.source(source, 1)).markdown == WORDS
        assert [one.event for one in world.changes] == ["source_added", "captured", "refreshed", "changed"]


async def test_the_same_call_is_done_once(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: WORDS}
        call = "call_0123456789abcdef0123"
        collection = await world.create()
        first = await world.tool("source.capture", ME, call, collectionId=collection, url=PAGE)
        second = await world.tool("source.capture", ME, call, collectionId=collection, url=PAGE)
        begun = [await world.tool("collection.create", ME, call, title="Once") for _ in range(2)]
        lines = await world.lines(str(first.payload["sourceId"]))

        assert first == second
        assert begun[0] == begun[1]
        assert (len(of(lines, CaptureQueued)), len(of(lines, SourceCaptured)), len(world.browsed)) == (1, 1, 1)


async def test_nobody_finds_what_is_somebody_elses(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: WORDS}
        collection = await world.create()
        source = str((await world.tool("source.capture", collectionId=collection, url=PAGE)).payload["sourceId"])

        results = [
            await world.tool("collection.list_sources", YOU, collectionId=collection),
            await world.tool("collection.add_sources", YOU, collectionId=collection, sources=[]),
            await world.tool("source.capture", YOU, collectionId=collection, url=PAGE),
            await world.tool("source.refresh", YOU, sourceId=source),
            await world.tool("source.refresh", sourceId="src_*"),
        ]

        assert {(one.status, one.code) for one in results} == {(ToolStatus.ERROR, ToolErrorCode.NOT_FOUND)}


async def test_a_page_is_tried_three_times_where_that_may_help(tmp_path: Path, collecting_again: None) -> None:
    del collecting_again
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: Code.HTTP_SERVICE_UNAVAILABLE}
        collection = await world.create()
        down = await world.tool("source.capture", collectionId=collection, url=PAGE)
        gone = await world.tool("source.capture", collectionId=collection, url=f"{PAGE}/gone")
        view = await world.settled(collection)

        assert down.fault is not None
        assert gone.fault is not None
        assert (down.fault.code, gone.fault.code) == (Code.HTTP_SERVICE_UNAVAILABLE, Code.HTTP_NOT_FOUND)
        assert [page.url for page in world.browsed] == [PAGE, PAGE, PAGE, f"{PAGE}/gone"]
        assert (view.collection.failed, view.collection.captured) == (2, 0)


async def test_what_is_deleted_is_gone_from_the_journal_too(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{number}": f"Page {number} of looms." for number in range(3)}
        collection, other = await world.create(), await world.create("Others")
        first, *_ = await world.add(collection, *world.pages)
        await world.add(other, f"{PAGE}/1")
        await world.settled(collection)
        await world.settled(other)
        call = "call_0123456789abcdef0123"

        gone = [await world.tool("source.delete", ME, call, sourceId=first["sourceId"]) for _ in range(2)]
        left = await world.view(collection)
        again = (await world.add(collection, f"{PAGE}/0"))[0]
        await world.settled(collection)
        ended = [await world.tool("collection.delete", ME, f"{call}4", collectionId=collection) for _ in range(2)]
        after = await world.tool("collection.list_sources", collectionId=collection)
        lines = [line.value async for line in world.journal.read()]

        assert gone[0] == gone[1]
        assert [one.url for one in left.sources] == [f"{PAGE}/1", f"{PAGE}/2"]
        assert (again["sourceId"], again["added"]) == (first["sourceId"], True)
        assert ended[0] == ended[1]
        assert (after.status, after.code) == (ToolStatus.ERROR, ToolErrorCode.NOT_FOUND)
        assert {line.collection for line in lines if isinstance(line, SourceCaptured)} == {other}
        assert {line.collection for line in lines if isinstance(line, SourceAdded)} == {other}


async def test_a_page_that_is_read_while_it_is_deleted_does_not_come_back(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages, world.hold = {PAGE: WORDS}, anyio.Event()
        collection = await world.create()
        added = (await world.add(collection, PAGE))[0]
        await world.begun.wait()

        await world.tool("source.delete", sourceId=added["sourceId"])
        world.hold.set()
        world.hold = None
        await world.tool("source.capture", collectionId=collection, url=f"{PAGE}/gone")
        view = await world.settled(collection)
        lines = await world.lines(added["sourceId"])

        assert [one.url for one in view.sources] == [f"{PAGE}/gone"]
        assert {type(line) for line in lines} == {SourceDeleted}


@pytest.mark.full
async def test_a_large_collection_is_captured_and_refreshed_with_each_version_and_age_right(tmp_path: Path) -> None:
    count, changed = sized(30, 200), range(0, 100, 10)
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{number}": f"Page {number} of looms.\n" for number in range(count)}
        collection = await world.create()
        await world.add(collection, *world.pages)
        first = await world.settled(collection)
        for number in changed:
            if number < count:
                world.pages[f"{PAGE}/{number}"] = f"Page {number} of looms.\nIt has changed.\n"
        world.later = LATER
        limiter = anyio.CapacityLimiter(16)

        async def refresh(source: str) -> None:
            async with limiter:
                assert (await world.tool("source.refresh", sourceId=source)).status is ToolStatus.OK

        async with anyio.create_task_group() as tasks:
            for one in first.sources:
                tasks.start_soon(refresh, one.id)
        second = await world.view(collection)
        asked_at = now_ms()

        assert [(one.url, one.version, one.captured_at) for one in first.sources] == [
            (f"{PAGE}/{number}", 1, NOW) for number in range(count)
        ]
        assert [one.version for one in second.sources] == [1 + (number in changed) for number in range(count)]
        assert {one.captured_at for one in second.sources} == {LATER}
        assert [one.changed_at for one in second.sources] == [
            LATER if number in changed else NOW for number in range(count)
        ]
        assert all(abs((one.age_ms or 0) - (asked_at - LATER)) < TEST_S * 1_000 for one in second.sources)
        assert {one.changes for one in second.sources if one.version == 2} == {
            (SectionChange(heading="", change="changed", added_lines=1),)
        }
        assert len(world.browsed) == 2 * count


async def test_a_full_journal_says_so_and_deleting_makes_room(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: WORDS, f"{PAGE}/2": WORDS * 40}
        collection = await world.create()
        first = await world.tool("source.capture", collectionId=collection, url=PAGE)
        held = world.broker.journals[subjects.COLLECTIONS.name]
        room, held.max_bytes = held.max_bytes, sum(len(one.data) for one in held.held)
        with pytest.raises(FaultError) as full:
            await world.tool("source.capture", collectionId=collection, url=f"{PAGE}/2")

        gone = await world.tool("source.delete", sourceId=first.payload["sourceId"])
        held.max_bytes = room
        second = await world.tool("source.capture", collectionId=collection, url=f"{PAGE}/2")

        assert full.value.fault.code is Code.CONFIG_STORAGE_FULL
        assert (gone.status, second.status) == (ToolStatus.OK, ToolStatus.OK)


async def test_one_key_fills_its_share_alone_and_deleting_makes_room(tmp_path: Path) -> None:
    async with collecting(tmp_path, collections_key_bytes=60_000) as world:
        world.pages = {PAGE: WORDS}
        note = {"type": "note", "text": "Warps. " * 2_000}
        mine, yours, owners = [await world.create(caller=one) for one in (ME, YOU, OWNER_NAME)]
        kept = list[str]()

        async def add(caller: str, collection: str) -> str:
            added = await world.tool("collection.add_sources", caller, collectionId=collection, sources=[note])
            return str(added.payload["sources"][0]["sourceId"])

        async def fill() -> None:
            while True:
                kept.append(await add(ME, mine))

        with pytest.raises(FaultError) as full:
            await fill()
        with pytest.raises(FaultError) as full_of_texts:
            await world.tool("artifact.save", ME, markdown=note["text"], title="Warps")
        shares = [await world.bus.call(subjects.COLLECTION_LIST, ListCollections(caller=one)) for one in (ME, YOU)]
        await add(YOU, yours)
        for _ in range(20):
            await add(OWNER_NAME, owners)
        for source in kept:
            await world.tool("source.delete", ME, sourceId=source)
        await add(ME, mine)

        assert len(kept) == 4
        assert full.value.fault.code is full_of_texts.value.fault.code is Code.CONFIG_STORAGE_FULL
        assert "collections_key_bytes" in full.value.fault.message
        assert [one.action for one in full.value.fault.actions] == ["make_room", "ask_operator"]
        assert [one.max_bytes for one in shares] == [60_000, 60_000]
        assert shares[0].kept_bytes > 40_000 > shares[1].kept_bytes


async def test_a_page_is_not_read_for_a_key_without_room(tmp_path: Path) -> None:
    async with collecting(tmp_path, collections_key_bytes=10_000) as world:
        world.pages = {PAGE: WORDS, f"{PAGE}/2": WORDS * 200}
        collection = await world.create()
        await world.tool("source.capture", collectionId=collection, url=PAGE)
        await world.add(collection, f"{PAGE}/2")
        view = await world.settled(collection)

        assert [one.status for one in view.sources] == [CaptureStatus.CAPTURED, CaptureStatus.FAILED]
        assert view.sources[1].error is not None
        assert view.sources[1].error.code is Code.CONFIG_STORAGE_FULL


async def test_a_capture_waits_until_there_is_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capturing, "MAX_AGAIN_MS", 10)
    async with collecting(tmp_path) as world:
        world.pages, world.hold = {PAGE: WORDS}, anyio.Event()
        collection = await world.create()
        await world.add(collection, PAGE)
        await world.begun.wait()
        held = world.broker.journals[subjects.COLLECTIONS.name]
        room, held.max_bytes = held.max_bytes, 1
        world.hold.set()
        while len(world.browsed) < 1 or held.sequence < 4:
            await anyio.lowlevel.checkpoint()
        held.max_bytes = room
        view = await world.settled(collection)

        assert [(one.status, one.version) for one in view.sources] == [(CaptureStatus.CAPTURED, 1)]


async def test_what_is_kept_is_sealed_and_made_anew_from_the_journal(tmp_path: Path) -> None:
    secret = "Shuttlecock-4711"
    async with alone(tmp_path) as world:
        async with world.replica(Runner, "r1"):
            async with world.replica(Keeper, "k1"):
                world.pages = {f"{PAGE}/{secret}": f"# {secret}\n\nWords of {secret}.\n"}
                collection = await world.create(secret)
                await world.add(collection, *world.pages)
                note = {"type": "note", "text": secret, "title": secret}
                await world.tool("collection.add_sources", collectionId=collection, sources=[note])
                before = await world.settled(collection)
            # The log of events has addresses, and is written now and then.
            files = [path for path in (tmp_path / "k1").rglob("*") if path.is_file() and path.suffix != ".jsonl"]
            data = b"".join(path.read_bytes() for path in files)
            shutil.rmtree(tmp_path / "k1")
            async with world.replica(Keeper, "k1"):
                after = await world.view(collection)
                page = await world.source(after.sources[0].id)

        assert secret.encode() not in data
        assert b"looms.example" not in data
        assert len(data) > 10_000
        assert [replace(one, age_ms=0) for one in after.sources] == [replace(one, age_ms=0) for one in before.sources]
        assert page.markdown == f"# {secret}\n\nWords of {secret}.\n"


@pytest.mark.parametrize(
    ("mode", "chars", "expected"),
    [
        ("article", 10, "Words."),
        ("list", 900, "- name: Loom; 12 euros\n- name: Yarn"),
        ("auto", 10, "- name: Loom; 12 euros\n- name: Yarn"),
        ("auto", 900, "Words."),
    ],
)
def test_a_page_is_kept_by_its_words_or_by_what_it_lists(mode: CaptureMode, chars: int, expected: str) -> None:
    records = RecordList(columns=("name", ""), rows=(("Loom", "12\n euros"), ("Yarn", "")), caption="Wares")
    words = "Words." + " More." * (chars // 6)

    page = read_page(browsed(words, title="Shop", parts=PageParts(lists=(records,))), NOW, mode)

    assert expected in page.markdown
    assert ("## Wares" in page.markdown) == (expected != "Words.")


@pytest.mark.slow
async def test_of_a_page_that_changes_again_and_again_the_last_versions_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "MAX_LINES", 6)
    async with alone(tmp_path) as world, world.replica(Runner, "r1"):
        async with world.replica(Keeper, "k1"):
            collection = await world.create()
            world.pages = {PAGE: "Version 1."}
            source = str((await world.tool("source.capture", collectionId=collection, url=PAGE)).payload["sourceId"])
            for number in range(2, 10):
                world.pages[PAGE] = f"Version {number}."
                await world.tool("source.refresh", sourceId=source)
        lines = await world.lines(source)
        async with world.replica(Keeper, "k2"):
            content = await world.source(source)
            old = await world.source(source, 5)
            with pytest.raises(FaultError) as gone:
                await world.source(source, 4)

        assert [one.version for one in content.versions] == [9, 8, 7, 6, 5]
        assert (content.markdown, old.markdown) == ("Version 9.", "Version 5.")
        assert gone.value.fault.code is Code.VALIDATION_UNKNOWN_SOURCE
        assert len(of(lines, SourceCaptured)) == KEPT_VERSIONS
        assert len(lines) <= 1 + KEPT_VERSIONS + 6 + 2


async def test_the_log_of_events_tells_once_of_each_source_that_is_gone(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {PAGE: WORDS}
        collection = await world.create()
        page = (await world.add(collection, PAGE))[0]
        await world.settled(collection)
        notes = [{"type": "note", "text": f"Note {number}."} for number in range(3)]
        added = await world.tool("collection.add_sources", collectionId=collection, sources=notes)
        call = "call_0123456789abcdef0123"

        for _ in range(2):
            await world.tool("source.delete", ME, call, sourceId=added.payload["sources"][0]["sourceId"])
        for _ in range(2):
            await world.tool("collection.delete", ME, f"{call}4", collectionId=collection)
        lines = [line async for line in world.journal.read()]

        events = [event for line in lines for event in events_of(subjects.COLLECTIONS.name, line)]
        told = [event.source_id for event in events if event.type == "source.deleted"]
        assert sorted(told) == sorted({page["sourceId"], *(one["sourceId"] for one in added.payload["sources"])})
