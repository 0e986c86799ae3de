"""Lists, opens, switches and closes tabs, and answers their dialogs."""

from __future__ import annotations

from contextlib import suppress

import anyio
from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.operations.acting import Since, settle
from actors.fetchers.playwright.operations.context import OperationContext
from actors.fetchers.playwright.operations.navigation import go
from protocol.browsers.operations import CloseTab, CreateTab, GetDialogInfo, HandleDialog, ListTabs, SwitchTab
from protocol.browsers.pageinfo import PageRef
from protocol.browsers.results import Acted, Dialogs, TabCreated, Tabs
from protocol.faults import FaultError

_TITLE_S = 0.5
"""How long a page may take to return its title."""


async def list_tabs(op: OperationContext, _do: ListTabs) -> Tabs:
    """List the tabs, with their current titles where the pages respond."""
    session = op.session
    async with anyio.create_task_group() as tasks:
        for one in session.tabs:
            tasks.start_soon(_update_title, session, one.tab)
    active = session.record.active_tab
    return Tabs(
        active_tab_id=active if active is None or session.has_tab(active) else None,
        tabs=session.tabs,
        cookies=len(session.record.state.cookies),
    )


async def create_tab(op: OperationContext, number: int, former: int | None, do: CreateTab) -> TabCreated:
    """Open a new tab at its address; `former` was the active one, and is again where the address cannot be loaded."""
    session, partial = op.session, False
    try:
        tab, _ = await op.in_tab(number)
        if do.url is not None:
            partial = (await go(tab, do.url)).partial
            await tab.page()
    except (FaultError, anyio.get_cancelled_exc_class()):
        with anyio.CancelScope(shield=True):
            await session.close_tab(number)
        if former is not None and session.has_tab(former):
            session.activate(former)
        raise
    return TabCreated(tab_id=number, url=session.url(number), partial=partial)


async def switch_tab(op: OperationContext, do: SwitchTab) -> Acted:
    """Make a tab the active one."""
    number = op.session.tab_number(do.tab_id)
    op.session.activate(number)
    return Acted(success=True, tab_id=number, page=_page(op.session, number))


async def close_tab(op: OperationContext, do: CloseTab) -> Acted:
    """Close a tab, whatever runs in it; `page` is that of the tab that is active then."""
    session = op.session
    if not session.has_tab(do.tab_id):
        raise faults.invalid("tabId", f"the session has no tab {do.tab_id}; list_tabs tells which it has")
    await session.close_tab(do.tab_id)
    active = session.record.active_tab
    left = "No tab is left." if active is None else f"Tab {active} is the active one now."
    page = None if active is None else _page(session, active)
    return Acted(success=True, tab_id=do.tab_id, page=page, changed=left)


async def dialog_info(op: OperationContext, do: GetDialogInfo) -> Dialogs:
    """Return the dialog that waits for an answer, and those before it."""
    if not op.session.tabs:
        return Dialogs()
    number = op.session.tab_number(do.tab_id)
    open_tab = op.session.open_tab(number)
    if open_tab is None:
        return Dialogs(tab_id=number)
    dialogs = open_tab.dialogs
    return Dialogs(tab_id=number, pending_dialog=dialogs.pending, dialog_history=tuple(dialogs.past))


async def handle_dialog(op: OperationContext, number: int, do: HandleDialog) -> Acted:
    """Answer the dialog that waits; the page goes on, and may open another."""
    open_tab = op.session.open_tab(number)
    if open_tab is None or open_tab.dialogs.pending is None:
        raise faults.not_done("No dialog of this tab waits for an answer.")
    dialogs, kind = open_tab.dialogs, open_tab.dialogs.pending.type
    if do.text is not None and kind != "prompt":
        raise faults.invalid("text", f"only a prompt takes one, and this is a dialog of the kind {kind}")
    since = Since.now(op)
    answered = await dialogs.answer(accept=do.action == "accept", text=do.text)
    following = dialogs.current()
    if following is not None:
        return Acted(success=True, tab_id=number, dialog=following)
    tab, _ = await op.in_tab(number)
    outcome = f"The dialog was {answered.response if answered else 'dismissed'}."
    return await settle(tab, since, outcome, open_tab.before)


async def _update_title(session: OpenSession, number: int) -> None:
    open_tab = session.open_tab(number)
    if open_tab is not None and open_tab.responds:
        with anyio.move_on_after(_TITLE_S), suppress(Error), open_tab.dialogs.interrupting():
            session.set_title(number, await open_tab.page.title())


def _page(session: OpenSession, number: int) -> PageRef:
    one = next(one for one in session.tabs if one.tab == number)
    return PageRef(url=one.url, title=one.title)
