"""The tables of runs: what the lines of the ledger change in them, and what is asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from actors.keeper.views import RunChange, change_of
from actors.projection.database import Database, Row, Write, rows
from actors.projection.projection import TableUpdate
from bus.stores import JournalLine
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import KeptArtifact, LedgerLine, RunState, StepEnded
from protocol.runs.requests import ListRuns, RunSort
from protocol.runs.responses import RunEvent

MAX_EVENTS = 500
"""How many events one answer has at most."""

_RUN = (
    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE SET "
    "status = excluded.status, updated_at = excluded.updated_at, started_at = excluded.started_at, "
    "ended_at = excluded.ended_at, ended_line = excluded.ended_line, done_steps = excluded.done_steps, "
    "cancel_requested = excluded.cancel_requested, error_code = excluded.error_code"
)
_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ARTIFACT = (
    "INSERT OR IGNORE INTO artifacts (artifact_id, run_id, number, type, size, expires_at, slice_bytes) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_RUNS_BY_ID = "SELECT runs.* FROM json_each(?) AS wanted JOIN runs ON runs.run_id = wanted.value"
_OUTCOMES = (
    "SELECT run_id, step FROM json_each(?) AS wanted JOIN events "
    "ON run_id = json_extract(wanted.value, '$[0]') AND step = json_extract(wanted.value, '$[1]')"
)

_RUN_OF_CALLER = "SELECT * FROM runs WHERE run_id = ? AND caller = ?"
_EVENTS = (
    "SELECT id, event, at, status, total_steps, done_steps, step, name, step_status, error_code, started_at, "
    "screenshot FROM events WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?"
)
_ARTIFACTS = "SELECT artifact_id, type, size, expires_at, slice_bytes FROM artifacts WHERE run_id = ? ORDER BY number"
_ARTIFACT_OF_CALLER = (
    "SELECT artifact_id, type, size, expires_at, slice_bytes FROM artifacts JOIN runs USING (run_id) "
    "WHERE artifact_id = ? AND caller = ?"
)
_TO_SWEEP = (
    "SELECT artifact_id, type, size, expires_at, slice_bytes FROM artifacts "
    "WHERE swept = 0 AND expires_at < ? ORDER BY expires_at LIMIT ?"
)
_COLUMNS: Mapping[RunSort, str] = MappingProxyType({RunSort.CREATED: "created_at", RunSort.UPDATED: "updated_at"})


class RunTables(Struct, frozen=True):
    """The runs, their events and their files: what the lines of the ledger make of them."""

    database: Database
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM runs",)
    prune: ClassVar[tuple[str, ...]] = ("DELETE FROM runs WHERE created_line < ?",)

    async def update(self, lines: Sequence[JournalLine[LedgerLine]]) -> TableUpdate:
        """Return what some lines change, by the names of the runs that they are of."""
        changes = await self._changes(lines)
        return TableUpdate(_writes(changes), {change.run.run_id for change in changes})

    async def mark_swept(self, artifact_id: str) -> None:
        """Note that the bytes of a file were deleted."""
        await self.database.write(("UPDATE artifacts SET swept = 1 WHERE artifact_id = ?", [(artifact_id,)]))

    async def _changes(self, lines: Sequence[JournalLine[LedgerLine]]) -> list[RunChange]:
        """Fold lines, each after those before it."""
        ids = sorted({line.value.run_id for line in lines})
        steps = sorted({(event.run_id, event.index) for line in lines if isinstance(event := line.value, StepEnded)})
        runs = {run.run_id: run for run in rows(RunState, await self._read(_RUNS_BY_ID, ids))}
        outcomes = {(run_id, step) for run_id, step in await self._read(_OUTCOMES, steps)}
        changes = list[RunChange]()
        for line in lines:
            event = line.value
            step = (event.run_id, event.index) if isinstance(event, StepEnded) else None
            change = change_of(runs.get(event.run_id), line.sequence, event, recorded=step in outcomes)
            if change is not None:
                runs[event.run_id] = change.run
                changes.append(change)
                if step is not None:
                    outcomes.add(step)
        return changes

    async def _read(self, query: str, wanted: Sequence[Any]) -> list[Row]:
        return await self.database.read(query, (msgspec.json.encode(wanted).decode(),)) if wanted else []


class RunPage(Struct, frozen=True, kw_only=True):
    """One page of a list of runs, how many runs the whole list has, and how many of them stand before the page."""

    runs: tuple[RunState, ...]
    total: int
    offset: int


class RunQueries(Struct, frozen=True):
    """The queries to the tables."""

    database: Database

    async def run(self, run_id: str, caller: str) -> RunState | None:
        """Return a run of a caller."""
        return next(iter(rows(RunState, await self.database.read(_RUN_OF_CALLER, (run_id, caller)))), None)

    async def events(self, run_id: str, after: int) -> tuple[RunEvent, ...]:
        """Return what has happened to a run after an event, MAX_EVENTS at most."""
        return tuple(rows(RunEvent, await self.database.read(_EVENTS, (run_id, after, MAX_EVENTS))))

    async def artifacts(self, run_id: str) -> tuple[KeptArtifact, ...]:
        """Return the files of a run, in their order."""
        return tuple(rows(KeptArtifact, await self.database.read(_ARTIFACTS, (run_id,))))

    async def artifact(self, artifact_id: str, caller: str) -> KeptArtifact | None:
        """Return a file of a caller."""
        return next(
            iter(rows(KeptArtifact, await self.database.read(_ARTIFACT_OF_CALLER, (artifact_id, caller)))), None
        )

    async def to_sweep(self, now: int, limit: int) -> list[KeptArtifact]:
        """Return files whose time is over and whose bytes may still be there."""
        return rows(KeptArtifact, await self.database.read(_TO_SWEEP, (now, limit)))

    async def page(self, request: ListRuns) -> RunPage:
        """Return the runs of a caller, newest first unless another order is asked for.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, there is no run `after` which to begin.
        """
        clause, values = where(request)
        column, up = _COLUMNS[request.sort], request.ascending
        behind, key, before = "", tuple[int, ...](), 0
        if request.after is not None:
            key = await self._key(request.after, request.caller, column)
            behind = f" AND ({column}, created_line) {'>' if up else '<'} (?, ?)"
            before = await self._count(
                f"{clause} AND ({column}, created_line) {'<=' if up else '>='} (?, ?)", *values, *key
            )
        order = f" ORDER BY {column} {'ASC' if up else 'DESC'}, created_line {'ASC' if up else 'DESC'} LIMIT ? OFFSET ?"
        query = "SELECT * FROM runs" + clause + behind + order  # noqa: S608 - all made of our own words
        page = await self.database.read(query, (*values, *key, request.limit, request.offset))
        total = await self._count(clause, *values)
        return RunPage(runs=tuple(rows(RunState, page)), total=total, offset=before + request.offset)

    async def _key(self, run_id: str, caller: str, column: str) -> tuple[int, ...]:
        """Return where a run of a caller stands in an order."""
        query = f"SELECT {column}, created_line FROM runs WHERE run_id = ? AND caller = ?"  # noqa: S608 - our own word
        for key in await self.database.read(query, (run_id, caller)):
            return key
        message = "There is no run of this id any more; begin the list anew."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="after"))

    async def _count(self, clause: str, *values: str | int) -> int:
        ((count,),) = await self.database.read("SELECT count(*) FROM runs" + clause, values)  # noqa: S608 - as above
        return int(count)


def _writes(changes: Sequence[RunChange]) -> list[Write]:
    last = {change.run.run_id: change.run for change in changes}
    return [
        (_RUN, [astuple(run) for run in last.values()]),
        (_EVENT, [_event(change.run.run_id, change.event) for change in changes]),
        (_ARTIFACT, [row for change in changes for row in _artifacts(change.run.run_id, change.artifacts)]),
    ]


def _event(run_id: str, event: RunEvent) -> tuple[Any, ...]:
    return (run_id, *astuple(event))


def _artifacts(run_id: str, kept: Iterable[KeptArtifact]) -> list[tuple[Any, ...]]:
    return [
        (one.artifact_id, run_id, number, one.type, one.size, one.expires_at, one.slice_bytes)
        for number, one in enumerate(kept)
    ]


def where(request: ListRuns) -> tuple[str, tuple[str, ...]]:
    """Write the clause that selects the runs of a list; the text is ours, the values are not."""
    columns = {"caller": request.caller, "status": request.status, "template_id": request.template_id}
    given = {name: value for name, value in columns.items() if value is not None}
    return " WHERE " + " AND ".join(f"{name} = ?" for name in given), tuple(given.values())
