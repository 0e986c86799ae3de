"""How much each caller may ask of this gateway: how often, how much at once, and over how many connections.

All of it is bounded, however many callers come; whoever asks for more is refused, and learns when to come back.
"""

from __future__ import annotations

import math
import time
from asyncio import BaseTransport, Transport
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias, cast

from msgspec import Struct

from actors.gateway.http import HttpStatusError
from actors.gcra import Rate, earliest, taken
from actors.settings import Settings
from protocol.actions import Action
from protocol.faults import Code, fault

MAX_KNOWN = 10_000
"""Callers, and addresses, that are remembered; of more, who has not come for longest is forgotten."""

_V6_SITE_BITS = 64
"""What one subscriber has of IPv6 at least (RFC 6177), so that nobody has many addresses."""


_SOON_MS = 1_000.0
"""When one of many requests at once may have ended."""

_SLOWER = Action(action="reduce_frequency", description="Send requests less often, or fewer at once.", priority=2)

_ROUNDING = 1e-6
"""What floats may lose of a whole one."""

Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]


def _now_ms() -> float:
    return time.monotonic() * 1_000


class RateState(Struct, frozen=True):
    """How a rate stands: `left` more may come now; the whole burst after `full_ms`, the next one after `wait_ms`."""

    rate: Rate
    left: int
    full_ms: float
    wait_ms: float = 0.0

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Write it in the fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers)."""
        rate = self.rate
        if rate.interval_ms <= 0:
            return ()
        window_s = max(round(rate.burst * rate.interval_ms / 1_000), 1)
        return (
            (b"ratelimit-policy", b'"burst";q=%d;w=%d' % (rate.burst, window_s)),
            (b"ratelimit", b'"burst";r=%d;t=%d' % (self.left, math.ceil(self.full_ms / 1_000))),
        )


@dataclass
class RateLimits:
    """One rate, kept apart for everybody whom it bounds."""

    rate: Rate
    clock: Callable[[], float] = _now_ms
    _arrivals: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float], init=False, repr=False)

    def take(self, who: str, per_minute: int | None = None) -> RateState:
        """Let one more come, if there is room; the state has `wait_ms` where there is none.

        `per_minute` is the rate of one who has a rate of their own.
        """
        rate = self.rate if per_minute is None else Rate.per_minute(per_minute, min(self.rate.burst, per_minute))
        return self._look(who, rate, take=True)

    def look(self, who: str) -> RateState:
        """Return how it stands, and let nobody come."""
        return self._look(who, self.rate, take=False)

    def _look(self, who: str, rate: Rate, *, take: bool) -> RateState:
        now = self.clock()
        if rate.interval_ms <= 0:
            return RateState(rate, rate.burst, 0.0)
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
        return RateState(rate, left, ahead_ms, max(wait_ms, 0.0))


class ConcurrencyKind(StrEnum):
    """What a caller may have so many of at once."""

    REQUEST = "requests"
    STREAM = "streams"
    SOCKET = "sockets"


@dataclass
class ConcurrencyLimits:
    """How many of each kind everybody has at once; 0 is no limit."""

    most: dict[ConcurrencyKind, int]
    _counts: Counter[tuple[ConcurrencyKind, str]] = field(
        default_factory=Counter[tuple[ConcurrencyKind, str]], init=False, repr=False
    )

    @contextmanager
    def holding(self, kind: ConcurrencyKind, who: str) -> Generator[bool]:
        """Take a place for the block, and yield whether there was one."""
        has_place = self.take(kind, who)
        try:
            yield has_place
        finally:
            if has_place:
                self.leave(kind, who)

    def take(self, kind: ConcurrencyKind, who: str, most: int | None = None) -> bool:
        """Take a place, which has to be left again; returns whether there was one. `most` is a limit of one's own."""
        most, place = self.most[kind] if most is None else most, (kind, who)
        if most and self._counts[place] >= most:
            return False
        self._counts[place] += 1
        return True

    def leave(self, kind: ConcurrencyKind, who: str) -> None:
        """Leave a place that was taken."""
        self._counts[kind, who] -= 1
        if not self._counts[kind, who]:
            del self._counts[kind, who]

    def count(self, kind: ConcurrencyKind, who: str) -> int:
        """Return how many there are."""
        return self._counts[kind, who]


def address_of(client: tuple[str, int] | None) -> str:
    """Name a client by where it comes from: an address of IPv4, or the site of one of IPv6."""
    if client is None:
        return "unknown"
    host = client[0]
    if ":" not in host:
        return host
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Address(int(address) >> _V6_SITE_BITS << _V6_SITE_BITS))


def too_often(rate_state: RateState, message: str = "Too many requests.") -> HttpStatusError:
    """Refuse who comes too often, until there is room again."""
    headers = {name.decode("ascii"): value.decode("ascii") for name, value in rate_state.headers}
    return _later(message, rate_state.wait_ms, headers)


def too_many(what: str, most: int) -> HttpStatusError:
    """Refuse who has too many of something at once."""
    return _later(f"More than {most} {what} at once.", _SOON_MS, {})


def _later(message: str, wait_ms: float, headers: dict[str, str]) -> HttpStatusError:
    seconds = max(math.ceil(wait_ms / 1_000), 1)
    wait = Action(
        action="wait_and_retry",
        description=f"Wait {seconds} s, then send the request again.",
        suggested_delay_ms=seconds * 1_000,
    )
    return HttpStatusError(fault(Code.RATE_LIMIT_EXCEEDED, message, actions=(wait, _SLOWER)), 429, headers)


@dataclass
class ConnectionLimits:
    """The connections that are open, those of WebSockets too, with the addresses that they are from.

    0 is no limit; `proxies` have none of their own. Where there is no room for one more, the one that has waited
    longest for a request is closed (RFC 9112 §9.5): who keeps many open keeps nobody out.
    """

    most: int = 0
    most_of_address: int = 0
    proxies: Networks = ()
    _open: dict[BaseTransport, str] = field(default_factory=dict[BaseTransport, str], init=False, repr=False)
    _counts: Counter[str] = field(default_factory=Counter[str], init=False, repr=False)
    _sockets: set[BaseTransport] = field(default_factory=set[BaseTransport], init=False, repr=False)
    _idle: dict[Transport, None] = field(default_factory=dict[Transport, None], init=False, repr=False)

    def opened(self, transport: BaseTransport, client: tuple[str, int] | None) -> HttpStatusError | None:
        """Count one more, or say why there is no room for it."""
        if self.most and len(self._open) >= self.most and not self._made_room():
            busy = fault(Code.INTERNAL_BUSY, f"This gateway has {self.most} connections open, as many as it may have.")
            return HttpStatusError(busy, 503)
        address = address_of(client)
        full = self.most_of_address and self._counts[address] >= self.most_of_address and self._is_counted(client)
        if full and not self._made_room(address):
            return too_many("connections of one address", self.most_of_address)
        self._open[transport] = address
        self._counts[address] += 1
        return None

    def upgraded(self, transport: Transport, client: tuple[str, int] | None) -> HttpStatusError | None:
        """Count one as a WebSocket, which is never idle, or say why not: of an address they have half of the places."""
        most, address = max(self.most_of_address // 2, 1), address_of(client)
        sockets = sum(self._open.get(one) == address for one in self._sockets)
        if self.most_of_address and sockets >= most and self._is_counted(client):
            return too_many("WebSockets of one address", most)
        self.busy(transport)
        self._sockets.add(transport)
        return None

    def idle(self, transport: Transport) -> None:
        """Note that a connection waits for a request from now on."""
        if transport in self._open:
            self._idle[transport] = None

    def busy(self, transport: Transport) -> None:
        """Note that a connection has a request in hand."""
        self._idle.pop(transport, None)

    def _made_room(self, address: str = "") -> bool:
        """Close the connection that has been idle for longest, of an address or of that which has the most of them."""
        if not address:
            address = max({self._open[one] for one in self._idle}, key=self._counts.__getitem__, default="")
        for transport in self._idle:
            if self._open[transport] == address:
                self.closed(transport)
                transport.close()
                return True
        return False

    def closed(self, transport: BaseTransport) -> None:
        """Count one less; of those that were refused, none was counted."""
        self._idle.pop(cast("Transport", transport), None)
        self._sockets.discard(transport)
        address = self._open.pop(transport, None)
        if address is None:
            return
        self._counts[address] -= 1
        if not self._counts[address]:
            del self._counts[address]

    def _is_counted(self, client: tuple[str, int] | None) -> bool:
        if client is None:
            return False
        try:
            address = ip_address(client[0].partition("%")[0])
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return not any(address in network for network in self.proxies)


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Make the limits of connections that the settings say."""
    proxies = tuple(ip_network(one) for one in settings.trusted_proxies)
    return ConnectionLimits(settings.connections_at_once, settings.connections_per_address, proxies)
