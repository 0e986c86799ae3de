"""The wall clock, in the unit that packets use."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return the time in ms since the epoch."""
    return time.time_ns() // 1_000_000
