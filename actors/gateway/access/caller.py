"""Who asks, what they may do, and what they use.

Use is counted by request, and summed over all replicas, of whatever actor, when it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from msgspec import Struct

from actors.gateway.http import CHALLENGE, HttpStatusError
from actors.usage import SUMS, UsageCounters, UsageLedger
from bus import Tables
from protocol.access import OWNER_NAME, KeyLimits, UsageRecord
from protocol.access import Scope as Scope  # noqa: PLC0414 - it is the gate's word, and stands with what it is kept in
from protocol.answers import ServedBy
from protocol.faults import Code, fault
from protocol.subjects import USAGE
from protocol.tiers import RenderTier

EVERY_SCOPE = frozenset(Scope)


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
class RequestUsage:
    """What one request uses; it has failed when its status says so or a tool's answer does.

    Without the counters of a caller it counts for nobody.
    """

    counters: UsageCounters = field(default_factory=UsageCounters)
    failed: bool = False

    def page_read(self, tier: RenderTier, count: int = 1) -> None:
        """Count pages of a tier."""
        self.counters.page_read(tier, count)

    def models_asked(self, served: ServedBy) -> None:
        """Count the calls of models that an answer took."""
        self.counters.model_calls += served.calls
        self.counters.input_tokens += served.usage.input
        self.counters.output_tokens += served.usage.output
        self.counters.model_cost_usd += served.cost_usd or 0.0


@dataclass
class Ledger(UsageLedger):
    """What all callers have used: here counted by request, and read over all replicas."""

    @contextmanager
    def counting(self, caller: str) -> Generator[RequestUsage]:
        """Count what is done in the block as one request of a caller."""
        usage = RequestUsage(self.counters(caller))
        try:
            yield usage
        except Exception:
            usage.failed = True
            raise
        finally:
            usage.counters.requests += 1
            usage.counters.errors += usage.failed
            usage.counters.written = False

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


def summed(day: str, records: Sequence[UsageRecord | Usage]) -> Usage:
    """Sum what was used on one day: by replicas, or by callers."""
    pages = Counter[str]()
    for one in records:
        pages.update(one.pages)
    return Usage(day=day, pages=dict(pages), **{name: sum(getattr(one, name) for one in records) for name in SUMS})
