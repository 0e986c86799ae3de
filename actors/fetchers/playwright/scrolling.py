"""Scrolls a page down until no more of it comes, within bounds."""

from __future__ import annotations

import time

from msgspec import Struct

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.settling import Settling
from actors.fetchers.playwright.tab import HUNG, OVERTIME, Tab

_MAX_STEPS = 80
_MAX_PRESSES = 15
"""How often a button for more is pressed."""

_MAX_MS = 20_000
_AFTER_STEP = Settling(1_200, 120)
_AT_END = Settling(1_500, 400)
"""At the end of what there is, more may be on its way that nothing tells of yet."""

_STILL = 2
"""After so many looks at an end that has not moved, it is the end."""

CUT = "scroll"


class Step(Struct, frozen=True):
    """Where a step has led: at the end of what scrolls, its height in pixels, and the rows that were seen in all."""

    end: bool
    pressed: bool
    height: int
    rows: int
    present: int


async def load(tab: Tab, deadline_s: float) -> str:
    """Scroll until nothing is added any more; gives the name of the bound that ended it before."""
    until_s = min(deadline_s, time.monotonic() + _MAX_MS / 1000)
    still, presses, former = 0, 0, (0, 0)
    for _ in range(_MAX_STEPS):
        may_press = "true" if presses < _MAX_PRESSES else "false"
        step = await tab.run(f"({script('scroll')})({may_press})", Step)
        if step is None:
            return HUNG
        presses += step.pressed
        ended = await tab.settle(_AT_END if step.end else _AFTER_STEP, until_s)
        if ended in (HUNG, OVERTIME):
            return CUT if ended == OVERTIME else HUNG
        reached = (step.height, step.rows)
        still = still + 1 if step.end and not step.pressed and reached == former else 0
        former = reached
        if still >= _STILL:
            return ""
    return CUT
