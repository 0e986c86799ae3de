"""Waits: for a time, for a condition, or until nothing moves in the page."""

from __future__ import annotations

import time
from typing import Literal

import anyio
from msgspec import Struct
from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.operations.place import Place
from actors.fetchers.playwright.operations.refusing import invalid, not_done
from actors.fetchers.playwright.settling import POLL_MS
from protocol.browsers.operations import Wait, WaitForStable
from protocol.browsers.results import Acted, Stable
from protocol.faults import Code, FaultError, fault

_TIME_MS = 1_000
_CONDITION_MS = 10_000
_IDLE_MS = 500
"""A network on which nothing came or went for so long is idle."""


class _Look(Struct, frozen=True):
    """What the observing script says of a document."""

    ready: Literal["loading", "interactive", "complete"]
    quiet: float


async def wait(at: Place, do: Wait) -> Acted:
    """Wait for what was asked for.

    Raises:
        FaultError: ELEMENT_NOT_FOUND or EXECUTION_ERROR where it did not come; VALIDATION_INVALID_REQUEST.
    """
    condition = do.condition or ("selector" if do.selector else "time")
    if condition in ("selector", "element_hidden") and not do.selector:
        raise invalid("selector", f"the condition {condition} takes the CSS selector of an element")
    limit_ms = min(do.milliseconds or (_TIME_MS if condition == "time" else _CONDITION_MS), at.left_ms)
    match condition:
        case "time":
            await anyio.sleep(limit_ms / 1000)
        case "networkidle":
            await _idle(at, limit_ms)
        case "selector" | "element_hidden":
            await _element(at, do.selector or "", limit_ms, hidden=condition == "element_hidden")
    return Acted(success=True, tab_id=at.number, page=await at.page())


async def wait_for_stable(at: Place, do: WaitForStable) -> Stable:
    """Wait until nothing has moved, come or gone for a while; a page that never rests is told as such."""
    until_s = at.until(do.timeout / 1000)
    while True:
        look = await at.tab.run(script("observe"), _Look)
        quiet_ms = look.quiet if look else 0.0
        dom = look is not None and look.ready == "complete" and quiet_ms >= do.quiet_ms
        stable = dom and at.awake.seen.quiet_ms() >= do.quiet_ms
        if stable or time.monotonic() >= until_s:
            return Stable(
                tab_id=at.number,
                stable=stable,
                dom_stable=dom,
                network_pending=at.awake.seen.under_way,
                load_state=look.ready if look else "loading",
            )
        await anyio.sleep(POLL_MS / 1000)


async def _idle(at: Place, limit_ms: float) -> None:
    with anyio.move_on_after(limit_ms / 1000):
        while at.awake.seen.quiet_ms() < _IDLE_MS:  # noqa: ASYNC110 - nothing tells of silence
            await anyio.sleep(POLL_MS / 1000)
        return
    pending = at.awake.seen.under_way
    raise not_done(f"The network was not idle within {limit_ms:.0f} ms; {pending} requests are under way.")


async def _element(at: Place, selector: str, limit_ms: float, *, hidden: bool) -> None:
    try:
        await at.tab.page.wait_for_selector(selector, state="hidden" if hidden else "visible", timeout=limit_ms)
    except Error as error:
        if faults.is_crash(error):
            raise at.tab.fault(error) from error
        if not faults.is_timeout(error):
            raise invalid("selector", "that is no selector that the browser understands") from error
        if hidden:
            raise not_done(f"After {limit_ms:.0f} ms the element is still shown.", field="selector") from error
        message = f"After {limit_ms:.0f} ms no element is shown that the selector fits."
        raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="selector")) from error
