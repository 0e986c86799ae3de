"""The actor that answers how runs stand, from a database made of the ledger, and reads and deletes their files."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import anyio
import structlog
from msgspec.structs import replace

from actors.actor import Actor, handles
from actors.keeper.run_tables import RunQueries, RunTables
from actors.keeper.views import run_so_far, summary, whole_run
from actors.projection.consumer import JournalConsumer, patience_s, projected
from actors.projection.database import Database, locked_file
from bus.clock import now_ms
from bus.stores import FileStore, JournalLog
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import KeptArtifact, LedgerLine, RunEnded, RunState, slice_name
from protocol.runs.requests import AskRun, FollowRun, ListRuns, ReadArtifact, RunNews
from protocol.runs.responses import ArtifactChunk, Run, RunList
from protocol.subjects import Journal, Objects

log = structlog.stdlib.get_logger()

ARTIFACT_SWEPT = "artifact_swept"
NOT_SWEPT = "artifacts_not_swept"

SWEEP_S: Final = 60.0
AT_ONCE: Final = 100


async def read_piece(store: FileStore, kept: KeptArtifact, offset: int, limit: int) -> ArtifactChunk:
    """Read up to `limit` bytes from `offset` on.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when there is nothing from there on; ARTIFACT_EXPIRED, when its bytes
            are gone.
    """
    if offset > kept.size:
        message = f"offset: {offset} is beyond the {kept.size} bytes of the artifact"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="offset"))
    end = min(offset + limit, kept.size)
    data = await _bytes(store, kept, offset, end)
    chunk = ArtifactChunk(
        artifact_id=kept.artifact_id,
        mime_type=kept.type.media_type,
        size=kept.size,
        data=data,
        complete=end == kept.size,
    )
    return chunk if len(data) == kept.size else replace(chunk, offset=offset, bytes_returned=len(data))


async def _bytes(store: FileStore, kept: KeptArtifact, offset: int, end: int) -> bytes:
    """Join the bytes of the slices that a piece lies in."""
    pieces = list[bytes]()
    at = offset
    while at < end:
        number, within = divmod(at, kept.slice_bytes)
        try:
            data = await store.get(slice_name(kept.artifact_id, number))
        except KeyError:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED)) from None
        piece = data[within : within + end - at]
        if not piece:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED))
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


@dataclass(frozen=True)
class Sweeper:
    """Deletes the files that have expired."""

    store: FileStore
    tables: RunTables
    queries: RunQueries
    clock: Callable[[], int]

    async def run(self) -> None:
        """Sweep now and every minute; other replicas do the same, which does no harm."""
        while True:
            try:
                await self._sweep()
            except (FaultError, sqlite3.Error) as error:
                log.warning(NOT_SWEPT, reason=str(error))
            await anyio.sleep(SWEEP_S)

    async def _sweep(self) -> None:
        while expired := await self.queries.to_sweep(self.clock(), AT_ONCE):
            for kept in expired:
                for number in range(max(1, -(-kept.size // kept.slice_bytes))):  # an empty file has a slice too
                    await self.store.delete(slice_name(kept.artifact_id, number))
                await self.tables.mark_swept(kept.artifact_id)
                log.info(ARTIFACT_SWEPT, artifact=kept.artifact_id, size=kept.size)


MAX_WAIT_S = 5.0
"""How long a request for events is kept open at most: a replica that is stopped completes the requests in hand."""


@dataclass
class Keeper(Actor):
    """Answers for runs and their files; the truth is in the ledger, this is a view of it."""

    name: ClassVar[str] = "keeper"
    stores: ClassVar[tuple[Objects, ...]] = (subjects.ARTIFACTS,)
    reads: ClassVar[tuple[Journal[Any], ...]] = (subjects.LEDGER,)

    clock: Callable[[], int] = now_ms
    """The time in ms since the epoch."""

    _ledger: JournalLog[LedgerLine] = field(init=False, repr=False)
    _store: FileStore = field(init=False, repr=False)
    _queries: RunQueries = field(init=False, repr=False)
    _runs: JournalConsumer[LedgerLine] = field(init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open a database of its own, and keep it at the end of its journals."""
        self._ledger = await self.bus.journal(subjects.LEDGER)
        self._store = await self.bus.objects(subjects.ARTIFACTS)
        async with locked_file(self.settings.data_dir / "keeper") as path:
            database = Database(path, "actors.keeper")
            tables, self._queries = RunTables(database), RunQueries(database)
            sweeper = Sweeper(self._store, tables, self._queries, self.clock)
            async with (
                database.open(),
                projected(self._ledger, database, tables) as self._runs,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(sweeper.run)
                yield
                tasks.cancel_scope.cancel()

    @handles(subjects.RUN_GET, at_once=64)
    async def get(self, request: AskRun) -> Run:
        """Return a run, with its result when it is over.

        Raises:
            FaultError: RUN_NOT_FOUND; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        await self._runs.wait_current(subjects.RUN_GET.timeout_ms)
        state = await self._run(request.run_id, request.caller)
        artifacts = await self._queries.artifacts(state.run_id) if state.status.final else ()
        return whole_run(state, artifacts, await self._end_of(state), self.clock())

    @handles(subjects.RUN_LIST, at_once=16)
    async def list(self, request: ListRuns) -> RunList:
        """Return the runs of a caller."""
        await self._runs.wait_current(subjects.RUN_LIST.timeout_ms)
        page = await self._queries.page(request)
        return RunList(runs=tuple(map(summary, page.runs)), total=page.total)

    @handles(subjects.RUN_FOLLOW, at_once=1_000)
    async def follow(self, request: FollowRun) -> RunNews:
        """Return what has happened to a run since an event, as soon as there is something; after its end, at once.

        Raises:
            FaultError: RUN_NOT_FOUND; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        wait_s = min(request.wait_ms / 1000, MAX_WAIT_S, patience_s(subjects.RUN_FOLLOW.timeout_ms))
        until = anyio.current_time() + wait_s
        await self._runs.wait_current(subjects.RUN_FOLLOW.timeout_ms)
        while True:
            applied, signal = self._runs.projection.position.applied, self._runs.projection.signal_of(request.run_id)
            state = await self._run(request.run_id, request.caller)
            events = await self._queries.events(request.run_id, request.after)
            if events or state.status.final or anyio.current_time() >= until:
                return RunNews(events=events, run=run_so_far(state, self.clock()))
            with anyio.CancelScope(deadline=until):
                await signal.wait()
            if self._runs.projection.position.applied < applied:  # the tables are being rebuilt
                await self._runs.wait_current(subjects.RUN_FOLLOW.timeout_ms)

    @handles(subjects.ARTIFACT_READ, at_once=16)
    async def read(self, request: ReadArtifact) -> ArtifactChunk:
        """Return a piece of a file.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND; ARTIFACT_EXPIRED; VALIDATION_INVALID_REQUEST, when it ends before the
                offset; INTERNAL_UNAVAILABLE, when the ledger cannot be read.
        """
        await self._runs.wait_current(subjects.ARTIFACT_READ.timeout_ms)
        kept = await self._queries.artifact(request.artifact_id, request.caller)
        if kept is None:
            raise FaultError(fault(Code.ARTIFACT_NOT_FOUND))
        if self.clock() > kept.expires_at:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED))
        return await read_piece(
            self._store, kept, request.offset, min(request.limit, self.settings.artifact_inline_bytes)
        )

    async def _run(self, run_id: str, caller: str) -> RunState:
        state = await self._queries.run(run_id, caller)
        if state is None:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        return state

    async def _end_of(self, state: RunState) -> RunEnded | None:
        """Read the line that ended a run, which alone has its result."""
        if not state.status.final:
            return None
        line = await self._ledger.at(state.ended_line)
        return line.value if line is not None and isinstance(line.value, RunEnded) else None
