"""Visits a page in a tab of the run's browser session, and closes the tab whatever happens (002 §8.6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import anyio

from actors.runner.reading.statuses import check_status
from actors.runner.reading.tabs import Seen, item_of
from actors.runner.reading.told import Extract, PageItem
from actors.runner.template import Hands
from protocol.browsers.operations import (
    CloseTab,
    CreateTab,
    GetPageContent,
    GetPageInfo,
    HandleDialog,
    Navigate,
    Operation,
    WaitForStable,
)
from protocol.browsers.pageinfo import PastDialog
from protocol.browsers.results import Acted, Navigated, PageContent, PageInfo, TabCreated
from protocol.faults import Code, FaultError, fault

STABLE_MS = 10_000
"""How long a page may take to come to rest."""

MAX_DIALOGS = 5
"""Dialogs of a page that are dismissed, one after the other."""

_OPEN_S = 30.0
_CLOSE_S = 5.0

D = TypeVar("D")


async def visit(hands: Hands, index: int, url: str, wanted: Extract) -> PageItem:
    """Read a page in a tab of its own, which is named in all that is done.

    Raises:
        FaultError: why there is none.
    """
    async with _tab(hands) as tab:
        with hands.part("navigate"):
            went = await _do(hands, Navigate(url=url, tab_id=tab), Navigated)
            await _answer(hands, tab, went.dialog)
            check_status(went.status_code)
        with hands.part("wait_for_stable"):
            await hands.browser(WaitForStable(timeout=STABLE_MS, tab_id=tab))
        info = content = None
        if wanted.page_info:
            with hands.part("get_page_info"):
                info = await _do(hands, GetPageInfo(max_elements=wanted.max_elements, tab_id=tab), PageInfo)
        if wanted.content:
            with hands.part("get_page_content"):
                content = await _do(
                    hands, GetPageContent(max_length=wanted.max_content_length, tab_id=tab), PageContent
                )
    return item_of(index, url, Seen(went, info, content), wanted)


@asynccontextmanager
async def _tab(hands: Hands) -> AsyncGenerator[int]:
    tab = await _opened(hands)
    try:
        yield tab
    finally:
        # Whoever stops the run does not want the tab either; one that cannot be closed goes with its session.
        with anyio.move_on_after(_CLOSE_S, shield=True), hands.part("close_tab"), suppress(FaultError):
            await hands.browser(CloseTab(tab_id=tab))


async def _opened(hands: Hands) -> int:
    """Open a tab; shielded, for one that nobody knows of would never be closed."""
    with hands.part("create_tab"):
        with anyio.move_on_after(min(_OPEN_S, hands.remaining_ms() / 1_000), shield=True):
            done = await _do(hands, CreateTab(), TabCreated)
            if done.tab_id is not None:
                return done.tab_id
        raise FaultError(fault(Code.INTERNAL_DEADLINE, "The browser opened no tab in time."))


async def _answer(hands: Hands, tab: int, dialog: PastDialog | None) -> None:
    """Dismiss the dialogs that a page opens, as a fetch does: as long as one waits nothing else is done in its tab."""
    for _ in range(MAX_DIALOGS):
        if dialog is None:
            return
        dialog = (await _do(hands, HandleDialog(action="dismiss", tab_id=tab), Acted)).dialog


async def _do(hands: Hands, operation: Operation, kind: type[D]) -> D:
    done = await hands.browser(operation)
    if not isinstance(done, kind):
        raise FaultError(fault(Code.INTERNAL_ERROR, "The browser answered something else than what was asked."))
    return done
