"""What callers use: counted here without a word to the bus, and written to it every few seconds.

Each replica that does something for callers has rows of its own; whoever reads them sums them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import structlog

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

SUMS = ("requests", "errors", "cost_units", "model_calls", "input_tokens", "output_tokens", "model_cost_usd")
"""What is counted in one number."""


@dataclass
class UsageCounters:
    """What one caller has used on one day here; `written` when the bus has all of it."""

    requests: int = 0
    errors: int = 0
    pages: Counter[str] = field(default_factory=Counter[str])
    cost_units: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_cost_usd: float = 0.0
    written: bool = False

    def page_read(self, tier: RenderTier, count: int = 1) -> None:
        """Count pages of a tier."""
        self.pages[tier.value] += count
        self.cost_units += tier.spec.cost_units * count
        self.written = False

    def record(self) -> UsageRecord:
        """Return it as it stands."""
        counted = {name: getattr(self, name) for name in SUMS}
        return UsageRecord(pages=dict(self.pages), **counted)


def utc_day() -> str:
    """Return the day, as 2026-11-21."""
    return datetime.now(UTC).date().isoformat()


@dataclass
class UsageLedger:
    """What all callers have used here, by caller and day, as `replica`, which no other ledger is called."""

    replica: str = "0"
    today: Callable[[], str] = utc_day
    _counters: dict[tuple[str, str], UsageCounters] = field(
        default_factory=dict[tuple[str, str], UsageCounters], init=False, repr=False
    )

    def counters(self, caller: str) -> UsageCounters:
        """Return what a caller has used today, for more to be counted."""
        return self._counters.setdefault((caller, self.today()), UsageCounters())

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
        due = [place for place, counters in self._counters.items() if not counters.written]
        try:
            table = await bus.table(USAGE) if due else None
            for caller, day in due:
                counters = self._counters[caller, day]
                counters.written = True
                if table is not None:
                    await table.put(f"{caller}/{day}/{self.replica}", counters.record())
        except FaultError as error:
            log.warning(USAGE_NOT_WRITTEN, code=error.fault.code)
            for place in due:
                self._counters[place].written = False
        today = self.today()
        self._counters = {place: one for place, one in self._counters.items() if place[1] == today or not one.written}

    async def _write(self, bus: Tables) -> None:
        while True:
            await anyio.sleep(WRITE_EVERY_S)
            await self.write(bus)
