"""Opens, lists, chooses and closes tabs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import anyio
from playwright.async_api import Error

from actors.fetchers.playwright.held import Held
from actors.fetchers.playwright.operations.opening import at_tab
from actors.fetchers.playwright.operations.place import Means
from actors.fetchers.playwright.operations.refusing import invalid
from actors.fetchers.playwright.operations.visiting import go
from actors.fetchers.web import guard
from protocol.browsers.operations import CloseTab, CreateTab, ListTabs, SwitchTab
from protocol.browsers.pageinfo import PageRef
from protocol.browsers.results import Acted, TabCreated, Tabs
from protocol.faults import FaultError

_TITLE_S = 0.5
"""How long a page may take to tell its title."""


def check(do: CreateTab) -> None:
    """See that the address of a tab may be gone to, before one is opened for it."""
    if do.url is not None:
        guard.check_url(do.url)


@dataclass(frozen=True)
class Opening:
    """A tab that is being opened; `before` was the active one."""

    means: Means
    held: Held
    number: int
    before: int | None
    deadline_s: float
    local: bool

    async def opened(self, do: CreateTab) -> TabCreated:
        """Go to its address; one that cannot be had leaves no tab behind."""
        held, partial = self.held, False
        try:
            at, _ = await at_tab(self.means, held, self.number, self.deadline_s, local=self.local)
            if do.url is not None:
                partial = (await go(at, do.url)).partial
                await at.page()
        except (FaultError, anyio.get_cancelled_exc_class()):
            with anyio.CancelScope(shield=True):
                await held.shut(self.number)
            if self.before is not None and held.has(self.before):
                held.activate(self.before)
            raise
        return TabCreated(tab_id=self.number, url=held.url(self.number), partial=partial)


async def list_tabs(_means: Means, held: Held, _do: ListTabs) -> Tabs:
    """Tell the tabs, with their titles as they are now where the pages answer."""
    async with anyio.create_task_group() as tasks:
        for one in held.tabs:
            tasks.start_soon(_entitle, held, one.tab)
    active = held.record.active_tab
    return Tabs(
        active_tab_id=active if active is None or held.has(active) else None,
        tabs=held.tabs,
        cookies=len(held.record.state.cookies),
    )


async def switch_tab(_means: Means, held: Held, do: SwitchTab) -> Acted:
    """Make a tab the active one."""
    number = held.number(do.tab_id)
    held.activate(number)
    return Acted(success=True, tab_id=number, page=_ref(held, number))


async def close_tab(_means: Means, held: Held, do: CloseTab) -> Acted:
    """Close a tab, whatever is done in it; `page` is that of the active one then."""
    if not held.has(do.tab_id):
        raise invalid("tabId", f"the session has no tab {do.tab_id}; list_tabs tells which it has")
    await held.shut(do.tab_id)
    active = held.record.active_tab
    left = "No tab is left." if active is None else f"Tab {active} is the active one now."
    return Acted(success=True, tab_id=do.tab_id, page=None if active is None else _ref(held, active), changed=left)


async def _entitle(held: Held, number: int) -> None:
    awake = held.awake(number)
    if awake is not None and awake.reads:
        with anyio.move_on_after(_TITLE_S), suppress(Error), awake.dialogs.cutting():
            held.entitle(number, await awake.page.title())


def _ref(held: Held, number: int) -> PageRef:
    one = next(one for one in held.tabs if one.tab == number)
    return PageRef(url=one.url, title=one.title)
