"""Action strings of 001: an action as one line of text, and the action that such a line says.

Whoever reads them takes an id only where it can be read as a number, and a text by slicing off its quotes, whatever
stands between them. So ids that are numbers stand bare, and a text stands in quotes that do not occur in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from protocol.acting.actions import ACTIONS, ActionCall, ActionKind, Parameter

MAX_ACTION_CHARS: Final = 120_000
QUOTES: Final = "\"'`"

_MAX_QUOTED_CHARS: Final = 60
_CALL: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\((.*)\))?\s*;?\s*", re.DOTALL)
_BARE_ID: Final = re.compile(r"0|[1-9][0-9]{0,14}")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,15}")
_FLAGS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False})

_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "done": "finish", "complete": "finish", "back": "goBack", "forward": "goForward", "reload": "refresh",
        "goto": "navigate", "open": "navigate", "drag": "dragAndDrop", "typetext": "type", "fill": "setValue",
        "presskey": "press", "keypress": "press", "select": "selectDropdown", "selectoption": "selectDropdown",
        "getdropdownoptions": "dropdownOptions", "scrollto": "scroll_container", "newtab": "createTab",
        "opentab": "createTab", "switchtab": "switch", "closetab": "close", "listtabs": "getTabs",
        "gettext": "getText", "findelement": "findText", "waitfor": "waitForElement", "ask": "ask_user",
    }
)  # fmt: skip
"""Other names of actions, in small letters and without underscores."""

_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {**_ALIASES, **{name.replace("_", "").lower(): name for name in ACTIONS}}
)
_SHARED: Final[Mapping[str, str]] = MappingProxyType(
    {"clickAt": "click", "dragTo": "dragAndDrop", "dragFrom": "dragAndDrop"}
)
"""The actions that 001 has under the name of another, which is told from them by its arguments."""

_BY_COUNT: Final[Mapping[tuple[str, int], str]] = MappingProxyType(
    {
        ("click", 2): "clickAt",
        ("dragAndDrop", 3): "dragTo",
        ("dragAndDrop", 4): "dragFrom",
        ("dragTo", 2): "dragAndDrop",
        ("type", 2): "setValue",
    }
)
_FILLED: Final[Mapping[str, Any]] = MappingProxyType({"down": True, "pages": 1})
"""What an argument that may be left out is where a later one is there."""


class _Token(Struct, frozen=True):
    """An argument as it stands in the line: a text without its quotes, a bare word, or a list of them."""

    text: str
    quoted: bool = False
    items: tuple[str, ...] | None = None


def wire_name(call: ActionCall) -> str:
    """Return the name that 001 has for an action."""
    return _SHARED.get(call.name, call.name)


def action_string(call: ActionCall) -> str:
    """Write an action down.

    Raises:
        ValueError: it is none of ours, or its arguments are others.
    """
    kind = ACTIONS.get(call.name)
    if kind is None:
        raise _unknown(call.name)
    arguments = _in_order(call, kind)
    line = _line(call, arguments)
    doubtful = any(isinstance(value, str) and value.endswith("\\") for _, value in arguments)
    return _line(call, arguments, escaped=True) if doubtful and _read_otherwise(line, call) else line


def parsed(text: str) -> ActionCall:
    """Return the action that a line says.

    Raises:
        ValueError: it says none; what is wrong is named.
    """
    match = _CALL.fullmatch(text) if len(text) <= MAX_ACTION_CHARS else None
    if match is None:
        msg = f'{_quoted(text)} is no action: it is written like click(42) or setValue(3, "text")'
        raise ValueError(msg)
    given, inside = match.groups()
    name = _NAMES.get(given.replace("_", "").lower(), "")
    if not name:
        raise _unknown(given)
    tokens = tuple(_tokens(inside)) if inside and inside.strip() else ()
    name = _BY_COUNT.get((name, len(tokens)), name)
    kind = ACTIONS[name]
    if name == "scroll" and len(tokens) == 1 and tokens[0].text.lower() not in _FLAGS:
        return ActionCall(name=name, arguments={"element": tokens[0].text})  # 001: scroll(id)
    if not kind.required <= len(tokens) <= len(kind.parameters):
        raise _miscounted(given, kind, len(tokens))
    pairs = zip(kind.parameters, tokens, strict=False)
    return ActionCall(name=name, arguments={key: _value(key, what, token) for (key, what), token in pairs})


# -- writing -----------------------------------------------------------------------------------------------------------


def _line(call: ActionCall, arguments: list[tuple[Parameter, Any]], *, escaped: bool = False) -> str:
    return f"{wire_name(call)}({', '.join(_argument_string(*one, escaped=escaped) for one in arguments)})"


def _read_otherwise(line: str, call: ActionCall) -> bool:
    try:
        return parsed(line) != call
    except ValueError:
        return True


def _in_order(call: ActionCall, kind: ActionKind) -> list[tuple[Parameter, Any]]:
    """Return the arguments of an action in their order, as far as the last that it has."""
    names = [name for name, _ in kind.parameters]
    strange = sorted(set(call.arguments) - set(names))
    missing = [name for name in names[: kind.required] if name not in call.arguments]
    if strange or missing:
        msg = f"{call.name} takes {_parameters(kind)}: " + (
            f"it has no {strange[0]}" if strange else f"{missing[0]} is missing"
        )
        raise ValueError(msg)
    if call.name == "scroll" and set(call.arguments) == {"element"}:
        return [(Parameter.ELEMENT, _checked("element", Parameter.ELEMENT, call.arguments["element"]))]
    last = max((index for index, name in enumerate(names) if name in call.arguments), default=-1)
    taken = kind.parameters[: last + 1]
    return [(what, _checked(name, what, call.arguments.get(name, _FILLED.get(name)))) for name, what in taken]


def _checked(name: str, what: Parameter, value: Any) -> Any:
    """Return an argument that is of its kind."""
    fits = _FITS[what](value)
    if not fits:
        msg = f"{name} is {_KIND_WORDS[what]}"
        raise ValueError(msg)
    return value


_FITS: Final[Mapping[Parameter, Callable[[Any], bool]]] = MappingProxyType(
    {
        Parameter.ELEMENT: lambda value: isinstance(value, str) and bool(value),
        Parameter.TEXT: lambda value: isinstance(value, str),
        Parameter.NUMBER: lambda value: type(value) in (int, float) and math.isfinite(value),
        Parameter.FLAG: lambda value: isinstance(value, bool),
        Parameter.KEYS: lambda value: isinstance(value, list | tuple),
    }
)


def _argument_string(what: Parameter, value: Any, *, escaped: bool) -> str:
    match what:
        case Parameter.ELEMENT:
            return str(value) if _BARE_ID.fullmatch(value) else _in_quotes(value, escaped=escaped)
        case Parameter.TEXT:
            return _in_quotes(value, escaped=escaped)
        case Parameter.NUMBER:
            return repr(value)
        case Parameter.FLAG:
            return "true" if value else "false"
        case Parameter.KEYS:
            return f"[{', '.join(_in_quotes(str(one), escaped=escaped) for one in value)}]"


def _in_quotes(text: str, *, escaped: bool) -> str:
    """Put a text into quotes that it does not have; where it has all, or ends in a backslash, with escapes."""
    quote = next((one for one in QUOTES if one not in text), "")
    if quote and not (escaped and text.endswith("\\")):
        return f"{quote}{text}{quote}"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- reading -----------------------------------------------------------------------------------------------------------


def _tokens(inside: str) -> Iterator[_Token]:
    """Yield the arguments between the parentheses.

    Raises:
        ValueError: a quote or a bracket is not closed, or an argument is empty.
    """
    at, end = 0, len(inside)
    while True:
        while at < end and inside[at].isspace():
            at += 1
        if at < end and inside[at] in QUOTES:
            text, at = _text_at(inside, at)
            yield _Token(text, quoted=True)
        elif at < end and inside[at] == "[":
            close = inside.find("]", at)
            if close < 0:
                msg = "a [ is not closed"
                raise ValueError(msg)
            between = inside[at + 1 : close]
            yield _Token("", items=tuple(one.text for one in _tokens(between)) if between.strip() else ())
            at = close + 1
        else:
            comma = inside.find(",", at)
            stop = end if comma < 0 else comma
            word, at = inside[at:stop].strip(), stop
            if not word:
                msg = "an argument is empty"
                raise ValueError(msg)
            yield _Token(word)
        rest = inside[at:].lstrip()
        if not rest:
            return
        if rest[0] != ",":
            msg = f"there should be a comma before {_quoted(rest)}"
            raise ValueError(msg)
        at = end - len(rest) + 1


def _text_at(inside: str, start: int) -> tuple[str, int]:
    """Return the text in quotes that begins there, and where it ends.

    It ends at the first of its quotes that a comma or nothing follows. Where a backslash stands before that one, or
    others stand between, the text may be escaped; if it cannot be read so, a backslash is a sign like any other.
    """
    quote = inside[start]
    close = _closing(inside, quote, start + 1)
    between = inside[start + 1 : close]
    doubtful = quote in between or between.endswith("\\")
    return (_escaped_at(inside, start) if doubtful else None) or (between, close + 1)


def _closing(inside: str, quote: str, at: int) -> int:
    while (close := inside.find(quote, at)) >= 0:
        if _ends(inside, close + 1):
            return close
        at = close + 1
    msg = f"a {quote} is not closed"
    raise ValueError(msg)


def _escaped_at(inside: str, start: int) -> tuple[str, int] | None:
    quote, out, at = inside[start], list[str](), start + 1
    while at < len(inside):
        sign = inside[at]
        if sign == "\\" and inside[at + 1 : at + 2] in (quote, "\\"):
            out.append(inside[at + 1])
            at += 2
            continue
        if sign == quote:
            return ("".join(out), at + 1) if _ends(inside, at + 1) else None
        out.append(sign)
        at += 1
    return None


def _ends(inside: str, at: int) -> bool:
    rest = inside[at:].lstrip()[:1]
    return rest in ("", ",")


def _value(name: str, what: Parameter, token: _Token) -> Any:
    """Return what an argument is by its kind.

    Raises:
        ValueError: it is another kind.
    """
    match what:
        case Parameter.ELEMENT if token.items is None and token.text.strip():
            return token.text.strip()
        case Parameter.TEXT if token.items is None:
            return token.text
        case Parameter.NUMBER if _NUMBER.fullmatch(token.text):
            number = int(token.text) if _WHOLE.fullmatch(token.text) else float(token.text)
            if math.isfinite(number):
                return number
        case Parameter.FLAG if token.text.lower() in _FLAGS:
            return _FLAGS[token.text.lower()]
        case Parameter.KEYS:
            items = token.items if token.items is not None else tuple(filter(None, token.text.split("+")))
            return [one.strip() for one in items]
        case _:
            pass
    msg = f"{name} is {_KIND_WORDS[what]}, and {_quoted(token.text)} is none"
    raise ValueError(msg)


_KIND_WORDS: Final[Mapping[Parameter, str]] = MappingProxyType(
    {
        Parameter.ELEMENT: "the id of an element",
        Parameter.TEXT: "a text",
        Parameter.NUMBER: "a number",
        Parameter.FLAG: "true or false",
        Parameter.KEYS: "a list of keys",
    }
)


def _parameters(kind: ActionKind) -> str:
    names = (name if index < kind.required else f"{name}?" for index, (name, _) in enumerate(kind.parameters))
    return f"({', '.join(names)})"


def _miscounted(given: str, kind: ActionKind, count: int) -> ValueError:
    msg = f"{given} takes {_parameters(kind)}, and {count} arguments are there"
    return ValueError(msg)


def _unknown(name: str) -> ValueError:
    msg = f"there is no action {_quoted(name)}; there are {', '.join(ACTIONS)}"
    return ValueError(msg)


def _quoted(text: str) -> str:
    return repr(text[:_MAX_QUOTED_CHARS])
