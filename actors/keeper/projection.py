"""The ledger as tables: lines go in, in their order and each once, and whoever waits for a run is woken."""

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

_PLACE = "UPDATE place SET applied = ?, line = ?, written_at = ?"
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
_KNOWN = "SELECT runs.* FROM json_each(?) AS asked JOIN runs ON runs.run_id = asked.value"
_OUTCOMES = (
    "SELECT run_id, step FROM json_each(?) AS asked JOIN events "
    "ON run_id = json_extract(asked.value, '$[0]') AND step = json_extract(asked.value, '$[1]')"
)


class Place(Struct, frozen=True):
    """How much of the ledger is in the tables, and the last line of that: its sequence, and when it was written."""

    applied: int
    line: int
    written_at: int


NOWHERE: Final = Place(0, 0, 0)


@dataclass
class Projection:
    """The tables, and how far they are."""

    database: Database
    place: Place = NOWHERE
    _moved: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)
    _awaited: WeakValueDictionary[str, anyio.Event] = field(
        default_factory=WeakValueDictionary[str, anyio.Event], init=False, repr=False
    )

    async def load(self) -> Place:
        """Read how far the tables are."""
        (row,) = await self.database.read("SELECT applied, line, written_at FROM place")
        self.place = Place(*row)
        return self.place

    async def apply(self, lines: Sequence[JournalLine[LedgerLine]], upto: int = 0) -> None:
        """Take lines in, and note that there is nothing to be taken in up to `upto`; what is there already is left.

        Raises:
            sqlite3.Error: nothing of it was taken in.
        """
        fresh = [line for line in lines if line.sequence > self.place.applied]
        if fresh:
            place = Place(max(upto, fresh[-1].sequence), fresh[-1].sequence, fresh[-1].at_ms)
        else:
            place = Place(max(upto, self.place.applied), self.place.line, self.place.written_at)
        changes = await self._changes(fresh)
        if place != self.place:
            await self.database.write(*_writes(changes), (_PLACE, [astuple(place)]))
            self._reached(place, {change.run.run_id for change in changes})

    async def restart(self) -> None:
        """Forget everything: the ledger is another one than that which the tables were made of."""
        await self.database.write(("DELETE FROM runs", [()]), (_PLACE, [astuple(NOWHERE)]))
        self._reached(NOWHERE, set(self._awaited))

    async def renew(self) -> None:
        """Begin with an empty file."""
        await self.database.renew()
        self._reached(NOWHERE, set(self._awaited))

    async def prune(self, first: int) -> None:
        """Forget the runs that began before the first line that the ledger still has."""
        await self.database.write(("DELETE FROM runs WHERE created_line < ?", [(first,)]))

    async def swept(self, artifact_id: str) -> None:
        """Note that the bytes of a file were deleted."""
        await self.database.write(("UPDATE artifacts SET swept = 1 WHERE artifact_id = ?", [(artifact_id,)]))

    async def moved(self) -> None:
        """Wait until the tables are no longer where they are now."""
        await self._moved.wait()

    def wake(self) -> None:
        """Have everybody look again who waits for the tables."""
        self._moved.set()
        self._moved = anyio.Event()

    def news_of(self, run_id: str) -> anyio.Event:
        """Return what is set when something happens to a run; ask for it first, then look at the run."""
        if (event := self._awaited.get(run_id)) is None:
            event = self._awaited[run_id] = anyio.Event()
        return event

    def _reached(self, place: Place, runs: Iterable[str]) -> None:
        self.place = place
        self.wake()
        for run_id in runs:
            if (event := self._awaited.pop(run_id, None)) is not None:
                event.set()

    async def _changes(self, lines: Sequence[JournalLine[LedgerLine]]) -> list[RunChange]:
        """Fold lines, each after those before it."""
        names = sorted({line.value.run_id for line in lines})
        asked = sorted({(said.run_id, said.index) for line in lines if isinstance(said := line.value, StepEnded)})
        known = {run.run_id: run for run in rows(RunState, await self._read(_KNOWN, names))}
        outcomes = {(run_id, step) for run_id, step in await self._read(_OUTCOMES, asked)}
        changes = list[RunChange]()
        for line in lines:
            said = line.value
            step = (said.run_id, said.index) if isinstance(said, StepEnded) else None
            change = change_of(known.get(said.run_id), line.sequence, said, recorded=step in outcomes)
            if change is not None:
                known[said.run_id] = change.run
                changes.append(change)
                if step is not None:
                    outcomes.add(step)
        return changes

    async def _read(self, query: str, asked: Sequence[Any]) -> list[Row]:
        return await self.database.read(query, (msgspec.json.encode(asked).decode(),)) if asked else []


def rows(kind: type[S], found: Iterable[Row]) -> list[S]:
    """Read rows whose columns are the fields of `kind`."""
    names = kind.__struct_encode_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in found]


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


MAX_EVENTS = 500
"""How many events one answer has at most."""

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


class Listed(Struct, frozen=True, kw_only=True):
    """Runs of a list, and how many there are of that kind."""

    runs: tuple[RunState, ...]
    total: int


@dataclass(frozen=True)
class Reading:
    """Questions to the tables."""

    database: Database

    async def run(self, run_id: str, caller: str) -> RunState | None:
        """Return a run of a caller."""
        return next(iter(rows(RunState, await self.database.read(_RUN_OF_CALLER, (run_id, caller)))), None)

    async def events(self, run_id: str, after: int) -> tuple[RunEvent, ...]:
        """Return what has happened to a run after an event, MAX_EVENTS at most."""
        found = await self.database.read(_EVENTS, (run_id, after, MAX_EVENTS))
        return tuple(_run_event(row) for row in found)

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

    async def listed(self, asked: ListRuns) -> Listed:
        """Return the runs of a caller, newest first."""
        clause, values = wanted(asked)
        newest = "SELECT * FROM runs" + clause + _NEWEST  # noqa: S608 - the clause is made of our own words
        found = await self.database.read(newest, (*values, asked.limit, asked.offset))
        count = "SELECT count(*) FROM runs" + clause  # noqa: S608 - as above
        ((total,),) = await self.database.read(count, values)
        return Listed(runs=tuple(rows(RunState, found)), total=total)


def wanted(asked: ListRuns) -> tuple[str, tuple[str, ...]]:
    """Write which runs are wanted; the text is ours, the values are not."""
    columns = {"caller": asked.caller, "status": asked.status, "template_id": asked.template_id}
    given = {name: value for name, value in columns.items() if value is not None}
    return " WHERE " + " AND ".join(f"{name} = ?" for name in given), tuple(given.values())


def _run_event(row: Row) -> RunEvent:
    return rows(RunEvent, [row])[0]
