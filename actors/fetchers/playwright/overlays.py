"""Puts away what lies over a page: requests for consent, newsletters, notices."""

from __future__ import annotations

import time

from msgspec import Struct

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.settling import Settling
from actors.fetchers.playwright.tab import Tab

_ROUNDS = 3
"""A banner may stand behind another, or come back as another."""

_AFTER = Settling(1_500, 200)


class Dismissed(Struct, frozen=True):
    """What was done to one overlay: pressed a button of it, or hid it where none says no."""

    pressed: bool
    kind: str


async def dismiss(tab: Tab, deadline_s: float) -> tuple[Dismissed, ...]:
    """Refuse, else close, else hide every overlay; consent is never given."""
    done: list[Dismissed] = []
    for _ in range(_ROUNDS):
        found = await tab.run(script("overlays"), tuple[Dismissed, ...])
        if not found or time.monotonic() >= deadline_s:
            break
        done += found
        await tab.settle(_AFTER, deadline_s)
    return tuple(done)
