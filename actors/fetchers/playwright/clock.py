"""Tells the time as it is written down."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Tell the time in ms since the epoch."""
    return time.time_ns() // 1_000_000
