"""Tells what would happen to a request before its site is asked: from what is kept, and from what others have told."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

import httpx2
from msgspec import UNSET

from actors.fetchers.web import freshness, guard, rates
from actors.fetchers.web.cache import Store
from actors.fetchers.web.freshness import Use
from actors.fetchers.web.paced import owned
from actors.fetchers.web.paces import Paces, key_of
from actors.fetchers.web.rates import Limits, Wish
from actors.fetchers.web.robots import Robots
from actors.fetchers.web.visits import Visit
from bus import TransportError
from protocol.domains import Foreseen, PaceOutlook, RobotsOutlook
from protocol.faults import FaultError
from protocol.web import HostPace

NOBODY = "nobody"
"""The replica that asks what it would get, and takes nothing."""

_MINUTE_MS = 60_000


class Manners(Protocol):
    """How polite a client is; without `limits` nobody has to wait."""

    @property
    def limits(self) -> Limits | None:
        """How fast a host is asked."""
        ...

    @property
    def paces(self) -> Paces | None:
        """How hosts are being asked by everybody."""
        ...


@dataclass(frozen=True)
class Sight:
    """What a client can look into; hosts in the networks of `allow_private` never have to wait."""

    robots: Robots
    manners: Manners
    store: Store
    allow_private: tuple[str, ...]

    async def foresee(self, request: httpx2.Request, now: float, *, obeys: bool) -> Foreseen:
        """Return what would happen to a request at `now` (seconds since the epoch)."""
        robots = await self._robots(str(request.url), obeys=obeys)
        delay_ms = robots.crawl_delay_ms if robots.obeyed and robots.crawl_delay_ms is not UNSET else 0
        return Foreseen(
            cached=await self._is_cached(request, now),
            robots=robots,
            pace=await self._pace(request.url.host, now * 1_000, delay_ms),
        )

    async def _is_cached(self, request: httpx2.Request, now: float) -> bool:
        """Return whether something is kept that may be given without asking the site."""
        visit = Visit.of(request)
        visit.record = await self.store.get(visit.key)
        kept = visit.matching()
        return kept is not None and freshness.judge(kept, visit.asked, now, shared=visit.shared) is not Use.VALIDATE

    async def _robots(self, url: str, *, obeys: bool) -> RobotsOutlook:
        """Return what a robots.txt says that somebody has read."""
        said = await self.robots.known(url)
        if said is None:
            return RobotsOutlook(known=False, obeyed=obeys)
        allows, interval_ms = said
        return RobotsOutlook(known=True, obeyed=obeys, allows=allows, crawl_delay_ms=round(interval_ms) or UNSET)

    async def _pace(self, host: str, now_ms: float, delay_ms: int) -> PaceOutlook:
        """Return how long one more page would wait, and by which limits."""
        limits = self.manners.limits
        if limits is None or owned(host, guard.networks(self.allow_private)):
            return PaceOutlook(limited=False, wait_ms=0, pages_per_minute=0, burst=0, at_once=0)
        limits, pace = limits.spaced(delay_ms), await self._seen(host)
        _, given = rates.take(pace, Wish(NOBODY, 1, 1, now_ms + rates.MAX_WAIT_MS), limits, now_ms)
        begins_ms = given.slots[0] if given.slots else given.wait_until_ms
        return PaceOutlook(
            limited=True,
            wait_ms=max(round(begins_ms - now_ms), 0),
            pages_per_minute=round(_MINUTE_MS / limits.interval_ms) if limits.interval_ms else 0,
            burst=limits.burst,
            at_once=limits.at_once,
            refusals=pace.strikes,
        )

    async def _seen(self, host: str) -> HostPace:
        try:
            paces = self.manners.paces
            found = await paces.get(key_of(host)) if paces is not None else None
        except (TransportError, TimeoutError, FaultError):
            found = None
        return (found.value if found else None) or HostPace()


def check_address(url: str, allow_private: tuple[str, ...]) -> httpx2.URL:
    """Read an address, and refuse what can be refused without looking up its name.

    Raises:
        FaultError: SECURITY_URL_BLOCKED or SECURITY_ADDRESS_BLOCKED.
    """
    checked = guard.check_url(url)
    host = checked.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    own = guard.networks(allow_private)
    try:
        private = not guard.allowed(ip_address(host.partition("%")[0]), own)
    except ValueError:
        private = not own and guard.names_private_network(host)
    if private:
        raise FaultError(guard.private_address(host))
    return checked
