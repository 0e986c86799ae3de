"""Says by which tool an action is performed in a browser session of ours; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from protocol.acting.actions import ACTIONS, ActionCall, ToolKind
from protocol.acting.tree import PageTree
from protocol.packets import ToolCall
from protocol.tools.registry import TOOLS
from protocol.tools.tool import Surface

SURFACE: Final = Surface.INTERACT
"""Whose names of tools are used."""

PAGE_SHARE: Final = 0.85
"""What of the window's height one page of scrolling is."""

_HEIGHT: Final = 800.0
"""The height of a window whose tree does not say it, in CSS pixels."""

_MAX_WAIT_S: Final = 30.0
_LISTS: Final = frozenset({"sel"})
_SWITCHES: Final = frozenset({"chk", "radio", "switch"})
_OFF: Final = frozenset({"", "false", "off", "no", "0"})

Arguments = dict[str, Any]


def tool_call_of(action: ActionCall, page: PageTree) -> ToolCall:
    """Return the call of the tool that performs an action on a page.

    Raises:
        ValueError: no tool does: the server itself performs it, or the page has nothing that it could be done to.
    """
    kind = ACTIONS.get(action.name)
    if kind is None or kind.kind is ToolKind.SERVER:
        msg = f"{action.name} is performed by no tool of a browser"
        raise ValueError(msg)
    tool, arguments = _CALLS[action.name](dict(action.arguments), page)
    return ToolCall(name=TOOLS[tool].name_on(SURFACE), arguments=arguments)


_Made = tuple[str, Arguments]
_Builder = Callable[[Arguments, PageTree], _Made]


def _id(page: PageTree, node: object) -> str:
    """Return the id that the browser tools know a node by."""
    known = page.elements.get(str(node))
    if known is None:
        msg = f"there is no element {str(node)[:40]!r} on the page"
        raise ValueError(msg)
    return known


def _role(page: PageTree, node: object) -> str:
    known = page.node(str(node))
    return known.role if known is not None else ""


def _plain(tool: str, **fixed: Any) -> _Builder:
    """Return what calls a tool that takes nothing of the action."""
    return lambda _given, _page: (tool, dict(fixed))


def _on(tool: str, *names: str, **fixed: Any) -> _Builder:
    """Return what calls a tool on the element of the action, with those of its arguments that are there."""

    def built(given: Arguments, page: PageTree) -> _Made:
        taken = {name: given[name] for name in names if name in given}
        return tool, {"element_id": _id(page, given["element"]), **fixed, **taken}

    return built


def _given(tool: str, **names: str) -> _Builder:
    """Return what calls a tool with arguments of the action under other names."""
    return lambda given, _page: (tool, {name: given[own] for own, name in names.items() if own in given})


def _navigate(given: Arguments, _page: PageTree) -> _Made:
    return "create_tab" if given.get("newTab") else "navigate", {"url": given["url"]}


def _drag(given: Arguments, page: PageTree) -> _Made:
    begin = {"element_id": _id(page, given["element"])}
    if "to" in given:
        return "drag", {**begin, "to_element_id": _id(page, given["to"])}
    return "drag", {**begin, "toX": float(given["x"]), "toY": float(given["y"])}


def _drag_from(given: Arguments, _page: PageTree) -> _Made:
    return "drag", {name: float(given[name]) for name in ("x", "y", "toX", "toY")}


def _click_at(given: Arguments, _page: PageTree) -> _Made:
    return "click_at", {"x": float(given["x"]), "y": float(given["y"])}


def _set_value(given: Arguments, page: PageTree) -> _Made:
    element, value = _id(page, given["element"]), given["value"]
    if given.get("clear") is False and (node := page.node(given["element"])) is not None:
        value = (node.value or "") + value
    match _role(page, given["element"]):
        case role if role in _LISTS:
            return "select_option", {"element_id": element, "value": value}
        case role if role in _SWITCHES:
            return "set_checked", {"element_id": element, "checked": value.strip().lower() not in _OFF}
        case "slider":
            return "set_value", {"element_id": element, "value": value}
        case _:
            return "type_text", {"element_id": element, "text": value}


def _scroll(given: Arguments, page: PageTree) -> _Made:
    down, pages = given.get("down", True), float(given.get("pages", 1))
    if "element" in given:
        direction = "down" if down else "up"
        return "scroll_element", {"element_id": _id(page, given["element"]), "direction": direction, "pages": pages}
    height = page.viewport.height if page.viewport is not None else _HEIGHT
    return "scroll_by", {"deltaY": (1 if down else -1) * height * PAGE_SHARE * pages}


def _scroll_container(given: Arguments, page: PageTree) -> _Made:
    pages = float(given.get("pages", 1))
    direction = "down" if pages >= 0 else "up"
    return "scroll_element", {
        "element_id": _id(page, given["element"]),
        "direction": direction,
        "pages": abs(pages) or 1.0,
    }


def _press(given: Arguments, _page: PageTree) -> _Made:
    """Return a key with its modifiers, which may stand before it: `Control+a`."""
    *before, key = given["key"].split("+") if len(given["key"]) > 1 else [given["key"]]
    modifiers = [_MODIFIERS.get(one.strip().lower(), one.strip()) for one in (*before, *given.get("modifiers", ()))]
    return "press_key", {"key": key.strip() or "+", **({"modifiers": modifiers} if modifiers else {})}


_MODIFIERS: Final[Mapping[str, str]] = MappingProxyType(
    {"ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt", "meta": "Meta"}
    | {"cmd": "Meta", "command": "Meta"}
)


def _wait(given: Arguments, _page: PageTree) -> _Made:
    seconds = min(max(float(given.get("seconds", 1)), 0.001), _MAX_WAIT_S)
    return "wait", {"condition": "time", "milliseconds": max(round(seconds * 1_000), 1)}


def _get_text(given: Arguments, page: PageTree) -> _Made:
    if "element" in given:
        return "read_element", {"element_id": _id(page, given["element"])}
    return "get_page_content", {}


def _close(given: Arguments, _page: PageTree) -> _Made:
    if "tab" not in given:
        msg = "close takes the number of a tab; getTabs lists them"
        raise ValueError(msg)
    return "close_tab", {"tabId": int(given["tab"])}


def _attribute(given: Arguments, page: PageTree) -> _Made:
    return "read_element", {"element_id": _id(page, given["element"]), "attribute": given["name"]}


_CALLS: Final[Mapping[str, _Builder]] = MappingProxyType(
    {
        "navigate": _navigate,
        "goBack": _plain("go_back"),
        "goForward": _plain("go_forward"),
        "refresh": _plain("refresh"),
        "search": _given("search", query="query"),
        "googleSearch": _given("search", query="query"),
        "click": _on("click"),
        "clickAt": _click_at,
        "doubleClick": _on("double_click"),
        "rightClick": _on("right_click"),
        "hover": _on("hover"),
        "dragAndDrop": _drag,
        "dragTo": _drag,
        "dragFrom": _drag_from,
        "setValue": _set_value,
        "type": _given("type_keys", text="text"),
        "press": _press,
        "focus": _on("focus"),
        "blur": _on("blur"),
        "selectText": _on("select_text", "text"),
        "check": _on("set_checked", checked=True),
        "uncheck": _on("set_checked", checked=False),
        "selectDropdown": _on("select_option", "value"),
        "dropdownOptions": _on("read_element"),
        "scroll": _scroll,
        "scroll_container": _scroll_container,
        "findText": _given("find_text", text="text"),
        "wait": _wait,
        "waitForElement": _on("wait_for_element"),
        "getText": _get_text,
        "getAttribute": _attribute,
        "isVisible": _on("read_element"),
        "isEnabled": _on("read_element"),
        "screenshot": _plain("screenshot"),
        "createTab": _given("create_tab", url="url"),
        "switch": lambda given, _page: ("switch_tab", {"tabId": int(given["tab"])}),
        "close": _close,
        "getTabs": _plain("list_tabs"),
        "acceptDialog": lambda given, _page: ("handle_dialog", {"action": "accept", **given}),
        "dismissDialog": _plain("handle_dialog", action="dismiss"),
    }
)
