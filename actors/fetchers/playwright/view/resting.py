"""Tells whether a page has come to rest."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.settling import FOR_STEP
from actors.fetchers.playwright.tab import Tab
from protocol.browsers.pageinfo import Stability
from protocol.faults import Code, FaultError, fault


class _State(Struct, frozen=True):
    """What the observing script says; `quiet` in ms."""

    ready: Literal["loading", "interactive", "complete"]
    quiet: float
    loading: bool


async def stability(tab: Tab) -> Stability:
    """Look once; what was not watched before counts as quiet from the first look on."""
    state = await tab.run(script("observe"), _State)
    if state is None:
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
    dom_stable = not state.loading and state.quiet >= FOR_STEP.quiet_ms
    pending = tab.seen.under_way
    return Stability(
        stable=dom_stable and pending == 0 and state.ready == "complete",
        dom_stable=dom_stable,
        network_pending=pending,
        load_state=state.ready,
    )
