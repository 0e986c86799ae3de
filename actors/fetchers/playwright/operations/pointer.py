"""Points at one element of a page: brings it into view, clicks or hovers it, and says what is in the way."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, Literal, NamedTuple

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error, Position

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.devtools import script
from protocol.faults import Code, FaultError, fault

CLICK_MS = 4_000.0
"""How long Playwright may wait until an element is stable and receives the click."""

_CLEAR_S = 2.0
"""How long something that is in the way may take to disappear."""

_POLL_S = 0.1
_HOVERED_POLLS = 6
"""How often it is looked at whether a page has drawn what the pointer is over."""

_REACHED: Final = frozenset({"clear", "label", "drawn"})
_FIELD = "element_id"

COVERED: Final = "The element is covered by"
DISABLED: Final = "The element is disabled"
HIDDEN: Final = "The element is not shown"
MOVING: Final = "The element does not come into the window"
"""What the messages of obstructions begin with."""


class Reachability(Struct, frozen=True):
    """Whether an element would receive a click, or what else does: its label, what is drawn for it, or what covers it.

    `at` is the point that is free where the middle is not, in CSS pixels from the corner of what is to be clicked.
    `clobbered` says that a form around it hides properties that Playwright would ask it for.
    """

    state: str
    by: str
    at: dict[Literal["x", "y"], float] | None = None
    clobbered: bool = False


class PointerTarget(NamedTuple):
    """What is pointed at for an element, and where in it; None is its middle.

    `force` leaves out the checks of Playwright's own, which go in circles in a form that hides its properties, and have
    no end where the element never stands still.
    """

    element: ElementHandle
    position: Position | None = None
    force: bool = False


async def clickable(element: ElementHandle) -> PointerTarget:
    """Scroll an element into view, and return what is to be clicked for it: itself, its label, or what is drawn for it.

    Raises:
        FaultError: EXECUTION_ERROR with what is in the way; ELEMENT_NOT_FOUND.
    """
    reach = await reachability(element)
    with anyio.move_on_after(_CLEAR_S):
        while reach.state in ("covered", "hidden", "disabled", "outside"):
            await anyio.sleep(_POLL_S)
            reach = await reachability(element)
    if reach.state not in _REACHED:
        raise obstruction(reach)
    position = None if reach.at is None else Position(x=reach.at["x"], y=reach.at["y"])
    if reach.state == "clear":
        return PointerTarget(element, position, reach.clobbered)
    instead = (await element.evaluate_handle(f"element => ({script('reach')})(element, true)")).as_element()
    return PointerTarget(instead or element, position, reach.clobbered)


async def reachability(element: ElementHandle) -> Reachability:
    """Check whether an element can be clicked now."""
    return msgspec.convert(await element.evaluate(script("reach")), Reachability)


def obstruction(reach: Reachability) -> FaultError:
    """Build the fault of an element that cannot be clicked."""
    match reach.state:
        case "covered":
            message = f"{COVERED} {reach.by}: put that away first, or scroll."
        case "disabled":
            message = f"{DISABLED}."
        case "hidden":
            message = f"{HIDDEN}."
        case "gone":
            return FaultError(
                fault(Code.ELEMENT_NOT_FOUND, "The page has drawn itself again without the element.", field=_FIELD)
            )
        case _:
            message = f"{MOVING}, or does not stand still."
    return faults.not_done(message, field=_FIELD)


async def click(element: ElementHandle, *, times: int = 1, right: bool = False) -> str:
    """Click an element so many times, with the left button or the right one."""
    target = await clickable(element)
    target = await _pointed_at(element, target)
    button: Literal["left", "right"] = "right" if right else "left"
    try:
        await target.element.click(
            timeout=CLICK_MS,
            no_wait_after=True,
            click_count=times,
            button=button,
            position=target.position,
            force=target.force,
        )
    except Error as error:
        raise await explained(element, error) from error
    return ""


async def _pointed_at(element: ElementHandle, target: PointerTarget) -> PointerTarget:
    """Move the pointer to what is to be clicked, and wait until it is there: a page may draw it anew for a pointer."""
    with suppress(Error):
        target = await _hovered(target)
    for _ in range(_HOVERED_POLLS):
        if (await reachability(element)).state in _REACHED:
            break
        await anyio.sleep(_POLL_S)
    return target


async def hover(element: ElementHandle) -> str:
    """Move the pointer over an element."""
    target = await clickable(element)
    try:
        await _hovered(target)
    except Error as error:
        raise await explained(element, error) from error
    return ""


async def _hovered(target: PointerTarget) -> PointerTarget:
    """Move the pointer to a target; one that never stands still, as what pulses, is met where it is."""
    try:
        await target.element.hover(timeout=CLICK_MS, position=target.position, force=target.force)
    except Error as error:
        if target.force or not faults.is_restless(error):
            raise
        return await _hovered(target._replace(force=True))
    return target


async def explained(element: ElementHandle, error: Error) -> FaultError | Error:
    """Explain an error by the state of the element; returns the error itself where the element does not."""
    if faults.is_detached(error) or faults.is_navigated(error):
        return error
    with anyio.move_on_after(_POLL_S * 5):
        return obstruction(await reachability(element))
    return error
