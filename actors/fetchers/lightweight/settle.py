"""Judges by readings of a page whether it has come to rest."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from actors.fetchers.lightweight.observed import Settling

POLL_MS = 20
"""How long after one reading the next is taken."""

NEAR_MS = 400
"""A timer that is due within is waited for."""

THIN_CHARS = 200
"""A page that shows less is looked at longer."""

CALM_READINGS = 2
CALM_READINGS_THIN = 8
LATE_WAITS = 2
"""How often a thin page's timer of up to 3 s is waited for."""

SOFT_MS = 2_000
"""So long after the last that came over the network a page that still moves is taken as it is."""

SOFT_THIN_MS = 2_600
"""The same for a page that shows next to nothing: what it draws frame by frame may come within 2 s of its load."""

RESTLESS_MS = 500
"""How long it has moved then without a rest: what a late timer has begun may come to its end."""


class Reading(Struct, frozen=True):
    """What the injected script says; the page may have forged it. Times in ms from now, -1 for none."""

    activity: int = 0
    turned: bool = True
    """Whether the page's timers have had their turn since the last reading."""

    frames: int = 0
    due: float = -1
    late: float = -1
    lates: int = 0
    chars: int = 0
    errors: int = 0
    rejections: int = 0
    dialogs: int = 0
    contexts: str = ""
    refused: str = ""
    lacks: str = ""
    n_web_sockets: int = 0
    n_workers: int = 0
    n_intersections: int = 0
    n_resizes: int = 0
    n_media_queries: int = 0
    n_layout_reads: int = 0
    n_extended_elements: int = 0
    n_animations: int = 0
    n_dialog_loop: int = 0
    n_performance: int = 0
    n_event_sources: int = 0
    n_drawn_reads: int = 0


@dataclass
class Settle:
    """Takes readings, and gives after each how long to wait for the next, or how the page has come to its end."""

    _activity: int = field(default=-1, init=False)
    _calm: int = field(default=1, init=False)
    _late_waits: int = field(default=0, init=False)
    _restless_from: float | None = field(default=None, init=False)

    def look(self, reading: Reading, requests: int, quiet_ms: float) -> float | Settling:
        """Judge one reading, taken `quiet_ms` after the last of `requests` had come; nothing is under way there.

        Gives the milliseconds until the next reading is worth its while.
        """
        still = reading.turned and reading.activity + requests == self._activity
        self._activity = reading.activity + requests
        near = 0 <= reading.due <= NEAR_MS
        busy = reading.frames > 0 or near
        self._calm = self._calm + 1 if still and not busy else 1
        thin = reading.chars < THIN_CHARS
        if self._restless(quiet_ms, SOFT_THIN_MS if thin else SOFT_MS, moves=busy or not still):
            return Settling.SOFT
        if near and reading.frames == 0:
            return max(reading.due, POLL_MS)
        if self._calm < (CALM_READINGS_THIN if thin else CALM_READINGS):
            return POLL_MS
        if thin and reading.late >= 0 and self._late_waits < LATE_WAITS:
            self._late_waits += 1
            self._calm = 1
            return reading.late + 1
        return Settling.SETTLED

    def again(self) -> None:
        """Begin anew: something has come over the network, or was done to the page."""
        self._activity = -1

    def _restless(self, quiet_ms: float, soft_ms: float, *, moves: bool) -> bool:
        if not moves or self._restless_from is None or self._restless_from > quiet_ms:
            self._restless_from = quiet_ms if moves else None
            return False
        return quiet_ms > soft_ms and quiet_ms - self._restless_from > RESTLESS_MS
