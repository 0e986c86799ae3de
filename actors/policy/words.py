"""What a person is shown of a call: its arguments without what is secret, what would be done, and what that changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from actors import redact
from actors.policy.targets import host_of
from protocol.policy import FieldFacts
from protocol.tools.tool import Risk, Tool

MAX_SHOWN_CHARS: Final = 20_000
"""What is kept of a text; what lies behind it is told by its length."""

MAX_SHOWN_BYTES: Final = 200_000
"""What is shown of all arguments together; of more nothing but their length."""

MAX_WORDS_CHARS: Final = 300
"""The same in the one line that says what would be done."""

_NOT_SHOWN: Final = frozenset({"tool", "sealed", "stored"})
"""The tag of an operation, and what is nobody's words."""

_PLACES: Final = frozenset({"element_id", "to_element_id", "sessionId", "tabId"})
_TYPED: Final = frozenset({"text", "value"})


def shown_arguments(tool: Tool[Any], arguments: Mapping[str, Any], *, secret_field: bool = False) -> dict[str, Any]:
    """Return arguments for people: credentials taken out, and what is typed into a secret field by its length alone."""
    shown = {key: _shown(key, value) for key, value in arguments.items() if key not in _NOT_SHOWN and value is not None}
    if secret_field and tool.risk is Risk.ACT:
        shown |= {key: _length(arguments[key]) for key in _TYPED & arguments.keys()}
    if len(msgspec.json.encode(shown)) > MAX_SHOWN_BYTES:
        return {key: _length(value) for key, value in shown.items()}
    return shown


def words_of(tool: Tool[Any], shown: Mapping[str, Any], element: FieldFacts | None, page: str) -> str:
    """Say in one line what would be done."""
    given = {key: _short(value) for key, value in shown.items() if key not in _PLACES}
    given["element"] = "the page" if element is None else _element(element)
    form = _FORMS.get(tool.name, "")
    if not form or not given.keys() >= set(_PLACEHOLDER.findall(form)):
        form = tool.description.rstrip(".").translate(_NO_FORM)
    named = {"element", *_PLACEHOLDER.findall(form)}
    rest = ", ".join(f"{key} {value}" for key, value in given.items() if key not in named)
    where = f" on {page}" if page and tool.risk is Risk.ACT else ""
    return f"{form.format_map(given)}{where}{': ' if rest else ''}{rest}"


_NO_FORM: Final = str.maketrans({"{": "{{", "}": "}}"})
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "click": "Click {element}",
        "hover": "Point at {element}",
        "type_text": "Type {text} into {element}",
        "set_value": "Put {value} into {element}",
        "double_click": "Click {element} twice",
        "right_click": "Click {element} with the right button",
        "click_at": "Click {element} at {x}, {y}",
        "drag": "Drag {element}",
        "set_checked": "Put {element} to {checked}",
        "type_keys": "Type {text} into {element}",
        "select_option": "Choose {value} in {element}",
        "press_key": "Press {key} in {element}",
        "upload_file": "Put the file {filePath} into {element}",
        "navigate": "Open {url}",
        "create_tab": "Open {url} in a new tab",
        "execute_javascript": "Run a script in the page: {script}",
        "search": "Search for {query}",
        "artifact.share": "Hand out the text {artifactId} as {format}",
        "integration.invoke": "Have {integration} do {operation} with {payload}",
    }
)
"""What would be done, by tool; of all others their description says it."""


def effect_of(tool: Tool[Any], arguments: Mapping[str, Any], site: str) -> str:
    """Say what a call would change."""
    url = arguments.get("url")
    if tool.risk is Risk.ACT and isinstance(url, str):
        return f"The browser opens {host_of(url) or 'another page'}, which learns of the address."
    page = f"The page of {site}" if site else "The page"
    return _EFFECTS[tool.risk].replace("The page", page, 1)


_EFFECTS: Final[Mapping[Risk, str]] = MappingProxyType(
    {
        Risk.OBSERVE: "Nothing changes.",
        Risk.LINKS: "Nothing changes.",
        Risk.SEARCH: "The query is sent to a search engine.",
        Risk.ACT: "The page changes, and may send what stands in it.",
        Risk.CALCULATE: "Nothing changes.",
        Risk.COLLECT: "It is kept among what is yours.",
        Risk.SHARE: "It leaves Weft and cannot be called back.",
        Risk.READ: "A page is asked for, whose site learns of the address.",
        Risk.RUN: "A run begins, and does what its inputs say.",
        Risk.DELETE: "It is gone for good.",
    }
)


def _shown(key: str, value: object) -> Any:
    match value:
        case str():
            return _text(key, value)
        case bytes():
            return f"[{len(value)} bytes]"
        case Mapping():
            return {name: _shown(name, one) for name, one in cast("Mapping[str, Any]", value).items()}
        case list() | tuple():
            return [_shown(key, one) for one in cast("list[Any]", value)]
        case _:
            return value


def _text(key: str, value: str) -> str:
    if redact.is_secret(key) and key not in {"key", "idempotencyKey"}:
        return redact.REDACTED
    clean = redact.text(value)
    rest = len(clean) - MAX_SHOWN_CHARS
    return clean if rest <= 0 else f"{clean[:MAX_SHOWN_CHARS]}… [{rest} characters more]"


def _length(value: object) -> str:
    return f"[{len(str(value))} characters]"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    if len(text) > MAX_WORDS_CHARS:
        text = f"{text[:MAX_WORDS_CHARS]}… [{len(text) - MAX_WORDS_CHARS} characters more]"
    return f"“{text}”" if isinstance(value, str) else text


def _element(element: FieldFacts) -> str:
    name = element.label or element.placeholder or element.title or element.name
    kind = element.role or element.tag or "element"
    target = host_of(element.target) if element.target else ""
    leads = f" that leads to {target}" if target and target != host_of(element.page_url) else ""
    return f"{kind} {_short(name)}{leads}" if name else f"{kind}{leads}"
