"""How much each caller may ask of this gateway: how often, and how much at once; bounded, however many callers come."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address, ip_address

from actors.rates import Rate, earliest, taken

MAX_KNOWN = 10_000
"""Callers, and addresses, that are remembered; of more, who has not come for longest is forgotten."""

_V6_SITE_BITS = 64
"""What one subscriber has of IPv6 at least (RFC 6177), so that nobody has many addresses."""


def _now_ms() -> float:
    return time.monotonic() * 1_000


@dataclass(frozen=True)
class Room:
    """How a rate stands: `left` more may come now; the whole burst after `full_ms`, the next one after `wait_ms`."""

    rate: Rate
    left: int
    full_ms: float
    wait_ms: float = 0.0

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Tell it in the fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers)."""
        rate = self.rate
        if rate.interval_ms <= 0:
            return ()
        window_s = max(round(rate.burst * rate.interval_ms / 1_000), 1)
        return (
            (b"ratelimit-policy", b'"burst";q=%d;w=%d' % (rate.burst, window_s)),
            (b"ratelimit", b'"burst";r=%d;t=%d' % (self.left, math.ceil(self.full_ms / 1_000))),
        )


@dataclass
class Rates:
    """One rate, kept apart for everybody whom it bounds."""

    rate: Rate
    clock: Callable[[], float] = _now_ms
    _arrivals: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float], init=False, repr=False)

    def take(self, who: str) -> Room:
        """Let one more come, if there is room: what is told has `wait_ms` where there is none."""
        return self._look(who, take=True)

    def look(self, who: str) -> Room:
        """Return how it stands, and let nobody come."""
        return self._look(who, take=False)

    def _look(self, who: str, *, take: bool) -> Room:
        rate, now = self.rate, self.clock()
        if rate.interval_ms <= 0:
            return Room(rate, rate.burst, 0.0)
        arrival = self._arrivals.get(who, now)
        wait_ms = earliest(rate, arrival, now) - now
        if take and wait_ms <= 0:
            arrival = taken(rate, arrival, now)
            self._arrivals[who] = arrival
            self._arrivals.move_to_end(who)
            if len(self._arrivals) > MAX_KNOWN:
                self._arrivals.popitem(last=False)
        ahead_ms = max(arrival - now, 0.0)
        left = max(int((rate.burst * rate.interval_ms - ahead_ms) / rate.interval_ms + _ROUNDING), 0)
        return Room(rate, left, ahead_ms, max(wait_ms, 0.0))


_ROUNDING = 1e-6
"""What floats may lose of a whole one."""


class Kind(StrEnum):
    """What a caller may have so many of at once."""

    REQUEST = "requests"
    STREAM = "streams"
    SOCKET = "sockets"


@dataclass
class Hands:
    """How many of each kind everybody has at once; 0 is no limit."""

    most: dict[Kind, int]
    _held: Counter[tuple[Kind, str]] = field(default_factory=Counter[tuple[Kind, str]], init=False, repr=False)

    @contextmanager
    def holding(self, kind: Kind, who: str) -> Generator[bool]:
        """Hold one more in the block, or tell that there is no room for it."""
        held = self.take(kind, who)
        try:
            yield held
        finally:
            if held:
                self.leave(kind, who)

    def take(self, kind: Kind, who: str) -> bool:
        """Take a place, which has to be left again, or tell that there is none."""
        most, place = self.most[kind], (kind, who)
        if most and self._held[place] >= most:
            return False
        self._held[place] += 1
        return True

    def leave(self, kind: Kind, who: str) -> None:
        """Leave a place that was taken."""
        self._held[kind, who] -= 1
        if not self._held[kind, who]:
            del self._held[kind, who]

    def held(self, kind: Kind, who: str) -> int:
        """Return how many there are."""
        return self._held[kind, who]


def address_of(client: tuple[str, int] | None) -> str:
    """Name a client by where it comes from: an address of IPv4, or the site of one of IPv6."""
    if client is None:
        return "unknown"
    host = client[0]
    if ":" not in host:
        return host
    try:
        found = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(found, IPv6Address):
        return host
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> _V6_SITE_BITS << _V6_SITE_BITS))
