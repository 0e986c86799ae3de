"""Finds the live element behind an id, also after the page was drawn again."""

from __future__ import annotations

from playwright.async_api import ElementHandle, Error

from actors.fetchers.playwright.pointing import pointed
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.looking import stands, where
from actors.fetchers.playwright.view.matching import nearest
from actors.fetchers.playwright.view.spots import Spot
from protocol.faults import Code, FaultError, fault

_TRIES = 4
"""How often a page may move while an element of it is taken hold of."""


async def locate(tab: Tab, element_id: str) -> ElementHandle:
    """Take hold of an element by its id.

    Raises:
        FaultError: ELEMENT_NOT_FOUND, with the nearest ones; PAGE_CRASHED; BROWSER_PAGE_HUNG.
    """
    for _ in range(_TRIES):
        before = await where(tab, element_id)
        if before.way is None:
            raise _missing(element_id, before.elements)
        try:
            handle = await pointed(tab.page.main_frame, before.way)
        except Error as error:
            raise tab.fault(error) from error
        after = await stands(tab, element_id)
        if handle is not None and after == before.way:
            return handle
    raise FaultError(
        fault(Code.ELEMENT_NOT_FOUND, "The page moves too much: wait until it is stable.", field="element_id")
    )


def _missing(element_id: str, elements: tuple[Spot, ...]) -> FaultError:
    near = nearest(element_id, elements)
    message = f"There is no element {element_id} on the page now: look again with get_page_info or find_element."
    if near:
        message += f" Nearest: {', '.join(near)}."
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))
