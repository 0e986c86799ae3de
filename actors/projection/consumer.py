"""Consumes a journal: keeps the tables at its end, and lets requests wait until they are there."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import anyio
import structlog

from actors.projection.database import Database, is_full
from actors.projection.projection import Projection, Reducer
from bus.errors import TransportError, storage_full
from bus.stores import EVERYTHING, JournalLine, JournalLog
from protocol.faults import Code, FaultError, fault

A = TypeVar("A")

log = structlog.stdlib.get_logger()

JOURNAL_NOT_READ = "journal_not_read"
NOT_APPLIED = "journal_not_applied"
REBUILT = "projection_rebuilt"
CAUGHT_UP = "projection_caught_up"

AGAIN_S: Final = 1.0
"""How long to wait after a failure."""

LOOK_S: Final = 10.0
"""How long to wait for a signal before reading all the same; whoever knows that there is something does not wait."""

PRUNE_S: Final = 60.0
"""How often is deleted what the journal has no longer."""

BATCH: Final = 256
"""Lines of one transaction while catching up."""

SHARE: Final = 0.8
"""Of the time that a request has left: what waiting for the tables may take, so that a response still arrives."""

FIRST_S: Final = 5.0
"""How long a replica waits for its tables before it serves; requests that come then wait for them themselves."""

_BEHIND = "Weft is still reading what has happened; ask again."


def patience_s(timeout_ms: int) -> float:
    """Return how long the request in hand may wait, of the time that it has, which is `timeout_ms` at most."""
    return min(timeout_ms / 1000, anyio.current_effective_deadline() - anyio.current_time()) * SHARE


@asynccontextmanager
async def projected(
    journal: JournalLog[A], database: Database, *reducers: Reducer[A], linger_s: float = 0.0
) -> AsyncGenerator[JournalConsumer[A]]:
    """Follow a journal into an open database while the block lasts, which begins when the end is reached.

    Where that takes longer than `FIRST_S`, the block begins all the same. Lines may gather for `linger_s` before they
    are applied, where nobody waits for them.
    """
    consumer = JournalConsumer(journal, Projection(journal.journal.name, database, reducers), linger_s)
    async with consumer.open():
        yield consumer


@dataclass
class JournalConsumer(Generic[A]):
    """Applies a journal to its tables as long as it is open."""

    journal: JournalLog[A]
    projection: Projection[A]
    linger_s: float = 0.0
    """How long lines may gather before they are applied together, where nobody waits for them."""

    _awaited: anyio.Event = field(default_factory=anyio.Event, init=False)
    _resting: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False)
    """The wait for a signal."""
    _batch: int = field(default=BATCH, init=False)
    """Lines of one transaction: fewer where there was no room for more."""
    _verified: bool = field(default=False, init=False)
    """Whether the tables are known to be made of this journal."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Consume while the block lasts, which begins when the end is reached, or after `FIRST_S`."""
        caught_up = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._consume, caught_up)
            tasks.start_soon(self._prune)
            with anyio.move_on_after(FIRST_S):
                await caught_up.wait()
            yield
            tasks.cancel_scope.cancel()

    async def wait_current(self, timeout_ms: int) -> None:
        """Wait until the tables have everything that is in the journal now, within the deadline of the request in hand.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when they will not be there in time; CONFIG_STORAGE_FULL, when there is no
                room for them.
        """
        if self.projection.database.broken:
            self._resting.cancel()
        with anyio.move_on_after(patience_s(timeout_ms)):
            end = await self._end()
            while self.projection.position.applied < end:
                self._awaited.set()
                await self._moved()
            return
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, _BEHIND))

    async def _consume(self, caught_up: anyio.Event) -> None:
        name = self.projection.journal
        while True:
            try:
                async with self.journal.records.signal() as wait:
                    while True:
                        async with self.projection.database.turn:
                            await self._catch_up()
                        caught_up.set()
                        with anyio.move_on_after(LOOK_S) as self._resting:
                            await wait()
                        await self._gather()
            except TransportError as error:
                log.warning(JOURNAL_NOT_READ, journal=name, reason=str(error))
            except (sqlite3.Error, OSError, FaultError) as error:
                self._failed(error)
            await anyio.sleep(AGAIN_S)

    def _failed(self, error: Exception) -> None:
        """Have the file replaced, unless there was no room in it: then less is written at once."""
        database = self.projection.database
        if not (is_full(error) and database.full):
            log.warning(NOT_APPLIED, journal=self.projection.journal, reason=str(error))
        if not is_full(error):
            database.broken = True
            return
        database.full = True
        self._batch = max(self._batch // 4, 1)
        self.projection.wake_all()

    async def _gather(self) -> None:
        """Let lines gather until somebody waits for them."""
        if self.linger_s:
            with anyio.move_on_after(self.linger_s):
                await self._awaited.wait()
            # Whoever waits from here on is served by what is read next.
            self._awaited = anyio.Event()

    async def _prune(self) -> None:
        """Delete what the journal has no longer, now and then; other replicas do the same to their own tables."""
        while True:
            try:
                end = await self.journal.end()
                first = await self.journal.records.batch(EVERYTHING, 0, 1)
                await self.projection.prune(first[0].sequence if first else end + 1)
            except (TransportError, sqlite3.Error) as error:
                log.warning(NOT_APPLIED, journal=self.projection.journal, reason=str(error))
            await anyio.sleep(PRUNE_S)

    async def _end(self) -> int:
        """Return the end of the journal that the tables are made of."""
        while True:
            before = self.projection.position.applied
            end = await self.journal.end()
            if self._verified and end >= before:
                return end
            # A position that did not move: the next read of the journal will see what is wrong with it.
            if not self._verified or self.projection.position.applied == before:
                await self._moved()

    async def _moved(self) -> None:
        """Have the journal read now, and wait until more of it is in the tables.

        Raises:
            FaultError: CONFIG_STORAGE_FULL, when there is no room for it.
        """
        self._resting.cancel()
        await self.projection.moved()
        if self.projection.database.full:
            raise FaultError(storage_full())

    async def _catch_up(self) -> None:
        """Apply what there is."""
        database = self.projection.database
        if database.broken:
            await database.renew()
            self.projection.wake_all()
        self._note_place()
        if self._verified and await self._apply(0):
            return
        end = await self.journal.end()
        if not (self._verified or await self._of_this_journal(end)) or end < self.projection.position.applied:
            log.warning(REBUILT, journal=self.projection.journal, reason="another journal, or lines are missing")
            await self.projection.restart()
        if end > self.projection.position.applied:
            await self._apply(end)
        if not self._verified:
            self._verified = True
            log.info(CAUGHT_UP, journal=self.projection.journal, line=end)
            self.projection.wake_all()

    async def _apply(self, end: int) -> bool:
        """Apply the lines after those that are in the tables, at least up to `end`, and return whether there were any.

        Whoever knows of no end need not ask for it while lines come.
        """
        before, batch = self.projection.position.applied, list[JournalLine[A]]()
        async with aclosing(self.journal.read(EVERYTHING, self.projection.position.applied)) as lines:
            async for line in lines:
                batch.append(line)
                if len(batch) >= self._batch or line.sequence == end:
                    await self._apply_batch(batch)
                    batch.clear()
        await self._apply_batch(batch, end)
        return self.projection.position.applied > before

    async def _apply_batch(self, batch: Sequence[JournalLine[A]], end: int = 0) -> None:
        """Apply lines; where they were written there is room again."""
        before = self.projection.position
        await self.projection.apply(batch, end)
        self._note_place()
        if self.projection.position != before:
            self.projection.database.full, self._batch = False, min(self._batch * 2, BATCH)

    def _note_place(self) -> None:
        self.journal.note_place("tables", self.projection.position.applied)

    async def _of_this_journal(self, end: int) -> bool:
        """Whether the tables are made of this journal, and no line is missing between them and what it has."""
        position = self.projection.position
        if position.applied == 0 or end < position.applied:
            return position.applied == 0
        line = await self.journal.records.at(position.line) if position.line else None
        if line is not None:
            return line.at_ms == position.written_at
        first = await self.journal.records.batch(EVERYTHING, 0, 1)
        return bool(first) and position.line < first[0].sequence <= position.applied + 1
