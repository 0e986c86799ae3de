"""Keeps what models may cost: portions of each limit are taken from a bucket, and spent from by this replica alone.

A portion is taken before anything is spent from it, and all replicas take from the same row by compare-and-set: so no
limit is ever exceeded by all of them together, but for what a call costs beyond its estimate, and most calls
wait for no bus. What a replica has not spent it gives back when it ends; if it dies, that much less is left of the day.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import anyio
import structlog

from actors.settings import Settings
from bus import Tables
from bus.clock import now_ms
from bus.stores import KeyTable
from protocol.faults import Code, FaultError, fault
from protocol.models import SpendTaken
from protocol.subjects import MODEL_SPEND

log = structlog.stdlib.get_logger()

NOT_RETURNED: Final = "model_budget_not_returned"

PORTION: Final = 0.05
"""What is taken at once, of a limit."""

TRIES: Final = 20
"""How often a portion is asked for anew because another replica was faster."""

MOST_SHARES: Final = 2_000
"""Limits of keys and runs that are remembered at once; those that nobody spends from are given back first."""

CLOSE_S: Final = 2.0
_NEAR_ZERO: Final = 1e-9


@dataclass
class LimitShare:
    """One limit, as far as it is this replica's: of what it has `taken`, some is spent and some held for calls."""

    key: str
    limit: float
    taken: float = 0.0
    spent: float = 0.0
    held: float = 0.0
    lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def free(self) -> float:
        """What may still be spent without asking the others; below 0 where a call cost more than was held for it."""
        return self.taken - self.spent - self.held


@dataclass
class Hold:
    """What is held for one call, until it is settled; `counted`: it has no price, and counts whatever comes of it."""

    counted: bool = False
    parts: tuple[tuple[LimitShare, float], ...] = ()

    def settle(self, cost_usd: float | None) -> None:
        """Spend what it cost instead of what was held; None: what was held. A second time nothing happens."""
        parts, self.parts = self.parts, ()
        for share, amount in parts:
            share.held -= amount
            share.spent += amount if cost_usd is None or self.counted else cost_usd


@dataclass
class ModelBudget:
    """The limits of the settings: all calls of a day, those of a key, those of a run, and those without a price."""

    bus: Tables
    settings: Settings
    clock: Callable[[], int] = now_ms
    _shares: OrderedDict[str, LimitShare] = field(default_factory=OrderedDict[str, LimitShare], init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[ModelBudget]:
        """Spend while the block lasts; what is left at its end goes back to the others."""
        try:
            yield self
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._give_back(list(self._shares.values()))

    async def hold(self, caller: str, run: str, estimate_usd: float | None) -> Hold:
        """Hold what a call may cost; None: it has no price, and counts as a call.

        Raises:
            FaultError: RATE_LIMIT_BUDGET, when so much is not left.
        """
        hold = Hold(counted=estimate_usd is None)
        try:
            for key, limit, amount, words in self._limits(caller, run, estimate_usd):
                share = await self._share_of(key, limit)
                async with share.lock:
                    if share.free < amount:
                        await self._take(share, amount - share.free, words)
                    share.held += amount
                hold.parts = (*hold.parts, (share, amount))
        except BaseException:
            hold.settle(0.0)
            raise
        return hold

    def _limits(self, caller: str, run: str, estimate_usd: float | None) -> Iterator[tuple[str, float, float, str]]:
        """Yield the limits that a call is under: key, limit, amount, and what they are for people."""
        day = datetime.fromtimestamp(self.clock() / 1000, UTC).date().isoformat()
        chosen = self.settings
        if estimate_usd is None:
            if chosen.model_unpriced_calls:
                words = f"{chosen.model_unpriced_calls} calls of models without a known price a day"
                yield f"{day}/unpriced", chosen.model_unpriced_calls, 1.0, f"model_unpriced_calls: {words}"
            return
        if estimate_usd <= 0:
            return
        for name, cents, key in (
            ("model_day_cents", chosen.model_day_cents, f"{day}/all"),
            ("model_key_day_cents", chosen.model_key_day_cents if caller else 0, f"{day}/key/{_digest(caller)}"),
            ("model_run_cents", chosen.model_run_cents if run else 0, f"run/{_digest(run)}"),
        ):
            if cents:
                yield key, cents / 100, estimate_usd, f"{name}: {cents / 100:.2f} USD"

    async def _share_of(self, key: str, limit: float) -> LimitShare:
        share = self._shares.get(key)
        if share is None:
            share = self._shares[key] = LimitShare(key, limit)
        self._shares.move_to_end(key)
        if len(self._shares) > MOST_SHARES:
            idle = next((one for one in self._shares.values() if not one.held and one is not share), None)
            if idle is not None:
                del self._shares[idle.key]
                await self._give_back([idle])
        return share

    async def _take(self, share: LimitShare, needed: float, words: str) -> None:
        """Take a portion from what all replicas share, and no less than is needed."""
        table = await self.bus.table(MODEL_SPEND)
        for _ in range(TRIES):
            row = await table.get(share.key)
            taken = row.value.taken if row and row.value else 0.0
            revision = row.revision if row else await table.revision(share.key)
            left = share.limit - taken
            if left + _NEAR_ZERO < needed:
                break
            portion = min(max(needed, share.limit * PORTION), left)
            try:
                await table.put(share.key, SpendTaken(taken=taken + portion), revision=revision)
            except ValueError:  # another replica was faster
                continue
            share.taken += portion
            return
        message = f"What models may cost is spent ({words})."
        raise FaultError(fault(Code.RATE_LIMIT_BUDGET, message))

    async def _give_back(self, shares: list[LimitShare]) -> None:
        """Return what was taken and not spent; what cannot be given back is lost to the day."""
        try:
            table = await self.bus.table(MODEL_SPEND)
            for share in shares:
                if abs(share.free) > _NEAR_ZERO:
                    await _return(table, share)
        except FaultError as error:
            log.warning(NOT_RETURNED, code=error.fault.code)


async def _return(table: KeyTable[SpendTaken], share: LimitShare) -> None:
    for _ in range(TRIES):
        row = await table.get(share.key)
        if row is None or row.value is None:
            return
        try:
            await table.put(share.key, SpendTaken(taken=row.value.taken - share.free), revision=row.revision)
        except ValueError:
            continue
        share.taken -= share.free
        return


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=12).hexdigest()
