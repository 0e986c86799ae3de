"""The ledger as tables: lines go in, in their order and each once, and queries come out of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from actors.keeper.database import Database, Row, Write
from actors.keeper.views import RunChange, change_of
from bus.stores import JournalLine
from protocol.runs.events import KeptArtifact, LedgerLine, RunState, StepEnded
from protocol.runs.requests import ListRuns
from protocol.runs.responses import RunEvent

S = TypeVar("S", bound=Struct)

MAX_EVENTS = 500
"""How many events one answer has at most."""

_POSITION = "UPDATE place SET applied = ?, line = ?, written_at = ?"
_RUN = (
    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE SET "
    "status = excluded.status, updated_at = excluded.updated_at, started_at = excluded.started_at, "
    "ended_at = excluded.ended_at, ended_line = excluded.ended_line, done_steps = excluded.done_steps, "
    "cancel_requested = excluded.cancel_requested, error_code = excluded.error_code"
)
_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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
    "SELECT id, event, at, status, total_steps, done_steps, step, name, step_status, error_code "
    "FROM events WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?"
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
_NEWEST = " ORDER BY created_at DESC, created_line DESC LIMIT ? OFFSET ?"


class LedgerPosition(Struct, frozen=True):
    """How much of the ledger is in the tables, and the last line of that: its sequence, and when it was written."""

    applied: int
    line: int
    written_at: int


START: Final = LedgerPosition(0, 0, 0)


@dataclass
class Projection:
    """The tables, and the position in the ledger that they have reached."""

    database: Database
    position: LedgerPosition = START
    _moved: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)
    _awaited: WeakValueDictionary[str, anyio.Event] = field(
        default_factory=WeakValueDictionary[str, anyio.Event], init=False, repr=False
    )

    async def load(self) -> LedgerPosition:
        """Read the position of the tables."""
        (row,) = await self.database.read("SELECT applied, line, written_at FROM place")
        self.position = LedgerPosition(*row)
        return self.position

    async def apply(self, lines: Sequence[JournalLine[LedgerLine]], upto: int = 0) -> None:
        """Apply lines, and note that there are no others up to `upto`; those that are applied already are skipped.

        Raises:
            sqlite3.Error: none of them was applied.
        """
        fresh = [line for line in lines if line.sequence > self.position.applied]
        if fresh:
            position = LedgerPosition(max(upto, fresh[-1].sequence), fresh[-1].sequence, fresh[-1].at_ms)
        else:
            position = LedgerPosition(max(upto, self.position.applied), self.position.line, self.position.written_at)
        changes = await self._changes(fresh)
        if position != self.position:
            await self.database.write(*_writes(changes), (_POSITION, [astuple(position)]))
            self._reached(position, {change.run.run_id for change in changes})

    async def restart(self) -> None:
        """Delete everything: the ledger is not the one that the tables were made of."""
        await self.database.write(("DELETE FROM runs", [()]), (_POSITION, [astuple(START)]))
        self._reached(START, set(self._awaited))

    async def renew(self) -> None:
        """Replace the database by an empty one."""
        await self.database.renew()
        self._reached(START, set(self._awaited))

    async def prune(self, first: int) -> None:
        """Delete the runs that began before the first line that the ledger still has."""
        await self.database.write(("DELETE FROM runs WHERE created_line < ?", [(first,)]))

    async def mark_swept(self, artifact_id: str) -> None:
        """Note that the bytes of a file were deleted."""
        await self.database.write(("UPDATE artifacts SET swept = 1 WHERE artifact_id = ?", [(artifact_id,)]))

    async def moved(self) -> None:
        """Wait until the tables have moved."""
        await self._moved.wait()

    def wake(self) -> None:
        """Wake everybody who waits for the tables to move."""
        self._moved.set()
        self._moved = anyio.Event()

    def signal_of(self, run_id: str) -> anyio.Event:
        """Return the event that is set when something happens to a run; get it first, then read the run."""
        if (event := self._awaited.get(run_id)) is None:
            event = self._awaited[run_id] = anyio.Event()
        return event

    def _reached(self, position: LedgerPosition, runs: Iterable[str]) -> None:
        self.position = position
        self.wake()
        for run_id in runs:
            if (event := self._awaited.pop(run_id, None)) is not None:
                event.set()

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
    """One page of a list of runs, and how many runs the whole list has."""

    runs: tuple[RunState, ...]
    total: int


@dataclass(frozen=True)
class RunQueries:
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
        """Return the runs of a caller, newest first."""
        clause, values = where(request)
        newest = "SELECT * FROM runs" + clause + _NEWEST  # noqa: S608 - the clause is made of our own words
        page = await self.database.read(newest, (*values, request.limit, request.offset))
        count = "SELECT count(*) FROM runs" + clause  # noqa: S608 - as above
        ((total,),) = await self.database.read(count, values)
        return RunPage(runs=tuple(rows(RunState, page)), total=total)


def rows(kind: type[S], records: Iterable[Row]) -> list[S]:
    """Convert rows whose columns are the fields of `kind`."""
    names = kind.__struct_encode_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in records]


def _writes(changes: Sequence[RunChange]) -> list[Write]:
    last = {change.run.run_id: change.run for change in changes}
    writes: list[Write] = [
        (_RUN, [astuple(run) for run in last.values()]),
        (_EVENT, [_event(change.run.run_id, change.event) for change in changes]),
        (_ARTIFACT, [row for change in changes for row in _artifacts(change.run.run_id, change.artifacts)]),
    ]
    return [write for write in writes if write[1]]


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
