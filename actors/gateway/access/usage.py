"""What each caller uses: counted here without a word to the bus, written to it every few seconds, summed when read."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import structlog
from msgspec import Struct

from bus import Tables
from protocol.access import UsageRecord
from protocol.faults import FaultError
from protocol.subjects import USAGE
from protocol.tiers import RenderTier

log = structlog.stdlib.get_logger()

USAGE_NOT_WRITTEN = "usage_not_written"

WRITE_EVERY_S = 5.0
CLOSE_S = 2.0
"""What writing may take at the end."""


class Usage(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a caller has used on one day, over all replicas."""

    day: str
    requests: int = 0
    errors: int = 0
    pages: dict[str, int] = {}
    cost_units: int = 0


@dataclass
class Tally:
    """What one caller has used on one day here; `written` when the bus has all of it."""

    requests: int = 0
    errors: int = 0
    pages: Counter[str] = field(default_factory=Counter[str])
    cost_units: int = 0
    written: bool = False

    def record(self) -> UsageRecord:
        """Return it as it stands."""
        return UsageRecord(
            requests=self.requests, errors=self.errors, pages=dict(self.pages), cost_units=self.cost_units
        )


@dataclass
class Visit:
    """One request, as it counts; it has failed when its status says so or a tool's answer does."""

    tally: Tally
    failed: bool = False


_visit: ContextVar[Visit | None] = ContextVar("weft_visit", default=None)


def page_read(tier: RenderTier, count: int = 1) -> None:
    """Count pages of a tier for whoever asked for the work in hand."""
    if (visit := _visit.get()) is not None:
        visit.tally.pages[tier.value] += count
        visit.tally.cost_units += tier.spec.cost_units * count


def failed() -> None:
    """Count the request in hand among the errors, whatever its status is."""
    if (visit := _visit.get()) is not None:
        visit.failed = True


def utc_day() -> str:
    """Tell the day, as 2026-11-21."""
    return datetime.now(UTC).date().isoformat()


@dataclass
class Ledger:
    """What all callers have used here, by caller and day, as `replica` of the gateway."""

    replica: str = "0"
    today: Callable[[], str] = utc_day
    _tallies: dict[tuple[str, str], Tally] = field(default_factory=dict[tuple[str, str], Tally], init=False, repr=False)

    @contextmanager
    def counting(self, caller: str) -> Generator[Visit]:
        """Count what is done in the block as one request of a caller."""
        visit = Visit(self._tallies.setdefault((caller, self.today()), Tally()))
        token = _visit.set(visit)
        try:
            yield visit
        except Exception:
            visit.failed = True
            raise
        finally:
            _visit.reset(token)
            visit.tally.requests += 1
            visit.tally.errors += visit.failed
            visit.tally.written = False

    @asynccontextmanager
    async def writing(self, bus: Tables) -> AsyncGenerator[None]:
        """Write to the bus as long as the block lasts, and what is left at its end."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, bus)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await self.write(bus)

    async def write(self, bus: Tables) -> None:
        """Write what is not written yet; what the bus does not take now waits for the next time."""
        due = [place for place, tally in self._tallies.items() if not tally.written]
        try:
            table = await bus.table(USAGE) if due else None
            for caller, day in due:
                tally = self._tallies[caller, day]
                tally.written = True
                if table is not None:
                    await table.put(f"{caller}/{day}/{self.replica}", tally.record())
        except FaultError as error:
            log.warning(USAGE_NOT_WRITTEN, code=error.fault.code)
            for place in due:
                self._tallies[place].written = False
        today = self.today()
        self._tallies = {place: one for place, one in self._tallies.items() if place[1] == today or not one.written}

    async def usage(self, bus: Tables, caller: str) -> Usage:
        """Sum what a caller has used today, over all replicas.

        Raises:
            FaultError: the bus is broken.
        """
        day = self.today()
        own = self._tallies.get((caller, day), Tally()).record()
        table, begin = await bus.table(USAGE), f"{caller}/{day}/"
        found = [own]
        for name in await table.names():
            if name.startswith(begin) and name != begin + self.replica:
                change = await table.get(name)
                found += [change.value] if change and change.value else []
        pages = Counter[str]()
        for one in found:
            pages.update(one.pages)
        return Usage(
            day=day,
            requests=sum(one.requests for one in found),
            errors=sum(one.errors for one in found),
            pages=dict(pages),
            cost_units=sum(one.cost_units for one in found),
        )

    async def _write(self, bus: Tables) -> None:
        while True:
            await anyio.sleep(WRITE_EVERY_S)
            await self.write(bus)
