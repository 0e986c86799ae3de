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
from actors.keeper.folding import Change, RunRow, fold
from bus.stores import JournalLine
from protocol.runs.events import KeptArtifact, LedgerLine, StepEnded
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

    async def _changes(self, lines: Sequence[JournalLine[LedgerLine]]) -> list[Change]:
        """Fold lines, each after those before it."""
        names = sorted({line.value.run_id for line in lines})
        asked = sorted({(said.run_id, said.index) for line in lines if isinstance(said := line.value, StepEnded)})
        known = {run.run_id: run for run in rows(RunRow, await self._read(_KNOWN, names))}
        outcomes = {(run_id, step) for run_id, step in await self._read(_OUTCOMES, asked)}
        changes = list[Change]()
        for line in lines:
            said = line.value
            step = (said.run_id, said.index) if isinstance(said, StepEnded) else None
            change = fold(known.get(said.run_id), line.sequence, said, has_outcome=step in outcomes)
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


def _writes(changes: Sequence[Change]) -> list[Write]:
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
