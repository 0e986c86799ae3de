"""Acts on a page: clicks, hovers, presses keys; and what every action does around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from playwright.async_api import ElementHandle, Error

from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.operations import elements, keys
from actors.fetchers.playwright.operations.place import Place
from actors.fetchers.playwright.operations.refusing import dialog_waits, not_done
from actors.fetchers.playwright.operations.settled import settle
from protocol.browsers.operations import Click, Hover, PressKey
from protocol.browsers.results import Acted

_TRIES = 3
"""How often the page may draw an element again while it is being handled."""

Deed = Callable[[ElementHandle], Awaitable[str]]
"""Something done to an element; gives what there is to say of it."""


async def click(at: Place, do: Click) -> Acted:
    """Click an element."""
    return await to_element(at, do.element_id, elements.click)


async def hover(at: Place, do: Hover) -> Acted:
    """Move the pointer over an element."""
    return await to_element(at, do.element_id, elements.hover)


async def press_key(at: Place, do: PressKey) -> Acted:
    """Press a key."""
    pressed = keys.pressed(do.key, do.modifiers)

    async def press() -> str:
        await at.tab.page.keyboard.press(pressed)
        return ""

    return await acted(at, press)


async def to_element(at: Place, element_id: str, deed: Deed) -> Acted:
    """Do something to an element, which is found again where the page draws it anew meanwhile."""

    async def do() -> str:
        for _ in range(_TRIES - 1):
            try:
                return await deed(await view.locate(at.tab, element_id))
            except Error as error:
                if not elements.is_gone(error):
                    raise
        return await deed(await view.locate(at.tab, element_id))

    return await acted(at, do)


async def acted(at: Place, do: Callable[[], Awaitable[str]]) -> Acted:
    """Do something to the page, wait until it has come to rest, and tell what is different.

    Raises:
        FaultError: what it failed with; EXECUTION_ERROR where a dialog opened before it was begun.
    """
    last_tab, said, before = at.held.record.last_tab, "", None
    with at.awake.dialogs.cutting():
        at.awake.before = before = await view.outline(at.tab)
        try:
            said = await do()
        except Error as error:
            said = _went(at, error)
        except msgspec.ValidationError as error:
            raise not_done("The page meddles with what it is asked.") from error
    if before is None and at.awake.dialogs.pending is not None:
        raise dialog_waits(at.awake.dialogs.pending)
    return await settle(at, last_tab, said, before)


def _went(at: Place, error: Error) -> str:
    """Judge an error of the browser's: an action may lead elsewhere, or close its own tab."""
    closed = at.tab.page.is_closed() and not at.awake.seen.crashed and at.held.lives
    if closed:
        return "The tab closed itself."
    if elements.is_elsewhere(error):
        return ""
    if faults.is_crash(error):
        raise at.tab.fault(error) from error
    if elements.is_gone(error):
        raise not_done("The page draws the element again and again: wait until it is stable.", field="element_id")
    raise not_done("The browser did not do it.") from error
