"""The actions of 001: what each takes, who performs it, and how one is written down."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct


class ToolKind(StrEnum):
    """Who performs an action: the client in its page, the server, or both (001 §3.7)."""

    DOM = "DOM"
    SERVER = "SERVER"
    MIXED = "MIXED"


class Parameter(StrEnum):
    """What an argument of an action is."""

    ELEMENT = "element"
    """The id of a node."""
    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    KEYS = "keys"
    """Modifiers of a key, an array of texts."""


class ActionKind(Struct, frozen=True):
    """One action: its parameters in their order, of which the first `required` must be there."""

    parameters: tuple[tuple[str, Parameter], ...] = ()
    required: int = 0
    kind: ToolKind = ToolKind.DOM
    ends: bool = False


def _kind(
    *parameters: str, required: int | None = None, kind: ToolKind = ToolKind.DOM, ends: bool = False
) -> ActionKind:
    """Return an action of parameters that are written as `name:type`."""
    split = tuple((name, Parameter(given or "text")) for name, _, given in (one.partition(":") for one in parameters))
    return ActionKind(split, len(split) if required is None else required, kind, ends)


_SERVER: Final = ToolKind.SERVER
_ON: Final = "element:element"

ACTIONS: Final[Mapping[str, ActionKind]] = MappingProxyType(
    {
        "navigate": _kind("url", "newTab:flag", required=1),
        "goBack": _kind(),
        "goForward": _kind(),
        "refresh": _kind(),
        "search": _kind("query"),
        "googleSearch": _kind("query"),
        "click": _kind(_ON),
        "clickAt": _kind("x:number", "y:number"),
        "doubleClick": _kind(_ON),
        "rightClick": _kind(_ON),
        "hover": _kind(_ON),
        "dragAndDrop": _kind(_ON, "to:element"),
        "dragTo": _kind(_ON, "x:number", "y:number"),
        "dragFrom": _kind("x:number", "y:number", "toX:number", "toY:number"),
        "setValue": _kind(_ON, "value", "clear:flag", required=2),
        "type": _kind("text"),
        "press": _kind("key", "modifiers:keys", required=1),
        "focus": _kind(_ON),
        "blur": _kind(_ON),
        "selectText": _kind(_ON, "text", required=1),
        "check": _kind(_ON),
        "uncheck": _kind(_ON),
        "selectDropdown": _kind(_ON, "value"),
        "dropdownOptions": _kind(_ON),
        "scroll": _kind("down:flag", "pages:number", _ON, required=0),
        "scroll_container": _kind(_ON, "pages:number", required=1),
        "findText": _kind("text"),
        "wait": _kind("seconds:number", required=0),
        "waitForElement": _kind(_ON),
        "getText": _kind(_ON, required=0),
        "getAttribute": _kind(_ON, "name"),
        "isVisible": _kind(_ON),
        "isEnabled": _kind(_ON),
        "screenshot": _kind(),
        "createTab": _kind("url", required=0),
        "switch": _kind("tab:number"),
        "close": _kind("tab:number", required=0),
        "getTabs": _kind(),
        "acceptDialog": _kind("text", required=0),
        "dismissDialog": _kind(),
        "verifySuccess": _kind("text", required=0, kind=_SERVER),
        "remember": _kind("key", "value", kind=_SERVER),
        "recall": _kind("key", kind=_SERVER),
        "ask_user": _kind("question", required=0, kind=_SERVER),
        "finish": _kind("text", required=0, kind=_SERVER, ends=True),
        "fail": _kind("reason", required=0, kind=_SERVER, ends=True),
    }
)
"""Every action that is understood, by its name. Where 001 writes click(x,y), `clickAt` is what it is here."""


class ActionCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One action with its arguments by their names; the id of a node is `element`, always a text."""

    name: str
    arguments: dict[str, Any] = {}

    @property
    def element(self) -> str:
        """The id of the node that it is about; "" where it is about none."""
        return str(self.arguments.get("element", ""))

    @property
    def ends(self) -> bool:
        """Whether it ends its task."""
        return ACTIONS[self.name].ends
