"""What can be done in a browser session: one function for each operation, in a table."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from actors.fetchers import answering
from actors.fetchers.playwright.fetching import Fetching
from actors.fetchers.playwright.held import Held
from actors.fetchers.web import guard
from bus import remaining_ms
from protocol.browsers.done import Acted, Done, Evaluated, Navigated, TabCreated, Tabs
from protocol.browsers.operations import CloseTab, CreateTab, ExecuteJavascript, ListTabs, Navigate
from protocol.browsers.pageinfo import PageRef
from protocol.pages import FetchPage

_RESERVE_MS = 2_000
"""A tenth of the time, so much at most, is kept for reading the page, for keeping the session and for the answer."""

_MAX_TITLE_CHARS = 200


async def _navigate(fetching: Fetching, held: Held, do: Navigate) -> Done:
    guard.check_url(do.url)
    number = held.number(do.tab_id) if do.tab_id is not None or held.tabs else held.add()
    page = await fetching.go(FetchPage(url=do.url), held.context, await held.open(number), _deadline_s())
    title = page.document.content.title[:_MAX_TITLE_CHARS]
    held.entitle(number, title)
    return Navigated(
        success=True, tab_id=number, status_code=page.status, page=PageRef(url=page.final_url, title=title)
    )


async def _tabs(_fetching: Fetching, held: Held, _do: ListTabs) -> Done:
    return Tabs(tabs=held.tabs)


async def _create_tab(fetching: Fetching, held: Held, do: CreateTab) -> Done:
    number = held.add()
    if do.url is None:
        return TabCreated(tab_id=number, url=held.url(number))
    await _navigate(fetching, held, Navigate(tab_id=number, url=do.url))
    return TabCreated(tab_id=number, url=held.url(number))


async def _execute(fetching: Fetching, held: Held, do: ExecuteJavascript) -> Done:
    number = held.number(do.tab_id)
    awake = held.is_awake(number)
    page = await held.open(number)
    if not awake:
        await fetching.go(FetchPage(url=held.url(number)), held.context, page, _deadline_s())
    return Evaluated(tab_id=number, result=await page.page.evaluate(do.script))


async def _close_tab(_fetching: Fetching, held: Held, do: CloseTab) -> Done:
    await held.shut(held.number(do.tab_id))
    return Acted(success=True, tab_id=do.tab_id)


OPERATIONS: Mapping[type, Callable[[Fetching, Held, Any], Awaitable[Done]]] = MappingProxyType(
    {
        Navigate: _navigate,
        ListTabs: _tabs,
        CloseTab: _close_tab,
        CreateTab: _create_tab,
        ExecuteJavascript: _execute,
    }
)
"""What is done in a session, by the type of what is asked."""


def _deadline_s() -> float:
    return time.monotonic() + answering.time_for_site(remaining_ms(), _RESERVE_MS) / 1000
