"""Two journals in one file: each is followed for itself, and what harms the file loses neither of them a line."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import anyio
import pytest

from actors.projection.consumer import JournalConsumer, projected
from actors.projection.database import Database, Write, locked_file
from actors.projection.projection import TableUpdate
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from bus.stores import JournalLine, JournalLog
from protocol import subjects
from protocol.faults import Code, FaultError
from protocol.models import CallLine, ModelJudged, RoutesLearned
from protocol.runs.events import CancelRequested, LedgerLine


@dataclass(frozen=True)
class RunWords:
    """The runs of the ledger's lines."""

    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM words WHERE journal = 'ledger'",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM words WHERE journal = 'ledger' AND line < ?",)

    async def update(self, lines: Sequence[JournalLine[LedgerLine]]) -> TableUpdate:
        rows = [("ledger", line.sequence, line.value.run_id) for line in lines]
        return TableUpdate([("INSERT INTO words VALUES (?, ?, ?)", rows)])


@dataclass(frozen=True)
class CallWords:
    """The calls of the lines about models."""

    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM words WHERE journal = 'calls'",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM words WHERE journal = 'calls' AND line < ?",)

    async def update(self, lines: Sequence[JournalLine[CallLine]]) -> TableUpdate:
        rows = [
            ("calls", line.sequence, line.value.call_id) for line in lines if not isinstance(line.value, RoutesLearned)
        ]
        return TableUpdate([("INSERT INTO words VALUES (?, ?, ?)", rows)])


@dataclass
class World:
    """Two journals, and the file that has the words of both."""

    broker: Broker
    ledger: JournalLog[LedgerLine]
    calls: JournalLog[CallLine]
    folder: Path

    async def write(self, *words: str) -> None:
        """Write each word into both journals."""
        for word in words:
            await self.ledger.append(f"run.{word}.state", CancelRequested(run_id=word, at=0))
            await self.calls.append("tool", ModelJudged(call_id=word, at=0, tool="tool", verified=True))

    @asynccontextmanager
    async def reader(self) -> AsyncGenerator[Reader]:
        async with locked_file(self.folder) as path:
            database = Database(path, "tests.unit.actors.projection")
            async with (
                database.open(),
                projected(self.ledger, database, RunWords()) as runs,
                projected(self.calls, database, CallWords()) as calls,
            ):
                yield Reader(database, runs, calls)


@dataclass
class Reader:
    """The words of a file that follows both journals."""

    database: Database
    runs: JournalConsumer[LedgerLine]
    calls: JournalConsumer[CallLine]

    async def words(self) -> dict[str, list[str]]:
        await self.runs.wait_current(10_000)
        await self.calls.wait_current(10_000)
        rows = await self.database.read("SELECT journal, word FROM words ORDER BY journal, line")
        return {name: [word for journal, word in rows if journal == name] for name in ("ledger", "calls")}


@asynccontextmanager
async def world(folder: Path) -> AsyncGenerator[World]:
    with anyio.fail_after(90):
        async with Broker() as broker, Bus(broker.connect("writer"), "writer", "r1").running() as bus:
            bus.seal = Seal.of(new_key())
            ledger, calls = await bus.journal(subjects.LEDGER), await bus.journal(subjects.MODEL_CALLS)
            yield World(broker, ledger, calls, folder / "words")


def both(*words: str) -> dict[str, list[str]]:
    return {"ledger": list(words), "calls": list(words)}


async def test_each_goes_on_where_it_was(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await place.write("one")
        async with place.reader() as reader:
            assert await reader.words() == both("one")
        await place.write("two")
        async with place.reader() as reader:
            await place.write("three")
            assert await reader.words() == both("one", "two", "three")


@pytest.mark.slow
async def test_a_file_that_breaks_under_one_of_them_is_made_again_for_both(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.reader() as reader:
        await place.write("one")
        assert await reader.words() == both("one")
        with closing(sqlite3.connect(reader.database.path)) as other:
            other.execute("DROP TABLE words")
        await place.ledger.append("run.two.state", CancelRequested(run_id="two", at=0))

        assert await reader.words() == {"ledger": ["one", "two"], "calls": ["one"]}


@pytest.mark.parametrize("name", [subjects.LEDGER.name, subjects.MODEL_CALLS.name])
async def test_when_one_journal_is_another_the_other_stays(tmp_path: Path, name: str) -> None:
    async with world(tmp_path) as place, place.reader() as reader:
        await place.write("one", "two")
        await reader.words()
        place.broker.journals[name].held.clear()
        place.broker.journals[name].sequence = 0
        await place.write("three")

        words = await reader.words()
        other = "calls" if name == subjects.LEDGER.name else "ledger"
        assert words.pop(other) == ["one", "two", "three"]
        assert list(words.values()) == [["three"]]


async def test_what_a_journal_has_no_longer_leaves_the_file(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await place.write("one", "two")
        async with place.reader() as reader:
            await reader.words()
        del place.broker.journals[subjects.MODEL_CALLS.name].held[:1]
        async with place.reader() as reader:
            while (words := await reader.words())["calls"] == ["one", "two"]:
                await anyio.sleep(0.005)

        assert words == {"ledger": ["one", "two"], "calls": ["two"]}


@dataclass
class CrampedDatabase(Database):
    """A database on a disk that takes `room` more writes."""

    room: int = 1_000
    renewed: int = 0

    async def write(self, *writes: Write) -> None:
        if self.room <= 0:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        self.room -= 1
        await super().write(*writes)

    async def renew(self) -> None:
        self.renewed += 1
        await super().renew()


async def test_a_disk_without_room_is_named_and_costs_nothing_that_was_read(tmp_path: Path) -> None:
    async with world(tmp_path) as place, locked_file(place.folder) as path:
        await place.write("one")
        database = CrampedDatabase(path, "tests.unit.actors.projection")
        async with database.open(), projected(place.ledger, database, RunWords()) as runs:
            await runs.wait_current(10_000)
            database.room = 0
            await place.write("two")
            with pytest.raises(FaultError) as full:
                await runs.wait_current(60_000)
            kept = await database.read("SELECT word FROM words")
            database.room = 1_000
            while database.full:
                with suppress(FaultError):
                    await runs.wait_current(60_000)

            assert full.value.fault.code is Code.CONFIG_STORAGE_FULL
            assert kept == [("one",)]
            assert await database.read("SELECT word FROM words") == [("one",), ("two",)]
            assert database.renewed == 0
