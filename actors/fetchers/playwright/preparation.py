"""Prepares a page for reading: dismisses what covers it, and scrolls until no more of it loads."""

from __future__ import annotations

import time

from msgspec import Struct

from actors.fetchers.page_answer import HUNG
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.stability import StabilityBounds
from actors.fetchers.playwright.tab import OVERTIME, Tab

CUT = "scroll"

_ROUNDS = 3
"""A banner may be behind another, or come back as another."""

_AFTER_DISMISSAL = StabilityBounds(1_500, 200)
_MAX_STEPS = 80
_MAX_PRESSES = 15
"""How often a button for more is pressed."""

_MAX_SCROLL_MS = 20_000
_AFTER_STEP = StabilityBounds(1_200, 120)
_AT_END = StabilityBounds(1_500, 400)
"""At the end of the page, more may be loading without any sign of it yet."""

_UNCHANGED = 2
"""After so many steps at an end that has not moved, it is the end."""


class DismissedOverlay(Struct, frozen=True):
    """What was done to one overlay: a button of it was pressed, or it was hidden where none says no."""

    pressed: bool
    kind: str


class ScrollStep(Struct, frozen=True):
    """The state after a step: at the end of what scrolls or not, its height in pixels, and the rows seen in all."""

    end: bool
    pressed: bool
    height: int
    rows: int
    present: int


async def dismiss_overlays(tab: Tab, deadline_s: float) -> tuple[DismissedOverlay, ...]:
    """Refuse, else close, else hide every overlay: requests for consent, newsletters, notices; never consents."""
    dismissed: list[DismissedOverlay] = []
    for _ in range(_ROUNDS):
        overlays = await tab.run(script("overlays"), tuple[DismissedOverlay, ...])
        if not overlays or time.monotonic() >= deadline_s:
            break
        dismissed += overlays
        await tab.settle(_AFTER_DISMISSAL, deadline_s)
    return tuple(dismissed)


async def scroll_to_load(tab: Tab, deadline_s: float) -> str:
    """Scroll until nothing more loads; returns the name of the limit that ended it before, or ""."""
    until_s = min(deadline_s, time.monotonic() + _MAX_SCROLL_MS / 1000)
    unchanged, presses, former = 0, 0, (0, 0)
    for _ in range(_MAX_STEPS):
        may_press = "true" if presses < _MAX_PRESSES else "false"
        step = await tab.run(f"({script('scroll')})({may_press})", ScrollStep)
        if step is None:
            return HUNG
        presses += step.pressed
        ended = await tab.settle(_AT_END if step.end else _AFTER_STEP, until_s)
        if ended in (HUNG, OVERTIME):
            return CUT if ended == OVERTIME else HUNG
        reached = (step.height, step.rows)
        unchanged = unchanged + 1 if step.end and not step.pressed and reached == former else 0
        former = reached
        if unchanged >= _UNCHANGED:
            return ""
    return CUT
