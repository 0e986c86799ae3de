"""Clicks, hovers and presses keys; runs every action, waits until the page is stable, and says what changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType

import anyio
import msgspec
from msgspec import Struct
from playwright.async_api import ElementHandle, Error

from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.operations import pointer
from actors.fetchers.playwright.operations.context import OperationContext, TabContext
from actors.fetchers.playwright.stability import FOR_BRISK_STEP, FOR_STEP
from actors.fetchers.playwright.tab import UNSETTLED
from protocol.browsers.operations import Click, Hover, PressKey
from protocol.browsers.results import Acted
from protocol.faults import FaultError

_TRIES = 3
"""How often the page may draw an element again during an action."""

_BREATH_S = 0.1
"""How long after an input a navigation that it causes may begin."""

_BRISK_BREATH_S = 0.03

_LEAVING_S = 15.0
"""How long a page that navigates waits for the next document."""

_DOWNLOAD_S = 3.0
"""How long the site may take until it begins to send a file that was asked for."""

_NAMED = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "ContextMenu"),
    *(f"F{number}" for number in range(1, 13)),
)
_OTHER_NAMES = {
    "return": "Enter", "esc": "Escape", "del": "Delete", "ins": "Insert", "space": "Space", "spacebar": "Space",
    " ": "Space", "up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
    "pgup": "PageUp", "pgdn": "PageDown", "page up": "PageUp", "page down": "PageDown",
}  # fmt: skip
_KEYS: Mapping[str, str] = MappingProxyType({**{name.lower(): name for name in _NAMED}, **_OTHER_NAMES})

_CLOSES = "it closes the tab or the browser; close_tab and close_session do that"
_OPENS = "it opens a tab or a window; create_tab does that"
_LEAVES = "it leaves the page or loads it again; navigate and go_back do that"
_TOOLS = "it opens something of the browser that nobody sees"
_CLIPBOARD = "the clipboard is everybody's; set_value and type_text put text into a field"

_WITH_COMMAND = {
    **dict.fromkeys(("w", "q", "F4"), _CLOSES),
    **dict.fromkeys(("t", "n"), _OPENS),
    **dict.fromkeys(("r", "l", "F5", "Tab", "PageUp", "PageDown", "o", "[", "]", *"123456789"), _LEAVES),
    **dict.fromkeys(("p", "u", "h", "j", "i", "+", "-", "=", "0"), _TOOLS),
    **dict.fromkeys(("c", "x", "v", "Insert"), _CLIPBOARD),
}
_WITH_ALT = {"F4": _CLOSES, **dict.fromkeys(("ArrowLeft", "ArrowRight", "Home", "d"), _LEAVES)}
_WITH_SHIFT: dict[str, str] = {"Insert": _CLIPBOARD, "Delete": _CLIPBOARD}
_ALONE = {"F5": _LEAVES, "F6": _TOOLS, "F11": _TOOLS, "F12": _TOOLS}

ElementAction = Callable[[ElementHandle], Awaitable[str]]
"""Acts on an element; returns what there is to say of it."""


class Since(Struct, frozen=True):
    """What there was in a session before an action: tabs with a higher number than `last_tab` are new."""

    last_tab: int
    downloads: int

    @classmethod
    def now(cls, op: OperationContext) -> Since:
        """Return what there is now."""
        return cls(op.session.record.last_tab, op.session.downloads)


async def click(op: TabContext, do: Click) -> Acted:
    """Click an element."""
    return await on_element(op, do.element_id, pointer.click)


async def hover(op: TabContext, do: Hover) -> Acted:
    """Move the pointer over an element."""
    return await on_element(op, do.element_id, pointer.hover)


async def press_key(op: TabContext, do: PressKey) -> Acted:
    """Press a key."""
    combination = key_combination(do.key, do.modifiers)

    async def press() -> str:
        async with view.unchanged(op.tab, None, op.expects):
            await op.tab.page.keyboard.press(combination)
        return ""

    return await act(op, press)


async def on_element(op: TabContext, element_id: str, action: ElementAction) -> Acted:
    """Run an action on an element, which is located again where the page draws it anew meanwhile.

    Where somebody has decided about the element, it is held to what it was then.
    """

    async def run() -> str:
        for _ in range(_TRIES - 1):
            try:
                return await once()
            except Error as error:
                if not faults.is_detached(error):
                    raise
        return await once()

    async def once() -> str:
        async with view.unchanged(op.tab, element_id, op.expects):
            return await action(await view.locate(op.tab, element_id))

    return await act(op, run)


async def act(op: TabContext, action: Callable[[], Awaitable[str]]) -> Acted:
    """Run an action on the page, wait until it is stable, and say what changed.

    Raises:
        FaultError: what it failed with; EXECUTION_ERROR where a dialog opened before it was begun.
    """
    since, outcome, before = Since.now(op), "", None
    with op.open_tab.dialogs.interrupting():
        op.open_tab.before = before = await view.outline(op.tab)
        try:
            outcome = await action()
        except Error as error:
            outcome = _outcome_of(op, error)
        except msgspec.ValidationError as error:
            raise faults.not_done("The page meddles with what it is asked.") from error
    if before is None:
        op.open_tab.check_no_dialog()
    return await settle(op, since, outcome, before)


async def settle(op: TabContext, since: Since, outcome: str = "", before: view.PageOutline | None = None) -> Acted:
    """Wait until the page is stable, or a dialog waits, and say what is different from `before`.

    `outcome` is what there is to say first.
    """
    changed = [one for one in (view.healing(op.tab), outcome) if one]
    with op.open_tab.dialogs.interrupting():
        await anyio.sleep(_BRISK_BREATH_S if op.brisk else _BREATH_S)
        if not op.tab.page.is_closed():
            changed += await _wait_until_stable(op)
            await op.open_tab.windows()
        if before is not None and not op.brisk and not op.tab.shows_error and not op.tab.page.is_closed():
            changed += await _differences(op, since, before)
    opened = [one.tab for one in op.session.tabs if one.tab > since.last_tab]
    beside = [f"Tab {opened[0]} was opened; switch_tab goes there."] if opened else []
    beside += _downloads(op, since)
    changed = [one for one in changed if not beside or one != view.NOTHING] + beside
    dialog = op.open_tab.dialogs.pending
    if dialog is not None:
        changed.append("A dialog waits for an answer; handle_dialog gives it.")
    if op.tab.page.is_closed() and not outcome:
        changed.append("The tab closed itself.")
    return Acted(
        success=True,
        tab_id=op.number,
        page=None if op.tab.page.is_closed() else await op.page(),
        new_tab_created=opened[0] if opened else None,
        dialog=dialog,
        changed=" ".join(sentence for sentence in changed if sentence),
    )


async def _differences(op: TabContext, since: Since, before: view.PageOutline) -> list[str]:
    """Say what is different, after a file that was asked for has begun to arrive."""
    after = await view.outline(op.tab)
    within_s = min(_DOWNLOAD_S, op.left_ms / 1000)
    if not view.asks_for_file(before, after) or await op.session.download_begins(since.downloads, within_s):
        return [view.difference(before, after)]
    waited = "A download was asked for, which has not begun yet; get_downloads tells when it is there."
    return [one for one in (view.difference(before, after), waited) if one != view.NOTHING]


def _downloads(op: TabContext, since: Since) -> list[str]:
    names = ", ".join(map(view.quoted, op.session.begun_since(since.downloads)))
    if names:
        return [f"A download has begun: {names}; get_downloads tells when it is there."]
    return ["A file is being downloaded; get_downloads tells when it is there."] if op.session.downloading else []


async def _wait_until_stable(op: TabContext) -> list[str]:
    """Wait, longer during a navigation; returns what there is to say of it."""
    until_s, bounds = op.until(_LEAVING_S), FOR_STEP
    if op.brisk and not op.tab.recorder.live:
        bounds = FOR_BRISK_STEP
    limit = await op.tab.settle(bounds, until_s)
    while limit == UNSETTLED and op.tab.recorder.leaving:
        limit = await op.tab.settle(bounds, until_s)
    if op.tab.recorder.leaving:
        return ["The next page has not come yet."]
    if op.tab.shows_error:
        return [_load_failure(op)]
    return ["The page still moves."] if limit else []


def _load_failure(op: TabContext) -> str:
    try:
        op.tab.check()
    except FaultError as error:
        return f"It led to a page that cannot be had ({error.fault.code.value}). go_back leads back."
    return ""


def _outcome_of(op: TabContext, error: Error) -> str:
    """Interpret an error of the browser's: an action may navigate, or close its own tab."""
    closed = op.tab.page.is_closed() and not op.tab.recorder.crashed and op.session.is_alive
    if closed:
        return "The tab closed itself."
    if faults.is_navigated(error):
        return ""
    if faults.is_crash(error):
        raise op.tab.fault(error) from error
    if faults.is_detached(error):
        message = "The page draws the element again and again: wait until it is stable."
        raise faults.not_done(message, field="element_id")
    raise faults.not_done("The browser did not do it.") from error


# -- keys --------------------------------------------------------------------------------------------------------------


def key_combination(key: str, modifiers: Sequence[str]) -> str:
    """Return the key with its modifiers in Playwright's notation.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for an unknown key, and for one that is refused, with the reason.
    """
    name = key if len(key) == 1 and key.isprintable() and key != " " else _KEYS.get(key.strip().lower() or " ")
    if name is None:
        known = ", ".join((*_NAMED, "Space"))
        raise faults.invalid("key", f"there is no such key here; there are single characters and {known}")
    unique = tuple(dict.fromkeys(modifiers))
    combination = "+".join((*unique, name))
    reason = _refusal(name.lower() if len(name) == 1 else name, unique)
    if reason:
        raise faults.invalid("key", f"{combination} is refused: {reason}")
    return combination


def _refusal(name: str, modifiers: Sequence[str]) -> str:
    tables = [_ALONE]
    if "Control" in modifiers or "Meta" in modifiers:
        tables.append(_WITH_COMMAND)
    if "Alt" in modifiers:
        tables.append(_WITH_ALT)
    if "Shift" in modifiers:
        tables.append(_WITH_SHIFT)
    return next((table[name] for table in tables if name in table), "")
