"""Navigates: opens a tab at its page, goes to an address, back, forward and there again, and scrolls."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from msgspec import Struct, structs
from playwright.async_api import Error, Response

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.open_session import NOWHERE
from actors.fetchers.playwright.operations.context import OperationContext, TabContext
from actors.fetchers.playwright.stability import FOR_STEP, StabilityBounds
from actors.web import guard
from protocol.browsers.operations import GoBack, GoForward, Navigate, Refresh, Scroll, ScrollBy
from protocol.browsers.results import Acted, Navigated

DOM_S = 30.0
"""How long a document may take to load."""

IDLE = StabilityBounds(3_000, 500)
"""How long a page that has been parsed may take until it is stable."""

_EMPTY = frozenset({204, 205})
_FILE = "The address leads to a file, which the browser downloads; get_downloads tells when it is there."
_HISTORY = "Page.getNavigationHistory"


class NavigationOutcome(Struct, frozen=True):
    """How a navigation ended: `partial` where the page is not stable, `is_file` where the browser downloads it."""

    status: int | None
    partial: bool = False
    is_file: bool = False


class _Scrolled(Struct, frozen=True):
    """How far `scripts/move.js` scrolled, where it is now and how much there is, in pixels."""

    by: float
    top: float
    window: float
    height: float


async def navigate(op: OperationContext, number: int, do: Navigate) -> Navigated:
    """Go to an address; a tab whose page does not respond is opened anew."""
    guard.check_url(do.url)
    open_tab = op.session.open_tab(number)
    if open_tab is not None and open_tab.dialogs.pending is None:
        await open_tab.probe()
        if open_tab.stuck:
            await op.session.suspend_tab(number)
    tab, _ = await op.in_tab(number)
    return await _navigated(tab, await go(tab, do.url))


async def go_back(op: TabContext, _do: GoBack) -> Navigated:
    """Go back in the history of the tab."""
    history = await op.tab.send(_HISTORY)
    current = int(history["currentIndex"])
    if current == 0 or history["entries"][current - 1]["url"] == NOWHERE:
        raise faults.not_done("There is nothing before this page in this tab.")
    return await _moved(op, op.tab.page.go_back)


async def go_forward(op: TabContext, _do: GoForward) -> Navigated:
    """Go forward in the history of the tab."""
    history = await op.tab.send(_HISTORY)
    if int(history["currentIndex"]) + 1 >= len(history["entries"]):
        raise faults.not_done("There is nothing after this page in this tab.")
    return await _moved(op, op.tab.page.go_forward)


async def refresh(op: TabContext, _do: Refresh) -> Navigated:
    """Load the page again."""
    if not op.tab.page.url.startswith("http"):
        raise faults.not_done("There is no page in this tab that could be loaded again.")
    return await _moved(op, op.tab.page.reload)


async def scroll_by(op: TabContext, do: ScrollBy) -> Acted:
    """Scroll the main scroll container by so many pixels."""
    direction = "down" if do.delta_y >= 0 else "up"
    return await _scrolled(op, f"{do.delta_y >= 0:d}, {do.delta_y}", direction)


async def scroll(op: TabContext, do: Scroll) -> Acted:
    """Scroll the main scroll container by most of a window."""
    return await _scrolled(op, f"{do.direction == 'down':d}", do.direction)


async def _scrolled(op: TabContext, arguments: str, direction: str) -> Acted:
    """Scroll, and say what is left once the page has drawn what it draws for those who come there."""
    scrolled = await op.tab.run(f"({script('move')})({arguments})", _Scrolled)
    if scrolled is None:
        raise faults.hung()
    await op.tab.settle(FOR_STEP, op.deadline_s)
    now = await op.tab.run(f"({script('move')})(0, 0)", _Scrolled) or scrolled
    changed = _position(structs.replace(now, by=scrolled.by), direction)
    return Acted(success=True, tab_id=op.number, page=await op.page(), changed=changed)


async def _moved(op: TabContext, move: Callable[..., Awaitable[Response | None]]) -> Navigated:
    """Move in the history of the tab; a dialog that opens meanwhile ends the wait."""
    until_s, limit = op.until(DOM_S), "dialog"
    with op.open_tab.dialogs.interrupting():
        try:
            await move(wait_until="commit", timeout=max((until_s - time.monotonic()) * 1000, 1))
        except Error as error:
            raise op.tab.fault(error) from error
        limit = await op.tab.settle(IDLE, until_s)
    return await _navigated(op, _outcome(op, limit))


async def at_page(op: OperationContext, number: int) -> TabContext:
    """Open a tab at the page where it was last.

    Raises:
        FaultError: as `OperationContext.in_tab`, or why the page cannot be loaded.
    """
    former = op.session.url(number)
    tab, is_fresh = await op.in_tab(number)
    if is_fresh and former != NOWHERE:
        await go(tab, former)
        tab.open_tab.check_no_dialog()
    return tab


async def go(op: TabContext, url: str) -> NavigationOutcome:
    """Go to an address; a dialog that opens meanwhile ends the wait.

    Raises:
        FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, RATE_LIMIT_EXCEEDED or PAGE_CRASHED.
    """
    guard.check_url(url)
    until_s = op.until(DOM_S)
    left_ms = max((until_s - time.monotonic()) * 1000, 1)
    is_file, limit = False, "dialog"
    with op.open_tab.dialogs.interrupting():
        async with op.dependencies.web.turn(url, round(left_ms)):
            is_file = not await _commit(op, url, left_ms)
            limit = await op.tab.settle(IDLE, until_s)
    return _outcome(op, limit, is_file=is_file)


async def _commit(op: TabContext, url: str, left_ms: float) -> bool:
    """Navigate until the document begins to arrive; False where it is a file that the browser downloads."""
    op.tab.gate.refused = None
    try:
        await op.tab.page.goto(url, wait_until="commit", timeout=left_ms)
    except Error as error:
        if faults.is_download(error):
            return False
        main = op.tab.recorder.main
        stays = main is not None and main.status in _EMPTY
        if not stays and not faults.is_interrupted(error):
            raise op.tab.fault(error) from error
    return True


def _outcome(op: TabContext, limit: str, *, is_file: bool = False) -> NavigationOutcome:
    if op.open_tab.dialogs.pending is None:
        op.tab.check()
    main = op.tab.recorder.main
    return NavigationOutcome(main.status if main else None, partial=bool(limit), is_file=is_file)


async def _navigated(op: TabContext, outcome: NavigationOutcome) -> Navigated:
    dialog = op.open_tab.dialogs.pending
    return Navigated(
        success=dialog is None or dialog.type != "beforeunload",
        tab_id=op.number,
        partial=outcome.partial,
        status_code=outcome.status,
        page=await op.page(),
        dialog=dialog,
        changed=_FILE if outcome.is_file else "",
    )


def _position(scrolled: _Scrolled, direction: str) -> str:
    if not scrolled.by:
        return f"Nothing scrolls further {direction}."
    below = max(scrolled.height - scrolled.window - scrolled.top, 0)
    place = "the end is reached" if below < 1 else f"{below / max(scrolled.window, 1):.1f} windows are left below"
    return f"Scrolled {direction} by {abs(scrolled.by):.0f} pixels; {place}."
