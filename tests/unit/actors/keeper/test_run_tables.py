"""Lines into tables: however they are cut into batches, and however often they come, the tables are the same."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.keeper.run_tables import RunQueries, RunTables
from actors.keeper.views import change_of
from actors.projection.database import Database, Row, rows
from actors.projection.projection import Projection
from bus.stores import JournalLine
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import LedgerLine, RunState, StepEnded
from protocol.runs.requests import ListRuns, RunSort
from protocol.runs.responses import RunEvent
from protocol.runs.states import RunStatus, StepStatus
from tests.unit.actors.keeper.ledger_data import (
    ME,
    NOW,
    cancelled,
    created,
    ended,
    kept,
    run_id,
    step,
    taken,
    topic_of,
)

RUNS = [run_id(1), run_id(2)]


def anything() -> st.SearchStrategy[LedgerLine]:
    """Return lines of two runs, in any order: most histories are illegal."""
    runs = st.sampled_from(RUNS)
    final = st.sampled_from([RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELED, RunStatus.PARTIAL_SUCCESS])
    return st.one_of(
        st.builds(created, runs, at=st.integers(NOW, NOW + 9)),
        st.builds(taken, runs, at=st.integers(NOW, NOW + 9)),
        st.builds(cancelled, runs),
        st.builds(step, st.integers(-1, 4), runs, status=st.sampled_from(list(StepStatus))),
        st.builds(
            ended,
            runs,
            status=final,
            artifacts=st.sampled_from([(), (kept(),)]),
            fault=st.sampled_from([None, fault(Code.RUN_TIMEOUT)]),
        ),
    )


def numbered(lines: Sequence[LedgerLine]) -> list[JournalLine[LedgerLine]]:
    return [JournalLine(number, topic_of(said), NOW + number, said) for number, said in enumerate(lines, 1)]


async def tables(batches: Sequence[Sequence[JournalLine[LedgerLine]]]) -> list[list[Row]]:
    """Apply batches, and give all that is in the tables then."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "keeper.sqlite", "actors.keeper")
        async with database.open():
            projection = Projection("ledger", database, (RunTables(database),))
            for batch in batches:
                await projection.apply(batch)
            reached = projection.position
        async with database.open():
            assert projection.position == reached
            return [
                await database.read("SELECT * FROM positions"),
                await database.read("SELECT * FROM runs ORDER BY run_id"),
                await database.read("SELECT * FROM events ORDER BY id"),
                await database.read("SELECT * FROM artifacts ORDER BY artifact_id"),
            ]


@pytest.mark.slow
@given(lines=st.lists(anything(), min_size=1, max_size=25), cut=st.integers(1, 25), again=st.integers(0, 25))
def test_batches_and_repetitions_change_nothing(lines: list[LedgerLine], cut: int, again: int) -> None:
    written = numbered(lines)
    pieces = [written[start : start + cut] for start in range(0, len(written), cut)]
    repeated = [*pieces, written[:again], written]

    whole = anyio.run(tables, [written])
    assert anyio.run(tables, repeated) == whole
    runs, events = rows(RunState, whole[1]), whole[2]
    for run in runs:
        mine = [rows(RunEvent, [row[1:]])[0] for row in events if row[0] == run.run_id]
        assert [one.event for one in mine[:1]] == ["queued"]
        assert [one.status.final for one in mine].count(True) == int(run.status.final)
        assert not any(one.status.final for one in mine[:-1])
        assert [one.done_steps for one in mine] == sorted(one.done_steps for one in mine)
        assert run.done_steps <= run.total_steps
        assert (mine[-1].status, mine[-1].done_steps) == (run.status, run.done_steps)


@given(lines=st.lists(anything(), max_size=25))
def test_a_run_never_leaves_its_end_nor_loses_a_step(lines: list[LedgerLine]) -> None:
    run, outcomes = None, set[int]()
    for number, said in enumerate(lines, 1):
        index = said.index if isinstance(said, StepEnded) else -1
        change = change_of(run, number, said, recorded=index in outcomes)
        if change is None:
            continue
        assert run is None or not run.status.final
        assert run is None or change.run.done_steps >= run.done_steps
        assert run is None or change.run.caller == ME
        assert change.event.id == number
        run = change.run
        outcomes.add(index)


async def test_a_list_goes_on_behind_a_run_in_every_order(tmp_path: Path) -> None:
    begun = [created(run_id(number), at=NOW + number // 2) for number in range(6)]
    changed = [taken(run_id(number), at=NOW + 20 - number) for number in (4, 1)]
    database = Database(tmp_path / "keeper.sqlite", "actors.keeper")
    async with database.open():
        await Projection("ledger", database, (RunTables(database),)).apply(numbered([*begun, *changed]))
        queries = RunQueries(database)

        async def listed(**chosen: Any) -> tuple[list[str], int, int]:
            page = await queries.page(ListRuns(caller=ME, **chosen))
            return [run.run_id for run in page.runs], page.offset, page.total

        newest = [run_id(number) for number in range(5, -1, -1)]
        assert await listed() == (newest, 0, 6)
        assert await listed(after=run_id(4), limit=2) == (newest[2:4], 2, 6)
        assert await listed(after=run_id(4), limit=2, offset=1) == (newest[3:5], 3, 6)
        assert await listed(ascending=True, after=run_id(1)) == (newest[-3::-1], 2, 6)
        assert await listed(status=RunStatus.RUNNING, after=run_id(4)) == ([run_id(1)], 1, 2)
        (first, second, *_), *_ = await listed(sort=RunSort.UPDATED)
        assert {first, second} == {run_id(4), run_id(1)}
        assert await listed(sort=RunSort.UPDATED, after=second, limit=1) == ([run_id(5)], 2, 6)
        with pytest.raises(FaultError, match="no run of this id"):
            await listed(after=run_id(9))
