"""Finds elements by words of what they say or are, or by a selector, also those that the window does not show."""

from __future__ import annotations

from msgspec import Struct

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import main
from actors.fetchers.playwright.view.hearing import hear
from actors.fetchers.playwright.view.looking import look
from actors.fetchers.playwright.view.matching import MAX_CANDIDATES, ranked
from actors.fetchers.playwright.view.spots import Spot
from protocol.browsers.operations import CSS, FindElement
from protocol.browsers.pageinfo import Candidate
from protocol.browsers.results import Found
from protocol.faults import Code, FaultError, fault


class _Fitting(Struct, frozen=True):
    """What a selector fits in the document of a tab; it is not `valid` where the browser does not understand it."""

    valid: bool
    elements: tuple[Spot, ...]
    url: str
    fresh: tuple[tuple[str, dict[str, str]], ...]


async def find(tab: Tab, do: FindElement) -> Found:
    """Find the elements that fit best, five at most.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a selector that is none; PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    if do.query.startswith(CSS):
        return Found(query=do.query, candidates=await _selected(tab, do.query.removeprefix(CSS)))
    seen = await look(tab)
    return Found(query=do.query, candidates=ranked(do.query, seen.elements))


async def _selected(tab: Tab, selector: str) -> tuple[Candidate, ...]:
    document = main(tab)
    await hear(document)
    fitting = await document.ask("select", _Fitting, selector=selector)
    if not fitting.valid:
        message = "query: after css= comes a selector that the browser understands"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="query"))
    document.memory.note(fitting.url, fitting.fresh)
    return tuple(
        Candidate(id=spot.id, label=spot.label, type=spot.type, score=1.0, match_reason="selector")
        for spot in fitting.elements[:MAX_CANDIDATES]
    )
