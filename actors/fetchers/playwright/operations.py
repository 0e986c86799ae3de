"""What can be done in a browser session: one function for each operation, in a table."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from actors.fetchers.extract.page import extract_html
from actors.fetchers.extracting import Extractor
from actors.fetchers.playwright.answer import answered
from actors.fetchers.playwright.held import Held
from actors.fetchers.playwright.settling import FOR_FETCH
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.web import guard
from bus import remaining_ms
from protocol.browse import DEFAULT_LATENCY_MS
from protocol.browsers import BrowserAnswer, CloseTab, ListTabs, Navigate, ReadTab
from protocol.pages import Fetched, FetchPage

_RESERVE_SHARE = 10
_MAX_RESERVE_MS = 2_000
"""A tenth of the time, so much at most, is kept for reading the page, for keeping the session and for the answer."""

_MAX_TITLE_CHARS = 200


class ToolSettings(Protocol):
    """What the operations read of the settings."""

    @property
    def fetch_max_bytes(self) -> int:
        """Bytes of one page at most."""
        ...


@dataclass(frozen=True)
class Tools:
    """What the operations work with."""

    settings: ToolSettings
    extractor: Extractor


async def _navigate(tools: Tools, held: Held, do: Navigate) -> BrowserAnswer:
    guard.check_url(do.url)
    number = held.add() if do.tab is None else held.number(do.tab)
    tab, deadline_s = await held.open(number), _deadline_s()
    await tab.go(do.url, deadline_s)
    return await _page(tools, held, number, FetchPage(url=do.url), deadline_s)


async def _read(tools: Tools, held: Held, do: ReadTab) -> BrowserAnswer:
    number, deadline_s = held.number(do.tab), _deadline_s()
    url = await _woken(held, number, deadline_s)
    return await _page(tools, held, number, FetchPage(url=url, include_html=do.include_html), deadline_s)


async def _tabs(_tools: Tools, _held: Held, _do: ListTabs) -> BrowserAnswer:
    return BrowserAnswer()


async def _close_tab(_tools: Tools, held: Held, do: CloseTab) -> BrowserAnswer:
    await held.shut(held.number(do.tab))
    return BrowserAnswer(tab=do.tab)


OPERATIONS: Mapping[type, Callable[[Tools, Held, Any], Awaitable[BrowserAnswer]]] = MappingProxyType(
    {Navigate: _navigate, ReadTab: _read, ListTabs: _tabs, CloseTab: _close_tab}
)
"""What is done in a session, by the type of what is asked; the tabs of the answer are filled in by the caller."""


async def _woken(held: Held, number: int, deadline_s: float) -> str:
    """See to it that a tab shows its page: after a restoration it is fetched again."""
    (url,) = (one.url for one in held.tabs if one.tab == number)
    if not held.is_awake(number):
        tab = await held.open(number)
        if url != "about:blank":
            await tab.go(url, deadline_s)
    return url


async def _page(tools: Tools, held: Held, number: int, request: FetchPage, deadline_s: float) -> BrowserAnswer:
    page = await _fetched(tools, await held.open(number), request, deadline_s)
    held.entitle(number, page.document.content.title[:_MAX_TITLE_CHARS])
    return BrowserAnswer(tab=number, page=page)


async def _fetched(tools: Tools, tab: Tab, request: FetchPage, deadline_s: float) -> Fetched:
    cut_short = await tab.settle(FOR_FETCH, deadline_s)
    written = await tab.html(tools.settings.fetch_max_bytes)
    found = await tools.extractor.run(
        extract_html, written.html, tab.page.url, include_html=request.include_html, captured_at=datetime.now(UTC)
    )
    return answered(request, tab, found, (), cut_short)


def _deadline_s() -> float:
    left_ms = remaining_ms() or DEFAULT_LATENCY_MS
    return time.monotonic() + (left_ms - min(left_ms // _RESERVE_SHARE, _MAX_RESERVE_MS)) / 1000
