"""Waits until a page has come to rest after something was done to it, and tells what came of it."""

from __future__ import annotations

import anyio

from actors.fetchers.playwright import view
from actors.fetchers.playwright.operations.place import Place
from actors.fetchers.playwright.settling import FOR_STEP
from actors.fetchers.playwright.tab import UNSETTLED
from protocol.browsers.pageinfo import PageRef
from protocol.browsers.results import Acted
from protocol.faults import FaultError

_BREATH_S = 0.1
"""How long after an input another page may be asked for that it leads to."""

_LEAVING_S = 15.0
"""How long a page that is being left waits for the next."""


async def settle(at: Place, last_tab: int, said: str = "", before: view.Outline | None = None) -> Acted:
    """Wait until nothing moves any more, or a dialog waits, and tell what is different from `before`.

    Tabs with a higher number than `last_tab` are new. `said` is what there is to say first.
    """
    changed = [said] if said else []
    with at.awake.dialogs.cutting():
        await anyio.sleep(_BREATH_S)
        if not at.tab.page.is_closed():
            changed += await _rested(at)
            await at.awake.windows()
        if before is not None and not at.failed() and not at.tab.page.is_closed():
            changed.append(view.difference(before, await view.outline(at.tab)))
    opened = [one.tab for one in at.held.tabs if one.tab > last_tab]
    if opened:
        changed.append(f"Tab {opened[0]} was opened; switch_tab goes there.")
    if at.held.arriving:
        changed.append("A file is being downloaded; get_downloads tells when it is there.")
    dialog = at.awake.dialogs.pending
    if dialog is not None:
        changed.append("A dialog waits for an answer; handle_dialog gives it.")
    if at.tab.page.is_closed() and not said:
        changed.append("The tab closed itself.")
    page = await _page(at)
    return Acted(
        success=True,
        tab_id=at.number,
        page=page,
        new_tab_created=opened[0] if opened else None,
        dialog=dialog,
        changed=" ".join(one for one in changed if one),
    )


async def _rested(at: Place) -> list[str]:
    """Wait, longer where another page is on its way."""
    until_s = at.until(_LEAVING_S)
    ended = await at.tab.settle(FOR_STEP, until_s)
    while ended == UNSETTLED and at.awake.seen.leaving:
        ended = await at.tab.settle(FOR_STEP, until_s)
    if at.awake.seen.leaving:
        return ["The next page has not come yet."]
    if at.failed():
        return [_lost(at)]
    return ["The page still moves."] if ended else []


def _lost(at: Place) -> str:
    try:
        at.tab.check()
    except FaultError as error:
        return f"It led to a page that cannot be had ({error.fault.code.value}). go_back leads back."
    return ""


async def _page(at: Place) -> PageRef | None:
    if at.tab.page.is_closed():
        return None
    return await at.page()
