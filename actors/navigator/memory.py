"""What all navigators learn of tiers: shared over the bus, read from a local dict, so that no browse waits for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import structlog
from msgspec import Struct

from actors.navigator import choice
from actors.navigator.attempts import Attempt
from actors.navigator.choice import Early, Estimate
from actors.navigator.history import Evidence, HistoryCache, lessons, took
from actors.navigator.hosts import KnownHosts, SiteKey, site_key_of
from bus import Tables, follow
from bus.clock import now_ms
from bus.stores import KeyTable
from protocol.codec import MalformedError
from protocol.faults import FaultError
from protocol.subjects import TIER_HISTORY
from protocol.tiers import RenderTier, TierHistory

log = structlog.stdlib.get_logger()

HISTORY_NOT_WATCHED = "tier_history_not_watched"
HISTORY_NOT_WRITTEN = "tier_history_not_written"

PROBE_MS = 60_000
"""How long a probe keeps others from probing that never reports, as when its caller goes away."""

MAX_PROBES = 1_000
"""Probes that are known to be in hand."""

GATHER_S = 0.2
"""The lessons of so long are written at once."""

RETRY_S = 1.0
"""Between two tries, while the bus is broken."""

WRITE_S = 5.0
"""What one key may take to be written."""

CLOSE_S = 1.0
"""What writing may take at the end."""

TRIES = 5
"""How often a key is written anew because another navigator was faster, before others get their turn."""


class StartAdvice(Struct, frozen=True):
    """The tier to begin with, and why what is cheaper is passed over."""

    tier: RenderTier | None = None
    reason: str = ""


class Experience(Protocol):
    """What a browse needs to know of a site, and what it adds to that."""

    def start(self, url: str, allowed: Sequence[RenderTier]) -> StartAdvice:
        """Choose where to begin among the tiers that are allowed."""
        ...

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, escalated: bool = False
    ) -> Early | None:
        """Choose the tier to start early, if one; `escalated`: a cheaper one was not enough in this browse."""
        ...

    def record(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn from a browse that has ended."""
        ...


class Estimator(Protocol):
    """What a preview needs to know of a site."""

    def estimate(self, url: str, allowed: Sequence[RenderTier], *, any_page: bool = False) -> Estimate:
        """Return how a visit would go, without being one; with `any_page` to whichever page of the host."""
        ...


class Knowledge(Experience, Estimator, Protocol):
    """What a navigator knows of sites."""


class NoKnowledge:
    """Knows nothing of any site, and learns nothing."""

    def start(self, url: str, allowed: Sequence[RenderTier]) -> StartAdvice:
        """Begin with the cheapest."""
        del url, allowed
        return StartAdvice()

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, escalated: bool = False
    ) -> Early | None:
        """Start nothing early."""
        del url, tier, allowed, escalated
        return None

    def record(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn nothing."""

    def estimate(self, url: str, allowed: Sequence[RenderTier], *, any_page: bool = False) -> Estimate:
        """Begin with the cheapest."""
        del url, any_page
        return choice.estimate(None, None, allowed, 0, percent=0)


@dataclass
class TierMemory:
    """What all navigators know of sites. `hedge_percent` bounds what is spent in vain for the sake of speed."""

    bus: Tables
    hosts: KnownHosts
    hedge_percent: int
    clock: Callable[[], int] = now_ms
    histories: HistoryCache = field(default_factory=HistoryCache)
    _probes: OrderedDict[str, tuple[RenderTier, int]] = field(
        default_factory=OrderedDict[str, tuple[RenderTier, int]], init=False
    )
    _recorded: anyio.Event = field(default_factory=anyio.Event, init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TierMemory]:
        """Share as long as the block lasts; what waits at its end is written then."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.bus, TIER_HISTORY, self.histories.update, HISTORY_NOT_WATCHED)
            tasks.start_soon(self._write)
            try:
                yield self
            finally:
                tasks.cancel_scope.cancel()
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await self._write_due()

    # -- what a browse needs ----------------------------------------------------------------------------------------

    def start(self, url: str, allowed: Sequence[RenderTier]) -> StartAdvice:
        """Choose where to begin among the tiers that are allowed; of the visits of a host, one at a time is a probe."""
        site = site_key_of(url)
        if site is None:
            return StartAdvice()
        history, kind, now_ms = self.histories.of(site), self.hosts.kind(site.host), self.clock()
        chosen = choice.start(history, kind, allowed, now_ms, may_probe=not self._is_probed(site, now_ms))
        if chosen.probe:
            self._probes[site.key] = (chosen.tier, now_ms)
            self._probes.move_to_end(site.key)
            if len(self._probes) > MAX_PROBES:
                self._probes.popitem(last=False)
        return StartAdvice(chosen.tier, chosen.reason.value)

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, escalated: bool = False
    ) -> Early | None:
        """Choose the tier to start early, if one; `escalated`: cheaper ones have refused this page."""
        site = site_key_of(url)
        if site is None:
            return None
        history, kind, percent = self.histories.of(site), self.hosts.kind(site.host), self.hedge_percent
        return choice.hedge(history, kind, tier, allowed, self.clock(), percent=percent, escalated=escalated)

    def record(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn from a browse that has ended."""
        site, visit = site_key_of(url), lessons(attempts)
        if site is None:
            return
        if site.key in self._probes and self._probes[site.key][0] in visit:
            del self._probes[site.key]
        if Evidence.ENOUGH not in visit.values():
            return
        self.histories.learn(site, (visit, self.clock(), took(attempts)))
        self._recorded.set()

    def estimate(self, url: str, allowed: Sequence[RenderTier], *, any_page: bool = False) -> Estimate:
        """Return how a visit would go, without being one; with `any_page` to whichever page of the host."""
        site, now_ms = site_key_of(url), self.clock()
        known = self.histories.of_host if any_page else self.histories.of
        history = known(site) if site is not None else None
        kind = self.hosts.kind(site.host) if site is not None else None
        probed = site is not None and self._is_probed(site, now_ms)
        return choice.estimate(history, kind, allowed, now_ms, percent=self.hedge_percent, may_probe=not probed)

    def known(self, url: str) -> TierHistory | None:
        """Return what is known of addresses of this shape, or else of the host, or what its domain leaves to it."""
        site = site_key_of(url)
        return None if site is None else self.histories.of(site)

    def _is_probed(self, site: SiteKey, now_ms: int) -> bool:
        return site.key in self._probes and now_ms - self._probes[site.key][1] < PROBE_MS

    # -- the bus -----------------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        while True:
            await self._recorded.wait()
            self._recorded = anyio.Event()
            await anyio.sleep(GATHER_S)
            if not await self._write_due():
                await anyio.sleep(RETRY_S)
                self._recorded.set()

    async def _write_due(self) -> bool:
        """Write what waits; returns whether all of it is on the bus."""
        if not self.histories.due:
            return True
        try:
            table = await self.bus.table(TIER_HISTORY)
            for key in list(self.histories.due):
                with anyio.fail_after(WRITE_S):
                    await self._write_key(table, key)
        except (FaultError, TimeoutError):
            log.warning(HISTORY_NOT_WRITTEN, hosts=len(self.histories.due))
            return False
        return not self.histories.due

    async def _write_key(self, table: KeyTable[TierHistory], key: str) -> None:
        """Put what waits on top of what is stored, which another navigator may be changing."""
        count = self.histories.waiting(key)
        stored, revision = self.histories.stored(key)
        expected: int | None = revision
        for _ in range(TRIES):
            value = self.histories.merged(key, stored, count)
            if value is None:
                return
            try:
                self.histories.mark_written(key, value, await table.put(key, value, revision=expected), count)
            except ValueError:  # not at that revision
                stored, expected = await _stored(table, key)
            else:
                return


async def _stored(table: KeyTable[TierHistory], key: str) -> tuple[TierHistory | None, int | None]:
    """Read a key; what is gone or cannot be read is written over, whatever its revision."""
    try:
        entry = await table.get(key)
    except MalformedError:
        return None, None
    return (None, None) if entry is None else (entry.value, entry.revision)
