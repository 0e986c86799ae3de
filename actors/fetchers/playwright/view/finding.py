"""Finds elements by words of what they say or are, also those that the window does not show."""

from __future__ import annotations

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.looking import look
from actors.fetchers.playwright.view.matching import ranked
from protocol.browsers.done import Found
from protocol.browsers.operations import FindElement


async def find(tab: Tab, do: FindElement) -> Found:
    """Find the elements that fit best, five at most.

    Raises:
        FaultError: PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    seen = await look(tab)
    return Found(query=do.query, candidates=ranked(do.query, seen.elements))
