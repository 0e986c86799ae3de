"""What can be done in a browser session: one function for each operation, in a table."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

from actors.fetchers import answering
from actors.fetchers.playwright.fetching import Fetching
from actors.fetchers.playwright.held import NOWHERE, Held
from actors.fetchers.web import guard
from bus import remaining_ms
from protocol.browsers import BrowserAnswer, CloseTab, ListTabs, Navigate, ReadTab
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage

_RESERVE_MS = 2_000
"""A tenth of the time, so much at most, is kept for reading the page, for keeping the session and for the answer."""

_MAX_TITLE_CHARS = 200


async def _navigate(fetching: Fetching, held: Held, do: Navigate) -> BrowserAnswer:
    guard.check_url(do.url)
    number = held.add() if do.tab is None else held.number(do.tab)
    try:
        page = await fetching.go(FetchPage(url=do.url), held.context, await held.open(number), _deadline_s())
    except FaultError:
        if do.tab is None:
            await held.shut(number)
        raise
    return _answer(held, number, page)


async def _read(fetching: Fetching, held: Held, do: ReadTab) -> BrowserAnswer:
    number, deadline_s = held.number(do.tab), _deadline_s()
    request = FetchPage(url=held.url(number), include_html=do.include_html)
    # After a restoration a tab is open again when it is first needed, and its page is fetched again.
    read = fetching.look if held.is_awake(number) or request.url == NOWHERE else fetching.go
    return _answer(held, number, await read(request, held.context, await held.open(number), deadline_s))


async def _tabs(_fetching: Fetching, _held: Held, _do: ListTabs) -> BrowserAnswer:
    return BrowserAnswer()


async def _close_tab(_fetching: Fetching, held: Held, do: CloseTab) -> BrowserAnswer:
    await held.shut(held.number(do.tab))
    return BrowserAnswer(tab=do.tab)


OPERATIONS: Mapping[type, Callable[[Fetching, Held, Any], Awaitable[BrowserAnswer]]] = MappingProxyType(
    {Navigate: _navigate, ReadTab: _read, ListTabs: _tabs, CloseTab: _close_tab}
)
"""What is done in a session, by the type of what is asked; the tabs of the answer are filled in by the caller."""


def _answer(held: Held, number: int, page: Fetched) -> BrowserAnswer:
    held.entitle(number, page.document.content.title[:_MAX_TITLE_CHARS])
    return BrowserAnswer(tab=number, page=page)


def _deadline_s() -> float:
    return time.monotonic() + answering.time_for_site(remaining_ms(), _RESERVE_MS) / 1000
