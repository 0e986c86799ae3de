"""Handles one element of a page: sees that it can be handled, and clicks it."""

from __future__ import annotations

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.operations.refusing import not_done
from protocol.faults import Code, FaultError, fault

CLICK_MS = 4_000.0
"""What the browser may take to see that an element stands still and is hit."""

_CLEAR_S = 2.0
"""How long something that is in the way may take to go."""

_POLL_S = 0.1
_GONE = ("not attached", "not connected")
_ELSEWHERE = ("context was destroyed", "Cannot find context", "navigat")

_FIELD = "element_id"


class Reach(Struct, frozen=True):
    """Whether an element would receive a click, or what of it instead: its label, or what covers it."""

    state: str
    by: str


async def reach(element: ElementHandle) -> ElementHandle:
    """Bring an element into the window, and give what is to be clicked for it: itself, or its label.

    Raises:
        FaultError: EXECUTION_ERROR with what is in the way; ELEMENT_NOT_FOUND.
    """
    found = await looked(element)
    with anyio.move_on_after(_CLEAR_S):
        while found.state in ("covered", "hidden", "disabled", "outside"):
            await anyio.sleep(_POLL_S)
            found = await looked(element)
    if found.state == "label":
        label = (await element.evaluate_handle("element => element.labels[0]")).as_element()
        return label or element
    if found.state != "clear":
        raise in_the_way(found)
    return element


async def looked(element: ElementHandle) -> Reach:
    """See how an element stands."""
    return msgspec.convert(await element.evaluate(script("reach")), Reach)


def in_the_way(found: Reach) -> FaultError:
    """Say why an element cannot be clicked."""
    match found.state:
        case "covered":
            message = f"The element is covered by {found.by}: put that away first, or scroll."
        case "disabled":
            message = "The element is disabled."
        case "hidden":
            message = "The element is not shown."
        case "gone":
            return FaultError(
                fault(Code.ELEMENT_NOT_FOUND, "The page has drawn itself again without the element.", field=_FIELD)
            )
        case _:
            message = "The element does not come into the window, or does not stand still."
    return not_done(message, field=_FIELD)


async def click(element: ElementHandle) -> str:
    """Click an element where it is hit."""
    target = await reach(element)
    try:
        await target.click(timeout=CLICK_MS, no_wait_after=True)
    except Error as error:
        raise await why(element, error) from error
    return ""


async def hover(element: ElementHandle) -> str:
    """Move the pointer over an element."""
    target = await reach(element)
    try:
        await target.hover(timeout=CLICK_MS)
    except Error as error:
        raise await why(element, error) from error
    return ""


async def why(element: ElementHandle, error: Error) -> FaultError | Error:
    """Say why the browser did not do something to an element; what is no matter of the element is given back."""
    if is_gone(error) or is_elsewhere(error):
        return error
    with anyio.move_on_after(_POLL_S * 5):
        found = await looked(element)
        return in_the_way(found)
    return error


def is_gone(error: Error) -> bool:
    """Whether the element is no longer in the page."""
    return any(sign in error.message for sign in _GONE)


def is_elsewhere(error: Error) -> bool:
    """Whether the page went elsewhere meanwhile."""
    return any(sign in error.message for sign in _ELSEWHERE)
