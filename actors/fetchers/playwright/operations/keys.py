"""Says which keys may be pressed, and by which name the browser knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from actors.fetchers.playwright.operations.refusing import invalid

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


def pressed(key: str, modifiers: Sequence[str]) -> str:
    """Return the key with its modifiers as the browser calls them together.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a key that there is not, and for what is refused, with the reason.
    """
    name = key if len(key) == 1 and key.isprintable() and key != " " else _KEYS.get(key.strip().lower() or " ")
    if name is None:
        known = ", ".join((*_NAMED, "Space"))
        raise invalid("key", f"there is no such key here; there are single characters and {known}")
    held = tuple(dict.fromkeys(modifiers))
    combination = "+".join((*held, name))
    reason = _refused(name.lower() if len(name) == 1 else name, held)
    if reason:
        raise invalid("key", f"{combination} is refused: {reason}")
    return combination


def _refused(name: str, held: Sequence[str]) -> str:
    tables = [_ALONE]
    if "Control" in held or "Meta" in held:
        tables.append(_WITH_COMMAND)
    if "Alt" in held:
        tables.append(_WITH_ALT)
    if "Shift" in held:
        tables.append(_WITH_SHIFT)
    return next((table[name] for table in tables if name in table), "")
