"""What is asked of the tables."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from actors.keeper.database import Database, Row
from actors.keeper.folding import RunRow
from actors.keeper.projection import rows
from protocol.runs.events import KeptArtifact
from protocol.runs.requests import ListRuns
from protocol.runs.responses import RunEvent

MAX_EVENTS = 500
"""How many events one answer has at most."""

_RUN = "SELECT * FROM runs WHERE run_id = ? AND caller = ?"
_EVENTS = (
    "SELECT id, event, at, status, total_steps, done_steps, step, name, step_status, error_code "
    "FROM events WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?"
)
_ARTIFACTS = "SELECT artifact_id, type, size, expires_at, slice_bytes FROM artifacts WHERE run_id = ? ORDER BY number"
_ARTIFACT = (
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

    runs: tuple[RunRow, ...]
    total: int


@dataclass(frozen=True)
class Reading:
    """Questions to the tables."""

    database: Database

    async def run(self, run_id: str, caller: str) -> RunRow | None:
        """Return a run of a caller."""
        return next(iter(rows(RunRow, await self.database.read(_RUN, (run_id, caller)))), None)

    async def events(self, run_id: str, after: int) -> tuple[RunEvent, ...]:
        """Return what has happened to a run after an event, MAX_EVENTS at most."""
        found = await self.database.read(_EVENTS, (run_id, after, MAX_EVENTS))
        return tuple(_event(row) for row in found)

    async def artifacts(self, run_id: str) -> tuple[KeptArtifact, ...]:
        """Return the files of a run, in their order."""
        return tuple(rows(KeptArtifact, await self.database.read(_ARTIFACTS, (run_id,))))

    async def artifact(self, artifact_id: str, caller: str) -> KeptArtifact | None:
        """Return a file of a caller."""
        return next(iter(rows(KeptArtifact, await self.database.read(_ARTIFACT, (artifact_id, caller)))), None)

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
        return Listed(runs=tuple(rows(RunRow, found)), total=total)


def wanted(asked: ListRuns) -> tuple[str, tuple[str, ...]]:
    """Write which runs are wanted; the text is ours, the values are not."""
    columns = {"caller": asked.caller, "status": asked.status, "template_id": asked.template_id}
    given = {name: value for name, value in columns.items() if value is not None}
    return " WHERE " + " AND ".join(f"{name} = ?" for name in given), tuple(given.values())


def _event(row: Row) -> RunEvent:
    return rows(RunEvent, [row])[0]
