"""Rules of the rate limit per host: a rate with bursts (GCRA), leases on open requests, and waits after refusals."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

from msgspec import Struct
from msgspec.structs import replace

from actors.gcra import Rate, earliest, taken
from protocol.web import HostPace, Lease

MAX_RETRY_AFTER_MS = 24 * 3_600_000
MAX_WAIT_MS = 3_600_000.0
"""However long a site asks to be left alone, it is not remembered for longer."""

_FIRST_BACK_OFF_MS = 1_000.0
_MAX_BACK_OFF_MS = 300_000.0
"""For a site that fails again and again and does not say how long: doubled each time, from the second time on."""

_GRACE_MS = 5_000.0
"""How much longer than its request a lease lasts: a dead replica's is free again soon after."""

JITTER_MS = 50.0
"""A request that leaves so late comes close to the next: a burst is shorter by it, and the limit holds all the same."""

_HORIZON_MS = 1_000.0
"""So far ahead a replica may take slots for those who wait in it; the next ones are for whoever comes first."""


class HostLimits(Struct, frozen=True):
    """The limits of a host for all replicas together; 0 is no limit. `interval_ms` lies between two requests."""

    interval_ms: float = 0.0
    burst: int = 1
    at_once: int = 0

    def spaced(self, interval_ms: float) -> HostLimits:
        """Return these limits with at least so much time between any two requests."""
        if interval_ms <= self.interval_ms:
            return self
        return HostLimits(interval_ms, 1, self.at_once)


class SlotRequest(Struct, frozen=True):
    """What one replica requests of a host: so many slots by `until_ms`, and so many open requests by then."""

    replica: str
    slots: int
    open: int
    until_ms: float


class GrantedSlots(Struct, frozen=True):
    """What it was granted: the times of its slots, and how many requests it may open.

    `wait_until_ms` is set where nothing is granted before.
    """

    slots: tuple[float, ...] = ()
    open: int = 0
    wait_until_ms: float = 0.0


def grant(pace: HostPace, request: SlotRequest, limits: HostLimits, now_ms: float) -> tuple[HostPace, GrantedSlots]:
    """Return the pace of a host after a request, and what of it is granted."""
    if pace.wait_until_ms > now_ms:
        return pace, GrantedSlots(wait_until_ms=pace.wait_until_ms)
    pace, slots = _slots(pace, request, limits, now_ms)
    if request.slots and not slots:
        return pace, GrantedSlots(wait_until_ms=_next_slot(pace, limits, now_ms))
    if slots and slots[0] > now_ms:
        return pace, GrantedSlots(slots)
    pace, count = _lease(pace, request, limits, now_ms)
    return pace, GrantedSlots(slots, count)


def release(pace: HostPace, replica: str, count: int) -> HostPace:
    """Return the pace after a replica has reduced its open requests to `count`."""
    leases = dict(pace.leases)
    if (own := leases.pop(replica, None)) is not None and count:
        leases[replica] = replace(own, count=min(own.count, count))
    return replace(pace, leases=leases)


def after_refusal(pace: HostPace, status: int, retry_after_ms: int | None, now_ms: float, chance: float) -> HostPace:
    """Return the pace after the host answered 429 or 503; `chance` (0 to 1) spreads retries where no delay is named.

    One failure that names no delay is no reason to wait: the second in a row is.
    """
    strikes = pace.strikes + 1
    if retry_after_ms is not None:
        wait_ms = min(float(retry_after_ms), MAX_WAIT_MS)
    elif strikes == 1:
        wait_ms = 0.0
    else:
        wait_ms = min(_FIRST_BACK_OFF_MS * 2.0 ** min(strikes - 2, 20), _MAX_BACK_OFF_MS) * (0.5 + chance / 2)
    until = max(pace.wait_until_ms, now_ms + wait_ms)
    return replace(pace, strikes=strikes, status=status, wait_until_ms=until)


def after_answer(pace: HostPace) -> HostPace:
    """Return the pace after the host has answered again."""
    return replace(pace, strikes=0, status=0)


def retry_after_ms(value: str | None, now_s: float) -> int | None:
    """Parse a Retry-After header, in seconds or as a date, as milliseconds from now (RFC 9110 §10.2.3)."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return min(int(value[:9]) * 1000, MAX_RETRY_AFTER_MS)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now_s
    return min(max(round(seconds * 1000), 0), MAX_RETRY_AFTER_MS)


def _next_slot(pace: HostPace, limits: HostLimits, now_ms: float) -> float:
    """Return the time of the next slot: GCRA lets a burst come early, never the rate grow."""
    if limits.interval_ms <= 0:
        return now_ms
    slot = earliest(Rate(limits.interval_ms, limits.burst), pace.arrival_ms, now_ms, JITTER_MS)
    return max(slot, pace.last_ms + limits.interval_ms) if limits.burst == 1 else slot


def _slots(
    pace: HostPace, request: SlotRequest, limits: HostLimits, now_ms: float
) -> tuple[HostPace, tuple[float, ...]]:
    times: list[float] = []
    # What is further away than anybody may ask to wait was written by a clock that is wrong.
    pace = replace(
        pace, arrival_ms=min(pace.arrival_ms, now_ms + MAX_WAIT_MS), last_ms=min(pace.last_ms, pace.arrival_ms)
    )
    while len(times) < request.slots:
        slot = _next_slot(pace, limits, now_ms)
        if slot > request.until_ms or (times and slot > now_ms + _HORIZON_MS):
            break
        times.append(slot)
        arrival_ms = taken(Rate(limits.interval_ms, limits.burst), pace.arrival_ms, slot)
        pace = replace(pace, arrival_ms=arrival_ms, last_ms=slot)
    return pace, tuple(times)


def _lease(pace: HostPace, request: SlotRequest, limits: HostLimits, now_ms: float) -> tuple[HostPace, int]:
    if not limits.at_once:
        return pace, 0
    leases = {replica: lease for replica, lease in pace.leases.items() if lease.until_ms > now_ms}
    free = limits.at_once - sum(lease.count for lease in leases.values())
    count = max(min(request.open, free), 0)
    if count:
        own = leases.get(request.replica, Lease(count=0, until_ms=0.0))
        until_ms = max(own.until_ms, request.until_ms + _GRACE_MS)
        leases[request.replica] = Lease(count=own.count + count, until_ms=until_ms)
    return replace(pace, leases=leases), count
