"""Decides when a page is stable: pure rules over what its document and its network do."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from protocol.browse import MIN_CONTENT_CHARS


class StabilityBounds(Struct, frozen=True):
    """A page is stable when nothing came, went or moved for `quiet_ms`; after `cap_ms` it is taken as it is."""

    cap_ms: int
    quiet_ms: int


FOR_FETCH = StabilityBounds(3_000, 300)
FOR_STEP = StabilityBounds(5_000, 500)
"""After an action, whose effects are awaited longer."""

FOR_BRISK_STEP = StabilityBounds(5_000, 100)
"""The same where somebody else looks whether the effects have come: only what is under way is awaited."""

POLL_MS = 50
"""The usual pause between two observations of a page."""

_CALM_SHARE = 0.5
"""A page without pending work need only be quiet for this share of the time."""

_MARGIN_MS = 20
"""How long after a timer is due its effects have happened."""

_FRAMES_MS = 2_500
"""How long frame upon frame may bring nothing; by then a service worker has taken over, and the page draws for ever."""


class DocumentState(Struct, frozen=True):
    """One result of `scripts/observe.js`; `quiet` in ms, `programs` counts scripts that run, `size` bytes.

    That is the document's after decompression, once all of it is there.
    """

    ready: Literal["loading", "interactive", "complete"]
    quiet: float
    loading: bool
    programs: int
    size: int = 0


class PendingWork(Struct, frozen=True):
    """What the page has scheduled: ms until its next short and long timers, -1 for none; `chars` is what it shows."""

    soon: float = -1
    late: float = -1
    frames: int = 0
    chars: int = 0


PENDING_UNKNOWN = PendingWork(frames=1, chars=MIN_CONTENT_CHARS)


class TabActivity(Struct, frozen=True):
    """What is known without asking the page: ms since the last network event and since the wait began.

    `quiet_ms` is 0 during a request; `scripts` counts those requested; `live` stands for sockets and workers.
    """

    quiet_ms: float
    waited_ms: float
    scripts: int
    live: bool


def next_check_ms(state: DocumentState, activity: TabActivity, bounds: StabilityBounds) -> float:
    """Return the pause before the next observation; 0 when the page's pending work is to be asked for."""
    if state.ready != "complete" or activity.quiet_ms == 0:
        return POLL_MS
    if is_static(state, activity):
        return 0
    if state.loading:
        return POLL_MS
    quiet_ms = bounds.quiet_ms if activity.live else bounds.quiet_ms * _CALM_SHARE
    left = quiet_ms - min(state.quiet, activity.quiet_ms, activity.waited_ms)
    return max(left, POLL_MS / 2) if left > 0 else 0


def is_at_rest(state: DocumentState, activity: TabActivity, bounds: StabilityBounds) -> bool:
    """Whether nothing of a page comes, goes or moves now, whatever it has scheduled for later."""
    return next_check_ms(state, activity, bounds) == 0


def is_static(state: DocumentState, activity: TabActivity) -> bool:
    """Whether a page has nothing that could change it."""
    return state.programs == 0 and activity.scripts == 0


def pending_work_ms(
    pending: PendingWork, state: DocumentState, activity: TabActivity, bounds: StabilityBounds
) -> float:
    """Return how long to wait for the pending work of a quiet page; 0 for a stable page.

    A long timer, or frame upon frame, is worth the wait where little is shown so far.
    """
    thin = pending.chars < MIN_CONTENT_CHARS
    if pending.soon >= 0:
        return pending.soon + _MARGIN_MS
    if pending.late >= 0 and thin:
        return pending.late + _MARGIN_MS
    quiet_ms = min(state.quiet, activity.quiet_ms, activity.waited_ms)
    if pending.frames and thin and quiet_ms < _FRAMES_MS:
        return POLL_MS
    left = bounds.quiet_ms - quiet_ms
    return max(left, POLL_MS / 2) if left > 0 and pending.frames else 0
