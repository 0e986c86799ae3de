"""Who asks, what they may do, and what they use.

Use is counted here without a word to the bus, written to it every few seconds, and summed over all replicas when read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

import anyio
import structlog
from msgspec import Struct

from actors.gateway.http import CHALLENGE, HttpStatusError
from bus import Tables
from protocol.access import OWNER_NAME, KeyLimits, UsageRecord
from protocol.access import Scope as Scope  # noqa: PLC0414 - it is the gate's word, and stands with what it is kept in
from protocol.answers import ServedBy
from protocol.faults import Code, FaultError, fault
from protocol.subjects import USAGE
from protocol.tiers import RenderTier

EVERY_SCOPE = frozenset(Scope)

log = structlog.stdlib.get_logger()

USAGE_NOT_WRITTEN = "usage_not_written"

WRITE_EVERY_S = 5.0
CLOSE_S = 2.0
"""What writing may take at the end."""


@dataclass(frozen=True)
class Caller:
    """Who asks. `name` tells apart what belongs to whom, and is no secret; `local` is the trust level of 002 §9.

    `challenge` is how this caller is asked for more than it may.
    """

    name: str
    scopes: frozenset[Scope] = EVERY_SCOPE
    local: bool = False
    limits: KeyLimits = field(default_factory=KeyLimits, compare=False)
    challenge: str = field(default=CHALLENGE, compare=False)

    def require(self, scope: Scope) -> None:
        """Let the caller go on who has a scope.

        Raises:
            HttpStatusError: AUTH_INSUFFICIENT_SCOPE, with the scope named (RFC 6750 §3.1).
        """
        if scope in self.scopes:
            return
        error = fault(Code.AUTH_INSUFFICIENT_SCOPE, f"This needs a key with the scope {scope}.")
        challenge = f'{self.challenge}, error="insufficient_scope", scope="{scope}"'
        raise HttpStatusError(error, HTTPStatus.FORBIDDEN, {"WWW-Authenticate": challenge})


NOBODY = Caller("nobody", frozenset())
"""Who shows no key; only what is open to all is done for them."""

OWNER = Caller(OWNER_NAME)
"""Who has the key that was made with the installation."""

STDIO = Caller(OWNER_NAME, local=True)
"""Who started us themselves, on their own machine, and speaks over pipes."""


class Usage(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a caller has used on one day, over all replicas."""

    day: str
    requests: int = 0
    errors: int = 0
    pages: dict[str, int] = {}
    cost_units: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_cost_usd: float = 0.0


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

    def record(self) -> UsageRecord:
        """Return it as it stands."""
        counted = {name: getattr(self, name) for name in _SUMS}
        return UsageRecord(pages=dict(self.pages), **counted)


@dataclass
class RequestUsage:
    """What one request uses; it has failed when its status says so or a tool's answer does.

    Without the counters of a caller it counts for nobody.
    """

    counters: UsageCounters = field(default_factory=UsageCounters)
    failed: bool = False

    def page_read(self, tier: RenderTier, count: int = 1) -> None:
        """Count pages of a tier."""
        self.counters.pages[tier.value] += count
        self.counters.cost_units += tier.spec.cost_units * count

    def models_asked(self, served: ServedBy) -> None:
        """Count the calls of models that an answer took."""
        self.counters.model_calls += served.calls
        self.counters.input_tokens += served.usage.input
        self.counters.output_tokens += served.usage.output
        self.counters.model_cost_usd += served.cost_usd or 0.0


def utc_day() -> str:
    """Return the day, as 2026-11-21."""
    return datetime.now(UTC).date().isoformat()


@dataclass
class Ledger:
    """What all callers have used here, by caller and day, as `replica` of the gateway."""

    replica: str = "0"
    today: Callable[[], str] = utc_day
    _counters: dict[tuple[str, str], UsageCounters] = field(
        default_factory=dict[tuple[str, str], UsageCounters], init=False, repr=False
    )

    @contextmanager
    def counting(self, caller: str) -> Generator[RequestUsage]:
        """Count what is done in the block as one request of a caller."""
        usage = RequestUsage(self._counters.setdefault((caller, self.today()), UsageCounters()))
        try:
            yield usage
        except Exception:
            usage.failed = True
            raise
        finally:
            usage.counters.requests += 1
            usage.counters.errors += usage.failed
            usage.counters.written = False

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

    async def usage(self, bus: Tables, caller: str) -> Usage:
        """Sum what a caller has used today, over all replicas.

        Raises:
            FaultError: the bus is broken.
        """
        return (await self.usages(bus, caller)).get(caller) or Usage(day=self.today())

    async def usages(self, bus: Tables, caller: str | None = None) -> dict[str, Usage]:
        """Sum what every caller, or this one, has used today, over all replicas.

        Raises:
            FaultError: the bus is broken.
        """
        day = self.today()
        records = {who: [one.record()] for (who, when), one in self._counters.items() if when == day}
        table = await bus.table(USAGE)
        for name in await table.names():
            who, when, replica = name.rsplit("/", 2)
            if when == day and replica != self.replica and caller in (None, who):
                change = await table.get(name)
                records.setdefault(who, []).extend([change.value] if change and change.value else [])
        return {who: summed(day, of_one) for who, of_one in records.items()}

    async def _write(self, bus: Tables) -> None:
        while True:
            await anyio.sleep(WRITE_EVERY_S)
            await self.write(bus)


def summed(day: str, records: Sequence[UsageRecord | Usage]) -> Usage:
    """Sum what was used on one day: by replicas, or by callers."""
    pages = Counter[str]()
    for one in records:
        pages.update(one.pages)
    return Usage(day=day, pages=dict(pages), **{name: sum(getattr(one, name) for one in records) for name in _SUMS})


_SUMS = ("requests", "errors", "cost_units", "model_calls", "input_tokens", "output_tokens", "model_cost_usd")
"""What is counted in one number."""
