"""When a dead actor is started again, and when it is given up: exponential back-off with jitter, pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_DOUBLINGS = 32
"""No back-off grows any more after so many: what is later is bounded by the policy, not by floating point."""


@dataclass(frozen=True)
class Policy:
    """More than `limit` deaths within `window_s` are too many; times in seconds."""

    limit: int
    window_s: float
    backoff_s: float
    backoff_max_s: float


def delay_s(policy: Policy, deaths_s: Sequence[float], now_s: float, jitter: float) -> float | None:
    """How long to wait before the next start after `deaths_s`, of which the last is now; None to give up.

    `jitter` from 0 to 1 takes away up to half of the delay, so that replicas do not start all at once.
    """
    recent = sum(1 for death in deaths_s if now_s - death <= policy.window_s)
    if recent > policy.limit:
        return None
    delay = min(policy.backoff_s * 2.0 ** min(recent - 1, MAX_DOUBLINGS), policy.backoff_max_s) if recent else 0.0
    return delay * (1 - jitter / 2)
