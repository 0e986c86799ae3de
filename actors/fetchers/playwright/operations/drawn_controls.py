"""Sets the controls that a page draws itself: chooses from its lists, moves its sliders."""

from __future__ import annotations

from typing import NamedTuple

import anyio
import msgspec
from msgspec import Struct, field
from playwright.async_api import ElementHandle, JSHandle, Page

from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.operations import keyboard, pointer
from protocol.faults import FaultError

_FIELD = "element_id"
_SCROLLING_S = 8.0
"""How long a list may be scrolled for an option."""

_OPTIONS_S = 2.0
"""How long a list that a page draws itself may take to open."""

_EDITABLE = """(element, opened) => {
  const KINDS = ['text', 'search', 'email', 'tel', 'url', 'textarea'];
  const isField = (one) => /^(?:input|textarea)$/.test(one?.localName ?? '') && KINDS.includes(one.type);
  const others = opened ? [...element.querySelectorAll('input, textarea'), element.getRootNode().activeElement] : [];
  return [element, ...others].find((one) => isField(one) && !one.readOnly && !one.disabled) ?? null;
}"""
"""The field that words are typed into, for a list to offer what they begin: itself, or once it is open another."""

_POLL_S = 0.1
_STEP_S = 0.5
"""How long a slider may take to show a step."""

_MANY_STEPS = 500
_MAX_LISTED = 20
_CHOSEN = "It was chosen already."
_SLIDER_VALUE = """element => {
  const value = element.getAttribute('aria-valuenow');
  return value === null || value.trim() === '' || isNaN(value) ? null : Number(value);
}"""


class _OfferedOptions(Struct, frozen=True):
    """The options of a list that a page draws itself, by `scripts/offered.js`."""

    has_match: bool = field(name="found")
    was_chosen: bool = field(name="chosen")
    has_several: bool = field(name="several")
    is_disabled: bool = field(name="off")
    is_open: bool = field(name="open")
    options: tuple[str, ...]


async def pick(page: Page, element: ElementHandle, wanted: str) -> str:
    """Open a list that the page draws itself, and click the option; where words are typed into it, by typing them."""
    listed = _DrawnList(element, wanted, await element.evaluate_handle(script("offered"), _request(wanted, "shown")))
    offered = await listed.offered()
    if not offered.has_match and not offered.is_open:
        await pointer.click(element)
    offered = await listed.offered_soon()
    proposed: tuple[str, ...] = ()
    is_open = offered.is_open or bool(offered.options)
    typed = None if offered.has_match else (await element.evaluate_handle(_EDITABLE, is_open)).as_element()
    if typed is not None:
        before, offered = offered, await _typed_for(page, listed, typed)
        proposed = tuple(one for one in offered.options if one not in before.options)
    if not offered.has_match and offered.options:
        offered = await listed.offered_further()
    if not offered.options:
        raise faults.not_done("The element is no list, and opens none.", field=_FIELD)
    if not offered.has_match:
        raise no_option(offered.options, proposed)
    if offered.is_disabled:
        raise faults.not_done("The option is disabled.", field="value")
    if (option := await listed.option()) is None:
        raise pointer.obstruction(pointer.Reachability("outside", ""))
    if offered.was_chosen and offered.has_several:
        return _CHOSEN
    await pointer.click(option)
    return await _kept(listed) if offered.was_chosen else ""


async def _typed_for(page: Page, listed: _DrawnList, field: ElementHandle) -> _OfferedOptions:
    """Type what is wanted, for the list to offer it; where it does not, the former words come back."""
    before, former = await listed.offered(), str(await field.evaluate("field => field.value"))
    await keyboard.type_into(page, field, listed.wanted, lines=False)
    offered = await listed.offered_soon()
    if not offered.has_match:
        await keyboard.type_into(page, field, former, lines=False)
    return offered if offered.options else before


async def _kept(listed: _DrawnList) -> str:
    """Choose an option again that was chosen already, where the click has taken the choice back."""
    await anyio.sleep(_POLL_S)
    offered = await listed.offered()
    if offered.has_match and not offered.was_chosen and (option := await listed.option()) is not None:
        await pointer.click(option)
    return _CHOSEN


class _DrawnList(NamedTuple):
    """A list that a page draws itself, the option that is wanted of it, and what was shown before it was opened."""

    element: ElementHandle
    wanted: str
    shown: JSHandle

    async def offered(self) -> _OfferedOptions:
        """Return what it offers now."""
        return msgspec.convert(await self._call("offered"), _OfferedOptions)

    async def offered_soon(self) -> _OfferedOptions:
        """Wait until it offers the option, as long as a page may take to draw it."""
        offered = await self.offered()
        with anyio.move_on_after(_OPTIONS_S):
            while not (offered := await self.offered()).has_match:  # noqa: ASYNC110 - as the page draws it
                await anyio.sleep(_POLL_S)
        return offered

    async def offered_further(self) -> _OfferedOptions:
        """Scroll through what it offers until the option is there: a long list may draw only a window of it."""
        offered, moved = await self.offered(), await self._call("first")
        first = offered
        with anyio.move_on_after(_SCROLLING_S):
            while moved:
                await anyio.sleep(_POLL_S)
                if (offered := await self.offered()).has_match:
                    return offered
                moved = await self._call("more")
        return offered if offered.has_match else first

    async def option(self) -> ElementHandle | None:
        """Return the option that is wanted, once the page has ceased to draw it again."""
        with anyio.move_on_after(_OPTIONS_S):
            while True:
                handle = await self.element.evaluate_handle(
                    script("offered"), _request(self.wanted, "option", self.shown)
                )
                option = handle.as_element()
                await anyio.sleep(_POLL_S)
                if option is not None and await option.evaluate("option => option.isConnected"):
                    return option
        return None

    async def _call(self, ask: str) -> object:
        return await self.element.evaluate(script("offered"), _request(self.wanted, ask, self.shown))


def _request(wanted: str, ask: str, shown: JSHandle | None = None) -> dict[str, object]:
    return {"wanted": wanted, "opened": shown or [], "ask": ask}


async def slide(element: ElementHandle, value: str) -> str:
    """Move a slider that a page draws itself to a value, by its keys; its first step tells how far one goes.

    Raises:
        FaultError: EXECUTION_ERROR where it does not move, or the value is too many steps away.
    """
    try:
        goal = float(value)
    except ValueError:
        raise faults.not_done("The slider takes a number.", field="value") from None
    start = await _slider_value(element)
    if start is None:
        raise faults.not_done("The slider does not say where it stands.", field=_FIELD)
    key, other = ("ArrowRight", "ArrowLeft") if goal > start else ("ArrowLeft", "ArrowRight")
    if goal == start or not (step := await _stepped(element, key) - start):
        return _slid(goal, start)
    steps = round((goal - start) / step)
    if abs(steps) > _MANY_STEPS:
        await _stepped(element, other)
        raise faults.not_done(
            f"It is {abs(steps)} steps to that value: click where it stands on the slider.", field="value"
        )
    for _ in range(abs(steps - 1)):
        await element.press(key if steps > 1 else other)
    return _slid(goal, await _rested(element))


async def _stepped(element: ElementHandle, key: str) -> float:
    """Press a key on a slider, and return its value as soon as that is another."""
    before = await _slider_value(element)
    await element.press(key)
    with anyio.move_on_after(_STEP_S):
        while await _slider_value(element) == before:  # noqa: ASYNC110 - as the page draws it
            await anyio.sleep(_POLL_S / 2)
    return await _rested(element)


async def _rested(element: ElementHandle) -> float:
    """Return the value of a slider that has come to rest."""
    before, value = None, await _slider_value(element)
    while value != before:
        await anyio.sleep(_POLL_S)
        before, value = value, await _slider_value(element)
    return value or 0.0


async def _slider_value(element: ElementHandle) -> float | None:
    value = await element.evaluate(_SLIDER_VALUE)
    return float(value) if isinstance(value, int | float) else None


def _slid(goal: float, value: float) -> str:
    return "" if value == goal else f"The slider stands at {value:g} now, the nearest that it takes."


def no_option(options: tuple[str, ...], proposed: tuple[str, ...] = ()) -> FaultError:
    """Build the fault of a list without the option that is wanted; `proposed` is what it offers for those words."""
    has = f"it has {_listed(options)}" if options else "it has none"
    if proposed:
        has += f"; once they are typed it offers {_listed(proposed)}, which type_text with submit takes"
    return faults.not_done(f"The list has no such option; {has}.", field="value")


def _listed(options: tuple[str, ...]) -> str:
    more = ", and more" if len(options) > _MAX_LISTED else ""
    return ", ".join(view.quoted(option) for option in options[:_MAX_LISTED]) + more
