"""Judges whether a page has come to rest."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from protocol.browse import MIN_CONTENT_CHARS


@dataclass(frozen=True)
class Settling:
    """What counts as rest: nothing came, went or moved for `quiet_ms`; after `cap_ms` a page is taken as it is."""

    cap_ms: int
    quiet_ms: int


FOR_FETCH = Settling(3_000, 300)
FOR_STEP = Settling(5_000, 500)
"""After a step of an interaction, whose effects are awaited longer."""

POLL_MS = 50
"""How long after one look at a page the next is worth its while."""

_CALM_SHARE = 0.5
"""A page that has put nothing off need only be quiet for this share of the time."""

_MARGIN_MS = 20
"""What a timer does is done so long after it is due."""


class Look(Struct, frozen=True):
    """What the observing script says of a document; `quiet` in ms, `programs` counts scripts that run."""

    ready: str
    quiet: float
    loading: bool
    programs: int


class Ahead(Struct, frozen=True):
    """What the page has put off: ms until its next short and long timers, -1 for none; `chars` is what it shows."""

    soon: float = -1
    late: float = -1
    frames: int = 0
    chars: int = 0


NOTHING_KNOWN = Ahead(frames=1, chars=MIN_CONTENT_CHARS)


@dataclass(frozen=True)
class Around:
    """What is known without asking the page: ms since anything came over the network and since the wait began.

    `quiet_ms` is 0 while something is under way; `scripts` were asked for; `live` tells of sockets and workers.
    """

    quiet_ms: float
    waited_ms: float
    scripts: int
    live: bool


def rest_in_ms(look: Look, around: Around, settling: Settling) -> float:
    """Return when another look is worth its while, or 0 where it is time to ask what the page has put off."""
    if look.ready != "complete" or around.quiet_ms == 0:
        return POLL_MS
    if is_static(look, around):
        return 0
    if look.loading:
        return POLL_MS
    quiet_ms = settling.quiet_ms if around.live else settling.quiet_ms * _CALM_SHARE
    left = quiet_ms - min(look.quiet, around.quiet_ms, around.waited_ms)
    return max(left, POLL_MS / 2) if left > 0 else 0


def is_static(look: Look, around: Around) -> bool:
    """Whether a page has nothing that could change it."""
    return look.programs == 0 and around.scripts == 0


def ahead_in_ms(ahead: Ahead, look: Look, around: Around, settling: Settling) -> float:
    """Return how long to wait for what a quiet page has put off; 0 for a page that has come to rest.

    A long timer, or frame upon frame, is worth the wait where little is shown so far.
    """
    thin = ahead.chars < MIN_CONTENT_CHARS
    if ahead.soon >= 0:
        return ahead.soon + _MARGIN_MS
    if ahead.late >= 0 and thin:
        return ahead.late + _MARGIN_MS
    if ahead.frames and thin:
        return POLL_MS
    left = settling.quiet_ms - min(look.quiet, around.quiet_ms, around.waited_ms)
    return max(left, POLL_MS / 2) if left > 0 and ahead.frames else 0
