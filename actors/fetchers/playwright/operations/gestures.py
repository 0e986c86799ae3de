"""What else is done to elements and at points: other clicks, drags, selections, scrolling, switching, reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error

from actors import redact
from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.operations import pointer
from actors.fetchers.playwright.operations.acting import act, on_element
from actors.fetchers.playwright.operations.context import TabContext
from protocol.browsers.gestures import (
    AwaitElement,
    Blur,
    ClickAt,
    DoubleClick,
    Drag,
    FindText,
    Focus,
    ReadElement,
    ReadRows,
    RightClick,
    ScrollElement,
    SelectText,
    SetChecked,
    TypeKeys,
)
from protocol.browsers.operations import DescribeField
from protocol.browsers.results import Acted, Done, ElementRead, RowsRead
from protocol.faults import Code, FaultError, fault

DRAG_STEPS: Final = 12
"""Moves of the mouse on its way: what is dragged follows them, and pages look at where they are."""

_KEY_BY_KEY: Final = 200
_POLL_S: Final = 0.1
_NUDGE_PX: Final = 3
_STEP_S: Final = 0.008
_HOLD_S: Final = 0.05
_RESERVE_MS: Final = 1_500
"""What is left of the time for the way back of a list, and for the answer."""

_FIELD: Final = "element_id"
_BLUR = "element => element.blur()"
_HAS_FOCUS = "element => element.getRootNode().activeElement === element"

T = TypeVar("T")
Point = tuple[float, float]


class _Scrolled(Struct, frozen=True):
    """How far something scrolled, and where it is now, in pixels."""

    by: float
    top: float
    window: float
    height: float


class _Carried(Struct, frozen=True):
    """Whether it was done."""

    done: bool


class _Switch(Struct, frozen=True):
    """Whether it is on; None for what is neither on nor off."""

    on: bool | None


async def double_click(op: TabContext, do: DoubleClick) -> Acted:
    """Click an element twice."""
    return await on_element(op, do.element_id, lambda element: pointer.click(element, times=2))


async def right_click(op: TabContext, do: RightClick) -> Acted:
    """Click an element with the right button."""
    return await on_element(op, do.element_id, lambda element: pointer.click(element, right=True))


async def click_at(op: TabContext, do: ClickAt) -> Acted:
    """Click a point of the window; where somebody has decided about what lies there, it is held to that."""
    point = await _in_window(op, (do.x, do.y), "x")

    async def click() -> str:
        async with view.unchanged(op.tab, None, op.expects, point):
            await op.tab.page.mouse.click(*point)
        return ""

    return await act(op, click)


async def drag(op: TabContext, do: Drag) -> Acted:
    """Drag what is at one place to another, by moves of the mouse.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where a place is missing; EXECUTION_ERROR where both are not in the
            window together.
    """
    begin = None if do.x is None or do.y is None else (do.x, do.y)
    end = None if do.to_x is None or do.to_y is None else (do.to_x, do.to_y)
    if do.element_id is None and begin is None:
        raise faults.invalid("element_id", "a drag begins at an element, or at x and y")
    if do.to_element_id is None and end is None:
        raise faults.invalid("to_element_id", "a drag ends at an element, or at toX and toY")

    async def move() -> str:
        target = None if do.to_element_id is None else await view.locate(op.tab, do.to_element_id)
        source = None if do.element_id is None else await view.locate(op.tab, do.element_id)
        if target is not None:
            await pointer.reachability(target)
        held = None if source is None else (await pointer.clickable(source)).element
        start = begin if held is None else await _centre(held)
        goal = end if target is None else await _centre(target)
        if start is None or goal is None:
            raise faults.not_done("One of the places is not shown.", field=_FIELD)
        start, goal = await _in_window(op, start, _FIELD), await _in_window(op, goal, "to_element_id")
        async with view.unchanged(op.tab, do.element_id, op.expects, begin):
            await _drag(op, start, goal)
        return ""

    return await act(op, move)


async def focus(op: TabContext, do: Focus) -> Acted:
    """Move the focus to an element."""

    async def focused(element: ElementHandle) -> str:
        await element.focus()
        return "" if await element.evaluate(_HAS_FOCUS) else "It takes no focus."

    return await on_element(op, do.element_id, focused)


async def blur(op: TabContext, do: Blur) -> Acted:
    """Take the focus from an element."""

    async def blurred(element: ElementHandle) -> str:
        await element.evaluate(_BLUR)
        return ""

    return await on_element(op, do.element_id, blurred)


async def set_checked(op: TabContext, do: SetChecked) -> Acted:
    """Click what is on or off, where it stands otherwise than it should."""

    async def switched(element: ElementHandle) -> str:
        before = (await _call(element, "checked", None, _Switch)).on
        if before == do.checked:
            return f"It was {'on' if before else 'off'} already."
        await pointer.click(element)
        with anyio.move_on_after(_POLL_S * 5):
            while (await _call(element, "checked", None, _Switch)).on == before:  # noqa: ASYNC110 - as the page draws
                await anyio.sleep(_POLL_S / 2)
            return ""
        if before is None:
            return "It does not say whether it is on."
        raise faults.not_done("The page did not let it change.", field=_FIELD)

    return await on_element(op, do.element_id, switched)


async def select_text(op: TabContext, do: SelectText) -> Acted:
    """Select the text of an element, or words of it."""

    async def selected(element: ElementHandle) -> str:
        if not (await _call(element, "select", do.text, _Carried)).done:
            raise faults.not_done("These words do not stand in the element.", field="text")
        return ""

    return await on_element(op, do.element_id, selected)


async def type_keys(op: TabContext, do: TypeKeys) -> Acted:
    """Type into what has the focus; a line break submits nothing."""
    text = do.text.replace("\r\n", "\n")

    async def typed() -> str:
        keyboard = op.tab.page.keyboard
        async with view.unchanged(op.tab, None, op.expects):
            if len(text) > _KEY_BY_KEY:
                await keyboard.insert_text(text[:-_KEY_BY_KEY])
            for index, line in enumerate(text[-_KEY_BY_KEY:].split("\n")):
                if index:
                    await keyboard.press("Shift+Enter")
                if line:
                    await keyboard.type(line)
        return ""

    return await act(op, typed)


async def scroll_element(op: TabContext, do: ScrollElement) -> Acted:
    """Scroll an element, or what is around it."""

    async def scrolled(element: ElementHandle) -> str:
        moved = await _call(element, "scroll", [do.direction, do.pages], _Scrolled)
        if not moved.by:
            return f"It scrolls no further {do.direction}."
        left = max(moved.height - moved.window - moved.top, 0)
        rest = "the end is reached" if left < 1 else f"{left:.0f} pixels are left"
        return f"Scrolled {do.direction} by {abs(moved.by):.0f} pixels; {rest}."

    return await on_element(op, do.element_id, scrolled)


async def find_text(op: TabContext, do: FindText) -> Acted:
    """Scroll to where words stand, in the page or in a frame of it."""

    async def found() -> str:
        for frame in op.tab.page.frames:
            body = await frame.query_selector("body")
            if body is not None and (await _call(body, "find", do.text, _Carried)).done:
                return "The words are in the window now."
        raise FaultError(fault(Code.ELEMENT_NOT_FOUND, "These words stand nowhere on the page.", field="text"))

    return await act(op, found)


async def wait_for_element(op: TabContext, do: AwaitElement) -> Acted:
    """Wait until an element is shown.

    Raises:
        FaultError: ELEMENT_NOT_FOUND where it is not in that time.
    """
    with anyio.move_on_after(min(do.milliseconds, op.left_ms) / 1000):
        while True:
            try:
                element = await view.locate(op.tab, do.element_id)
                if (await _call(element, "read", None, ElementRead)).visible:
                    return Acted(success=True, tab_id=op.number, page=await op.page())
            except FaultError as error:
                if error.fault.code is not Code.ELEMENT_NOT_FOUND:
                    raise
            except Error as error:
                if faults.is_crash(error):
                    raise op.tab.fault(error) from error
            await anyio.sleep(_POLL_S)
    message = f"After {do.milliseconds} ms the element is not shown."
    raise FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field=_FIELD))


async def read_element(op: TabContext, do: ReadElement) -> ElementRead:
    """Read an element; of a field that holds a secret nothing but its state."""
    element = await view.locate(op.tab, do.element_id)
    facts = (await view.describe_field(op.tab, DescribeField(element_id=do.element_id))).facts
    try:
        read = await _call(element, "read", do.attribute, ElementRead)
    except Error as error:
        if faults.is_crash(error):
            raise op.tab.fault(error) from error
        raise faults.not_done("The page draws the element again and again: wait until it is stable.") from error
    if facts.secret or facts.type == "password":
        return msgspec.structs.replace(read, tab_id=op.number, text="", value="", attribute=None)
    attribute = None if read.attribute is None else redact.text(read.attribute)
    return msgspec.structs.replace(read, tab_id=op.number, attribute=attribute)


async def read_rows(op: TabContext, do: ReadRows) -> RowsRead:
    """Read the rows of a list by scrolling through it."""
    milliseconds = max(1, min(do.milliseconds, int(op.left_ms) - _RESERVE_MS))
    return await view.read_rows(op.tab, msgspec.structs.replace(do, milliseconds=milliseconds))


ACTING: Final[Mapping[type, Callable[[TabContext, Any], Awaitable[Done]]]] = MappingProxyType(
    {
        DoubleClick: double_click,
        RightClick: right_click,
        ClickAt: click_at,
        Drag: drag,
        ScrollElement: scroll_element,
        SelectText: select_text,
        Focus: focus,
        Blur: blur,
        SetChecked: set_checked,
        TypeKeys: type_keys,
        FindText: find_text,
    }
)
READING: Final[Mapping[type, Callable[[TabContext, Any], Awaitable[Done]]]] = MappingProxyType(
    {
        AwaitElement: wait_for_element,
        ReadElement: read_element,
        ReadRows: read_rows,
    }
)


async def _call(element: ElementHandle, what: str, wanted: object, kind: type[T]) -> T:
    return msgspec.convert(await element.evaluate(script("element"), [what, wanted]), kind)


async def _drag(op: TabContext, start: Point, goal: Point) -> None:
    """Press at one point, move to the other, and let go there, whatever happens on the way."""
    mouse = op.tab.page.mouse
    await mouse.move(*start)
    await mouse.down()
    try:
        await mouse.move(start[0] + _sign(goal[0] - start[0]) * 4, start[1] + _sign(goal[1] - start[1]) * 4, steps=2)
        await anyio.sleep(_HOLD_S)
        before = goal[0] - _sign(goal[0] - start[0]) * _NUDGE_PX, goal[1] - (_sign(goal[1] - start[1]) or 1) * _NUDGE_PX
        for step in range(1, DRAG_STEPS + 1):
            await mouse.move(*_between(start, before, step / DRAG_STEPS))
            await anyio.sleep(_STEP_S)
        await anyio.sleep(_HOLD_S)
        await mouse.move(*goal)  # lists make room by the way of the last move, both across and down
        await anyio.sleep(_HOLD_S)
        await mouse.move(*goal)
    finally:
        with anyio.move_on_after(1, shield=True):
            await mouse.up()


def _between(start: Point, goal: Point, share: float) -> Point:
    return start[0] + (goal[0] - start[0]) * share, start[1] + (goal[1] - start[1]) * share


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


async def _centre(element: ElementHandle) -> Point | None:
    """Return the middle of an element in the window of its tab, or None where it is not shown."""
    box = await element.bounding_box()
    if box is None:
        return None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def _in_window(op: TabContext, point: Point, name: str) -> Point:
    size = op.tab.page.viewport_size
    if size is not None and not (0 <= point[0] < size["width"] and 0 <= point[1] < size["height"]):
        message = (
            f"The point {point[0]:.0f}, {point[1]:.0f} is not in the window of {size['width']} by {size['height']}."
        )
        raise faults.not_done(message, field=name)
    return point
