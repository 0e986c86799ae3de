"""Counts the events that a page has its browser report, so that one which floods it is noticed early.

An event passes Chromium, Playwright's driver and this process, each of which keeps what the next has not read yet. A
page makes events faster than they are read, and those of all other pages wait behind them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

EventKind = Literal["network", "frame", "line", "socket", "worker", "dialog", "download", "popup"]

_COSTS: Final = MappingProxyType(
    {"network": 2, "frame": 3, "line": 10, "socket": 30, "worker": 100, "dialog": 20, "download": 50, "popup": 250}
)

_CHARS: Final = 400
"""So many characters in an event cost as much as one event."""

_MAX: Final = 10_000
_PER_S: Final = 1_000
"""What a page may spend at once, and what it is given again each second."""

_STRAINED: Final = 5
"""How much more an event costs while events are not read as fast as they come: who makes most of them is ended."""


@dataclass(eq=False)
class EventMeter:
    """The budget of one page; it is `flooded` for good once that is spent. Times are of the monotonic clock."""

    strained: Callable[[], bool] = lambda: False
    """Returns whether events of pages come faster than they are read."""

    flooded: bool = False
    started_s: float = field(default_factory=time.monotonic)
    _left: float = field(default=_MAX, init=False)
    _counted_s: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a whole budget."""
        self._counted_s = self.started_s

    def count(self, kind: EventKind, chars: int = 0, now_s: float | None = None) -> bool:
        """Count an event with so many characters; returns whether it is the one that spends the budget."""
        if self.flooded:
            return False
        now_s = time.monotonic() if now_s is None else now_s
        given = (now_s - self._counted_s) * _PER_S
        self._left = min(self._left + given, _MAX) - self._cost(kind, chars)
        self._counted_s = now_s
        self.flooded = self._left < 0
        return self.flooded

    def _cost(self, kind: EventKind, chars: int) -> float:
        return (_COSTS[kind] + chars / _CHARS) * (_STRAINED if self.strained() else 1)
