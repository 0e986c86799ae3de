"""Consumes the ledger: keeps the tables at its end, and lets requests wait until they are there."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog

from actors.keeper.projection import Projection
from bus.errors import TransportError
from bus.stores import EVERYTHING, JournalLine, JournalLog
from protocol.codec import MalformedError
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import LedgerLine

log = structlog.stdlib.get_logger()

LEDGER_NOT_READ = "ledger_not_read"
LINE_NOT_READ = "ledger_line_not_read"
NOT_APPLIED = "ledger_not_applied"
REBUILT = "projection_rebuilt"
CAUGHT_UP = "projection_caught_up"

AGAIN_S: Final = 1.0
"""How long to wait for a signal before reading all the same, and after a failure."""

BATCH: Final = 256
"""Lines of one transaction while catching up."""

SHARE: Final = 0.8
"""Of the time that a request has left: what waiting for the tables may take, so that a response still arrives."""

FIRST_S: Final = 5.0
"""How long a replica waits for its tables before it serves; requests that come then wait for them themselves."""

_BEHIND = "Weft is still reading what has happened to the runs; ask again."


def patience_s(timeout_ms: int) -> float:
    """Return how long the request in hand may wait, of the time that it has, which is `timeout_ms` at most."""
    return min(timeout_ms / 1000, anyio.current_effective_deadline() - anyio.current_time()) * SHARE


@dataclass
class LedgerConsumer:
    """Applies the ledger to the tables as long as it is open."""

    ledger: JournalLog[LedgerLine]
    projection: Projection
    _verified: bool = field(default=False, init=False)
    """Whether the tables are known to be made of this ledger."""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Consume while the block lasts, which begins when the end is reached, or after `FIRST_S`."""
        caught_up = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._consume, caught_up)
            with anyio.move_on_after(FIRST_S):
                await caught_up.wait()
            yield
            tasks.cancel_scope.cancel()

    async def wait_current(self, timeout_ms: int) -> None:
        """Wait until the tables have everything that is in the ledger now, within the deadline of the request in hand.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when they will not be there in time.
        """
        with anyio.move_on_after(patience_s(timeout_ms)):
            end = await self._end()
            while self.projection.position.applied < end:
                await self.projection.moved()
            return
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, _BEHIND))

    async def _consume(self, caught_up: anyio.Event) -> None:
        while True:
            try:
                async with self.ledger.records.signal() as wait:
                    while True:
                        await self._catch_up()
                        caught_up.set()
                        with anyio.move_on_after(AGAIN_S):
                            await wait()
            except TransportError as error:
                log.warning(LEDGER_NOT_READ, reason=str(error))
            except (sqlite3.Error, OSError, FaultError) as error:
                log.warning(NOT_APPLIED, reason=str(error))
                self.projection.database.broken = True
            await anyio.sleep(AGAIN_S)

    async def _end(self) -> int:
        """Return the end of the ledger that the tables are made of."""
        while True:
            before = self.projection.position.applied
            end = await self.ledger.end()
            if self._verified and end >= before:
                return end
            # A position that did not move: the next read of the ledger will see what is wrong with it.
            if not self._verified or self.projection.position.applied == before:
                await self.projection.moved()

    async def _catch_up(self) -> None:
        """Apply what there is."""
        if self.projection.database.broken:
            await self.projection.renew()
        end = await self.ledger.end()
        if not (self._verified or await self._of_this_ledger(end)) or end < self.projection.position.applied:
            log.warning(REBUILT, reason="another ledger, or lines are missing")
            await self.projection.restart()
        if end > self.projection.position.applied:
            await self._apply(end)
        if not self._verified:
            self._verified = True
            log.info(CAUGHT_UP, line=end)
            self.projection.wake()

    async def _apply(self, end: int) -> None:
        """Apply the lines after those that are in the tables, at least up to `end`."""
        batch = list[JournalLine[LedgerLine]]()
        try:
            async with aclosing(self.ledger.read(EVERYTHING, self.projection.position.applied)) as lines:
                async for line in lines:
                    batch.append(line)
                    if len(batch) >= BATCH or line.sequence == end:
                        await self.projection.apply(batch)
                        batch.clear()
        except MalformedError:
            await self.projection.apply(batch)
            await self._skip_line()
        else:
            await self.projection.apply(batch, end)

    async def _skip_line(self) -> None:
        """Skip the next line, which cannot be decoded."""
        (bad,) = await self.ledger.records.batch(EVERYTHING, self.projection.position.applied, 1)
        log.warning(LINE_NOT_READ, line=bad.sequence)
        await self.projection.apply([], bad.sequence)

    async def _of_this_ledger(self, end: int) -> bool:
        """Whether the tables are made of this ledger, and no line is missing between them and what it has."""
        position = self.projection.position
        if position.applied == 0 or end < position.applied:
            return position.applied == 0
        line = await self.ledger.records.at(position.line) if position.line else None
        if line is not None:
            return line.at_ms == position.written_at
        first = await self.ledger.records.batch(EVERYTHING, 0, 1)
        return bool(first) and position.line < first[0].sequence <= position.applied + 1
