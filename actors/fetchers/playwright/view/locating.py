"""Finds the live element behind an id, also after the page was drawn again."""

from __future__ import annotations

from msgspec import Struct
from playwright.async_api import ElementHandle

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import Document, main, parted
from actors.fetchers.playwright.view.looking import glance, look, stands, where
from actors.fetchers.playwright.view.matching import nearest
from actors.fetchers.playwright.view.spots import Spot
from protocol.faults import Code, FaultError, fault

_TRIES = 4
"""How often a page may move while an element of it is taken hold of."""

_MAX_QUOTED_CHARS = 80


class _Concealed(Struct, frozen=True):
    """Whether there was such an element."""

    done: bool


async def locate(tab: Tab, element_id: str) -> ElementHandle:
    """Take hold of an element by its id.

    Raises:
        FaultError: ELEMENT_NOT_FOUND, with the nearest ones; PAGE_CRASHED; BROWSER_PAGE_HUNG.
    """
    *frames, name = parted(element_id)
    for _ in range(_TRIES):
        document = await _inner(main(tab), frames)
        if document is None:
            raise _missing(element_id, (await look(tab)).elements)
        before = await where(document, name)
        if before.way is None:
            raise _missing(element_id, before.elements, document.prefix)
        handle = await document.take(before.way)
        if handle is not None and await stands(document, name) == before.way:
            return handle
    message = "The page moves too much to take hold of it: call wait_for_stable, and try again."
    raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))


async def conceal(tab: Tab, element_id: str) -> None:
    """See that what an element holds is told to nobody from now on."""
    *frames, name = parted(element_id)
    document = await _inner(main(tab), frames)
    if document is not None:
        await document.ask("conceal", _Concealed, id=name)


async def _inner(document: Document, frames: list[str]) -> Document | None:
    """Go down into frames by their ids."""
    for name in frames:
        within = next((one for one in (await glance(document)).frames if one.id == name), None)
        inner = await document.inner(name, within.way) if within is not None else None
        if inner is None:
            return None
        document = inner
    return document


def _missing(element_id: str, elements: tuple[Spot, ...], prefix: str = "") -> FaultError:
    near = nearest(element_id, [f"{prefix}{spot.id}" for spot in elements])
    named = element_id[:_MAX_QUOTED_CHARS]
    message = f"There is no element {named} on the page now: look again with get_page_info or find_element."
    if near:
        message += f" Nearest: {', '.join(near)}."
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))
