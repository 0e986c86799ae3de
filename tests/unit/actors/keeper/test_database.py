"""The file of a keeper: its own, private, and of no worth but the time that it takes to make it again."""

from __future__ import annotations

import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from actors.keeper.run_tables import where
from actors.projection.database import START, Database, JournalPosition
from protocol import subjects
from protocol.runs.requests import ListRuns
from protocol.runs.states import RunStatus
from protocol.search import SearchPassages
from protocol.visits import VISIT_PREFIX, KeptVisit, visit_topic
from tests.unit.actors.keeper.ledger_data import (
    KEY,
    ME,
    NOW,
    RUN,
    World,
    created,
    kept,
    run_id,
    step,
    success,
    taken,
    world,
)

FILE = "keeper-0.sqlite"
URL = "https://site.example/page"


def database(place: World) -> Path:
    return place.folder / "keeper" / FILE


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def _torn(path: Path) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:4096] + bytes(len(data) - 4096 - middle) + data[-middle:])


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _newer(path: Path) -> None:
    changed(path, "PRAGMA user_version = 1000")


def _gone(path: Path) -> None:
    path.unlink()


def _of_another_ledger(path: Path) -> None:
    changed(path, "UPDATE positions SET written_at = written_at - 1", "UPDATE runs SET status = 'failed'")


def _ahead(path: Path) -> None:
    changed(path, "UPDATE positions SET applied = 1000000, line = 1000000", "UPDATE runs SET status = 'failed'")


@pytest.mark.parametrize("harm", [_garbage, _torn, _halved, _newer, _gone, _of_another_ledger, _ahead])
async def test_a_file_that_is_of_no_use_is_made_again(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    async with world(tmp_path) as place:
        await place.asking.write(*success(result={"items": [1]}, artifacts=(kept(),)), created(run_id(2)))
        async with place.keeper():
            before = await place.asking.get(), await place.asking.list(), await place.asking.follow()
        harm(database(place))
        async with place.keeper():
            assert (await place.asking.get(), await place.asking.list(), await place.asking.follow()) == before


async def test_a_file_that_breaks_while_it_is_used_is_made_again(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created())
        await place.asking.get()
        changed(database(place), "DROP TABLE events", "DROP TABLE artifacts")
        await place.asking.write(taken(), step(0))

        assert (await place.asking.get()).progress.done_steps == 1
        assert len((await place.asking.follow()).events) == 3


async def test_lines_are_missed_by_nobody_when_the_ledger_is_another(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(*success())
        await place.asking.get()
        ledger = place.broker.journals[subjects.LEDGER.name]
        ledger.held.clear()
        ledger.sequence = 0
        await place.asking.write(created(run_id(2)))

        assert [one.run_id for one in (await place.asking.list()).runs] == [run_id(2)]


async def test_lines_that_left_the_ledger_unseen_are_missed_by_nobody(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await place.asking.write(created(), taken())
        async with place.keeper():
            await place.asking.get()
        await place.asking.write(step(0), created(run_id(2)))
        del place.broker.journals[subjects.LEDGER.name].held[:3]
        async with place.keeper():
            assert [one.run_id for one in (await place.asking.list()).runs] == [run_id(2)]


@pytest.mark.slow
async def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        ledger = place.broker.journals[subjects.LEDGER.name]
        topic = f"run.{RUN}.state"
        sealed = place.asking.bus.seal
        assert sealed is not None
        unknown = sealed.seal(b'{"line":"of a newer Weft"}', f"{subjects.LEDGER.name} {topic}")
        ledger.add(topic, unknown)
        ledger.add(topic, b"sealed with another key" * 3)
        await place.asking.write(created())
        ledger.add(topic, b"sealed with another key" * 3)
        ledger.add(topic, unknown)
        await place.asking.write(taken())
        ledger.add(topic, b"sealed with another key" * 3)

        assert (await place.asking.get()).status is RunStatus.RUNNING


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
async def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created())
        await place.asking.get()

        assert stat.S_IMODE((tmp_path / "keeper").stat().st_mode) == 0o700
        assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.files()} == {
            "keeper-0.lock": 0o600,
            FILE: 0o600,
            f"{FILE}-shm": 0o600,
            f"{FILE}-wal": 0o600,
        }


async def test_nothing_of_pages_or_inputs_lies_in_it(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        async with place.keeper():
            await place.asking.write(*success(result={"items": [{"text": "of a page"}]}, artifacts=(kept(),)))
            await place.asking.get()
            written = b"".join(path.read_bytes() for path in place.files())
        written += b"".join(path.read_bytes() for path in place.files())

        assert RUN.encode() in written
        assert not [word for word in (b"secret.example", b"of a page", KEY.encode()) if word in written]


async def test_each_replica_has_its_own_and_leaves_it_to_the_next(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await place.asking.write(created())
        async with place.keeper("r1"):
            async with place.keeper("r2"):
                for _ in range(20):
                    await place.asking.get()
            async with place.keeper("r3"):
                names = [path.name for path in place.files() if path.suffix == ".sqlite"]

        assert names == [FILE, "keeper-1.sqlite"]


async def test_lists_never_look_at_every_run(tmp_path: Path) -> None:
    file = Database(tmp_path / FILE, "actors.keeper")
    async with file.open():
        for status in (None, RunStatus.RUNNING):
            for template in (None, "batch_extract_pages"):
                clause, values = where(ListRuns(caller=ME, status=status, template_id=template))
                for query in (
                    f"SELECT * FROM runs{clause} ORDER BY created_at DESC, created_line DESC LIMIT 20",  # noqa: S608 - our own words
                    f"SELECT count(*) FROM runs{clause}",  # noqa: S608 - our own words
                ):
                    plan = [row[3] for row in await file.read(f"EXPLAIN QUERY PLAN {query}", values)]
                    assert len(plan) == 1, plan  # no sorting
                    assert plan[0].startswith("SEARCH runs USING")


async def test_what_is_cut_off_in_the_middle_leaves_no_trace(tmp_path: Path) -> None:
    file = Database(tmp_path / FILE, "actors.keeper")
    async with file.open():
        with pytest.raises(sqlite3.Error):
            await file.advance("a", JournalPosition(5, 5, 5), ("INSERT INTO nowhere VALUES (?)", [(1,)]))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await file.advance("b", JournalPosition(7, 6, 5))

        assert (file.position("a"), file.position("b")) == (START, JournalPosition(7, 6, 5))
        assert await file.read("SELECT * FROM positions WHERE journal IN ('a', 'b')") == [("b", 7, 6, 5)]


SEARCHED = ("search_counts", "search_terms", "passages")
COLLECTED = ("deleted_lines", "source_versions", "capture_jobs", "sources", "collections", "texts")
CHATTED = ("chat_messages", "chat_sessions")


async def test_a_file_of_before_is_read_on(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await place.asking.write(*success())
        async with place.keeper():
            await place.asking.get()
        changed(
            database(place),
            "CREATE TABLE place (only_one INTEGER PRIMARY KEY, applied INTEGER, line INTEGER, written_at INTEGER)",
            "INSERT INTO place SELECT 1, applied, line, written_at FROM positions",
            *(
                f"DROP TABLE {name}"
                for name in ("positions", "chat_events", "llm_runs", "visits", *SEARCHED, *COLLECTED, *CHATTED)
            ),
            "ALTER TABLE events DROP COLUMN started_at",
            "ALTER TABLE events DROP COLUMN screenshot",
            "DROP INDEX runs_changed",
            "PRAGMA user_version = 1",
            "UPDATE runs SET template_id = 'of the file'",
        )
        async with place.keeper():
            assert (await place.asking.get()).template_id == "of the file"


async def test_pages_that_were_indexed_by_lines_of_their_own_are_indexed_anew(tmp_path: Path) -> None:
    asked = SearchPassages(caller=ME, query="loom")
    async with world(tmp_path) as place:
        journal, name = await place.asking.bus.journal(subjects.PAGE_VISITS), f"{VISIT_PREFIX}{'a' * 22}"
        own: dict[str, Any] = {"url": URL, "final_url": URL, "took_ms": 1, "markdown": "A loom weaves. " * 9}
        await journal.append(visit_topic(name), KeptVisit(id=name, caller=ME, at=NOW, **own))
        async with place.keeper():
            before = await place.asking.bus.call(subjects.PASSAGES, asked)
        changed(
            database(place),
            "UPDATE passages SET journal = 'pages-read'",
            "INSERT INTO positions VALUES ('pages-read', 1, 1, 1)",
            "DROP TABLE deleted_lines",
            "DROP INDEX sources_of_callers",
            "PRAGMA user_version = 10",
        )
        async with place.keeper():
            after = await place.asking.bus.call(subjects.PASSAGES, asked)

    assert [one.url for one in before.passages] == [URL]
    assert after == before
