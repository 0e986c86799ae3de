"""The generic cell rate algorithm: a rate with bursts, whose whole state is one number."""

from __future__ import annotations

from msgspec import Struct


class Rate(Struct, frozen=True):
    """One each `interval_ms` in the long run, `burst` at once; an interval of 0 is no limit."""

    interval_ms: float
    burst: int = 1

    @classmethod
    def per_minute(cls, count: int, burst: int) -> Rate:
        """Return the rate of so many a minute; 0 is no limit."""
        return cls(60_000 / count if count else 0.0, burst)


def earliest(rate: Rate, arrival_ms: float, now_ms: float, jitter_ms: float = 0.0) -> float:
    """Return when the next event may come: a burst may come early, the rate never grows.

    `arrival_ms` is when the last one would have arrived had none come early; whoever sends them off loses up to
    `jitter_ms` on the way.
    """
    if rate.interval_ms <= 0:
        return now_ms
    tolerated = max(0.0, (rate.burst - 1) * rate.interval_ms - jitter_ms)
    return max(now_ms, arrival_ms - tolerated)


def taken(rate: Rate, arrival_ms: float, at_ms: float) -> float:
    """Return the arrival after one more has come at `at_ms`."""
    return max(arrival_ms, at_ms) + rate.interval_ms
