"""Finds the state that frameworks put into a page so that their scripts need not fetch it again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from turbohtml import Element

from actors.extraction.evidence.data import broken_json, flight, literals, references
from actors.extraction.parse.values import Json, mapping

MAX_TOTAL_CHARS = 6_000_000
"""How much data of one page is read: an object of two characters takes 64 bytes once it is read."""

MAX_STATES = 200

Evaluate: TypeAlias = Callable[[Sequence[str]], Sequence[Json]]
"""Runs expressions of a page in an engine, and returns the values of those that have one."""


def no_scripts(expressions: Sequence[str]) -> Sequence[Json]:
    """Run nothing: what only an engine can read stays unread."""
    del expressions
    return ()


class Framework(StrEnum):
    """Who wrote a state."""

    NEXT = "next"
    NUXT = "nuxt"
    APOLLO = "apollo"
    REDUX = "redux"
    REMIX = "remix"
    SVELTEKIT = "sveltekit"
    GATSBY = "gatsby"
    ANGULAR = "angular"
    INERTIA = "inertia"
    DISCOURSE = "discourse"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class State:
    """One state: its framework, the name or id that it stands under, and the data."""

    framework: Framework
    name: str
    value: Json


BY_NAME = {
    "__NEXT_DATA__": Framework.NEXT,
    "__NUXT__": Framework.NUXT,
    "__NUXT_DATA__": Framework.NUXT,
    "__APOLLO_STATE__": Framework.APOLLO,
    "__APOLLO_CLIENT_STATE__": Framework.APOLLO,
    "__INITIAL_STATE__": Framework.REDUX,
    "__PRELOADED_STATE__": Framework.REDUX,
    "__REDUX_STATE__": Framework.REDUX,
    "__INITIAL_DATA__": Framework.REDUX,
    "initialState": Framework.REDUX,
    "__remixContext": Framework.REMIX,
    "__reactRouterContext": Framework.REMIX,
    "___pageData": Framework.GATSBY,
    "page": Framework.GATSBY,
    "ng-state": Framework.ANGULAR,
    "serverApp-state": Framework.ANGULAR,
    "transfer-state": Framework.ANGULAR,
}
"""The names of variables and ids of scripts that frameworks document, or that they write in every page."""

HOLDERS = {
    "data-page": Framework.INERTIA,
    "data-preloaded": Framework.DISCOURSE,
    "data-react-props": Framework.OTHER,
    "data-initial-state": Framework.OTHER,
    "data-props": Framework.OTHER,
}
"""Attributes that hold a state as JSON."""

_HOLDERS = ",".join(f"[{name}]" for name in HOLDERS)
_STREAMED = re.compile(r"streamController\.enqueue\(\s{0,9}(?=\")")
_KIT_DATA = re.compile(r"\bdata\s{0,9}[:=]\s{0,9}(?=\[)")
_ANGULAR_ESCAPES = (("&q;", '"'), ("&s;", "'"), ("&l;", "<"), ("&g;", ">"), ("&a;", "&"))
_DEFERRED = ("__NUXT__",)


def is_data(kind: str, name: str) -> bool:
    """Tell by type and id whether a script holds JSON that is neither linked data nor code."""
    return "json" in kind or name in BY_NAME


def of_data_script(script: Element, kind: str) -> Iterator[State]:
    """Return the state that a script of JSON holds."""
    name = script.attr("id") or script.attr("data-target") or kind
    framework = BY_NAME.get(name, Framework.OTHER)
    text = script.text
    if framework is Framework.ANGULAR and "&q;" in text:
        for escape, character in _ANGULAR_ESCAPES:
            text = text.replace(escape, character)
    for value in broken_json.read(text, repair=False):
        yield from _state(framework, name, value, script)


def of_code(code: str, patience: literals.Patience) -> Iterator[State]:
    """Return the states that a script of JavaScript assigns, as far as they are written as data."""
    for name, value in literals.assignments(code, patience):
        if name == "page" and "path" not in mapping(value):
            continue
        yield State(BY_NAME.get(name, Framework.OTHER), name, value)
    for streamed in _STREAMED.finditer(code):
        yield from _streamed(code, streamed.end())
    if "kit.start" in code or "__sveltekit" in code:
        for data in _KIT_DATA.finditer(code):
            value = literals.literal(code, data.end())
            if isinstance(value, list) and any(mapping(item).get("type") == "data" for item in value):
                yield State(Framework.SVELTEKIT, "data", value)


def of_flight(pushed: list[str]) -> Iterator[State]:
    """Return the state that Next.js streams into a page."""
    rows = flight.rows(pushed)
    if rows:
        yield State(Framework.NEXT, "__next_f", rows)


def of_attributes(root: Element) -> Iterator[State]:
    """Return the states that stand in attributes."""
    for element in root.select(_HOLDERS)[:MAX_STATES]:
        for name, framework in HOLDERS.items():
            text = element.attr(name) or ""
            if text[:1] in {"{", "["} and len(text) < MAX_TOTAL_CHARS:
                for value in broken_json.read(text, repair=False):
                    yield State(framework, name, _unpacked(value))


def functions(code: str) -> Iterator[str]:
    """Return the expressions of a script that hold a state but must be run to know it."""
    if "__NUXT__" in code:
        yield from literals.functions(code, _DEFERRED)


def _state(framework: Framework, name: str, value: Json, script: Element) -> Iterator[State]:
    if name == "__NUXT_DATA__":
        yield State(framework, name, references.joined(value))
    elif script.attr("data-sveltekit-fetched") is not None:
        yield State(Framework.SVELTEKIT, "fetched", _body(value))
    elif isinstance(value, (dict, list)) and value:
        yield State(framework, name, value)


def _streamed(code: str, start: int) -> Iterator[State]:
    found = broken_json.read_at(code, start)
    if found and isinstance(found[0], str):
        for value in broken_json.read(found[0], repair=False):
            yield State(Framework.REMIX, "stream", references.joined(value, numbered_keys=True))


def _body(answer: Json) -> Json:
    """Return the body of an answer that SvelteKit stored, read when it is JSON."""
    body = mapping(answer).get("body")
    if not isinstance(body, str):
        return answer
    values = broken_json.read(body, repair=False)
    return values[0] if values else body


def _unpacked(value: Json) -> Json:
    """Read the texts of an object that are JSON themselves, as Discourse stores its topics."""
    if not isinstance(value, dict):
        return value
    return {key: _inner(child) for key, child in value.items()}


def _inner(child: Json) -> Json:
    if isinstance(child, str) and child[:1] in {"{", "["}:
        values = broken_json.read(child, repair=False)
        return values[0] if values else child
    return child
