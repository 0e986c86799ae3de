"""Gets about: to an address, back, up and down."""

from __future__ import annotations

import time

from msgspec import Struct
from playwright.async_api import Error

from actors.fetchers.playwright.held import NOWHERE, Held
from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.operations.opening import at_tab
from actors.fetchers.playwright.operations.place import Means, Place
from actors.fetchers.playwright.operations.refusing import hung, not_done
from actors.fetchers.playwright.operations.visiting import DOM_S, IDLE, Went, go
from actors.fetchers.playwright.settling import FOR_STEP
from actors.fetchers.web import guard
from protocol.browsers.operations import GoBack, Navigate, Scroll
from protocol.browsers.results import Acted, Navigated

_FILE = "The address leads to a file, which the browser downloads; get_downloads tells when it is there."
_HISTORY = "Page.getNavigationHistory"


class _Moved(Struct, frozen=True):
    """How far it went, where it is now and how much there is, in pixels."""

    by: float
    top: float
    window: float
    height: float


async def navigate(means: Means, held: Held, number: int, do: Navigate, deadline_s: float) -> Navigated:
    """Go to an address; a tab whose page does not answer begins anew."""
    guard.check_url(do.url)
    awake = held.awake(number)
    if awake is not None and awake.dialogs.pending is None:
        await awake.probe()
        if awake.stuck:
            await held.lay_down(number)
    at, _ = await at_tab(means, held, number, deadline_s)
    return await _told(at, await go(at, do.url))


async def go_back(at: Place, _do: GoBack) -> Navigated:
    """Go back to where the tab was before."""
    history = await at.tab.send(_HISTORY)
    current = int(history["currentIndex"])
    if current == 0 or history["entries"][current - 1]["url"] == NOWHERE:
        raise not_done("There is nothing before this page in this tab.")
    until_s, ended = at.until(DOM_S), "dialog"
    with at.awake.dialogs.cutting():
        try:
            await at.tab.page.go_back(wait_until="commit", timeout=max((until_s - time.monotonic()) * 1000, 1))
        except Error as error:
            raise at.tab.fault(error) from error
        ended = await at.tab.settle(IDLE, until_s)
    if at.awake.dialogs.pending is None:
        at.tab.check()
    main = at.awake.seen.main
    return await _told(at, Went(main.status if main else None, partial=bool(ended)))


async def scroll(at: Place, do: Scroll) -> Acted:
    """Scroll by most of a window, in what scrolls there."""
    down = "true" if do.direction == "down" else "false"
    moved = await at.tab.run(f"({script('move')})({down})", _Moved)
    if moved is None:
        raise hung()
    await at.tab.settle(FOR_STEP, at.deadline_s)
    return Acted(success=True, tab_id=at.number, page=await at.page(), changed=_where(moved, do))


async def _told(at: Place, went: Went) -> Navigated:
    dialog = at.awake.dialogs.pending
    return Navigated(
        success=dialog is None or dialog.type != "beforeunload",
        tab_id=at.number,
        partial=went.partial,
        status_code=went.status,
        page=await at.page(),
        dialog=dialog,
        changed=_FILE if went.is_file else "",
    )


def _where(moved: _Moved, do: Scroll) -> str:
    if not moved.by:
        return f"Nothing scrolls further {do.direction}."
    below = max(moved.height - moved.window - moved.top, 0)
    place = "the end is reached" if below < 1 else f"{below / max(moved.window, 1):.1f} windows are left below"
    return f"Scrolled {do.direction} by {abs(moved.by):.0f} pixels; {place}."
