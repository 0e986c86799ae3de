"""Waits for a time, for a condition, or until the page is stable."""

from __future__ import annotations

import time

import anyio
from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.operations.context import TabContext
from actors.fetchers.playwright.stability import POLL_MS
from protocol.browsers.operations import Wait, WaitForStable
from protocol.browsers.results import Acted, Stable
from protocol.faults import Code, FaultError, fault

_TIME_MS = 1_000
_CONDITION_MS = 10_000
_IDLE_MS = 500
"""A network without events for so long is idle."""


async def wait(op: TabContext, do: Wait) -> Acted:
    """Wait for a time or a condition.

    Raises:
        FaultError: ELEMENT_NOT_FOUND or EXECUTION_ERROR where it is not met; VALIDATION_INVALID_REQUEST.
    """
    condition = do.condition or ("selector" if do.selector else "time")
    if condition in ("selector", "element_hidden") and not do.selector:
        raise faults.invalid("selector", f"the condition {condition} takes the CSS selector of an element")
    limit_ms = min(do.milliseconds or (_TIME_MS if condition == "time" else _CONDITION_MS), op.left_ms)
    match condition:
        case "time":
            await anyio.sleep(limit_ms / 1000)
        case "networkidle":
            await _wait_until_idle(op, limit_ms)
        case "selector" | "element_hidden":
            await _wait_for_element(op, do.selector or "", limit_ms, hidden=condition == "element_hidden")
    return Acted(success=True, tab_id=op.number, page=await op.page())


async def wait_for_stable(op: TabContext, do: WaitForStable) -> Stable:
    """Wait until the page is stable for a while; says so of one that never is."""
    until_s = op.until(do.timeout / 1000)
    while True:
        state = await op.tab.state()
        quiet_ms = state.quiet if state else 0.0
        dom = state is not None and state.ready == "complete" and quiet_ms >= do.quiet_ms
        stable = dom and op.tab.recorder.quiet_ms() >= do.quiet_ms
        if stable or time.monotonic() >= until_s:
            return Stable(
                tab_id=op.number,
                stable=stable,
                dom_stable=dom,
                network_pending=op.tab.recorder.in_flight,
                load_state=state.ready if state else "loading",
            )
        await anyio.sleep(POLL_MS / 1000)


async def _wait_until_idle(op: TabContext, limit_ms: float) -> None:
    with anyio.move_on_after(limit_ms / 1000):
        while op.tab.recorder.quiet_ms() < _IDLE_MS:  # noqa: ASYNC110 - no event announces silence
            await anyio.sleep(POLL_MS / 1000)
        return
    pending = op.tab.recorder.in_flight
    raise faults.not_done(f"The network was not idle within {limit_ms:.0f} ms; {pending} requests are under way.")


async def _wait_for_element(op: TabContext, selector: str, limit_ms: float, *, hidden: bool) -> None:
    try:
        await op.tab.page.wait_for_selector(selector, state="hidden" if hidden else "visible", timeout=limit_ms)
    except Error as error:
        if faults.is_crash(error):
            raise op.tab.fault(error) from error
        if not faults.is_timeout(error):
            raise faults.invalid("selector", "that is no selector that the browser understands") from error
        if hidden:
            raise faults.not_done(f"After {limit_ms:.0f} ms the element is still shown.", field="selector") from error
        message = f"After {limit_ms:.0f} ms no element is shown that the selector fits."
        raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="selector")) from error
