"""Finds the states that frameworks put into a page, and the records in them that bear the page's title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct
from turbohtml import Element

from actors.extraction.evidence import json_values, script_values
from actors.extraction.evidence.json_values import Json, mapping, walk

MAX_TOTAL_CHARS = 6_000_000
"""How much data of one page is read: an object of two characters takes 64 bytes once it is read."""

MAX_STATES = 200

Evaluate: TypeAlias = Callable[[Sequence[str]], Sequence[Json]]
"""Runs expressions of a page in an engine, and returns the values of those that have one."""
_STREAMED = re.compile(r"streamController\.enqueue\(\s{0,9}(?=\")")
_KIT_DATA = re.compile(r"\bdata\s{0,9}[:=]\s{0,9}(?=\[)")
_ANGULAR_ESCAPES = (("&q;", '"'), ("&s;", "'"), ("&l;", "<"), ("&g;", ">"), ("&a;", "&"))
_DEFERRED = ("__NUXT__",)

MAX_STEPS = 20_000
"""How many values of one page's states are looked at."""

MAX_RECORDS = 8

_TITLES = frozenset(
    {"headline", "title", "name", "productName", "displayName", "product_name", "heading", "productTitle"}
)

_MIN_TITLE_CHARS = 4
_MAX_TITLE_CHARS = 300
_SAME_TITLE = 0.9
_WORD = re.compile(r"\w+")


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


class FrameworkState(Struct, frozen=True):
    """One state: its framework, the name or id that it stands under, and the data."""

    framework: Framework
    name: str
    value: Json


def holds_data(kind: str, name: str) -> bool:
    """Return by type and id whether a script holds JSON that is neither linked data nor code."""
    return "json" in kind or name in BY_NAME


def states_of_data_script(script: Element, kind: str) -> Iterator[FrameworkState]:
    """Return the state that a script of JSON holds."""
    name = script.attr("id") or script.attr("data-target") or kind
    framework = BY_NAME.get(name, Framework.OTHER)
    text = script.text
    if framework is Framework.ANGULAR and "&q;" in text:
        for escape, character in _ANGULAR_ESCAPES:
            text = text.replace(escape, character)
    for value in json_values.read(text, repair=False):
        yield from _states_of(framework, name, value, script)


def states_of_code(code: str, patience: script_values.Patience) -> Iterator[FrameworkState]:
    """Return the states that a script of JavaScript assigns, as far as they are written as data."""
    for name, value in script_values.assignments(code, patience):
        if name == "page" and "path" not in mapping(value):
            continue
        yield FrameworkState(BY_NAME.get(name, Framework.OTHER), name, value)
    for streamed in _STREAMED.finditer(code):
        yield from _streamed(code, streamed.end())
    if "kit.start" in code or "__sveltekit" in code:
        for data in _KIT_DATA.finditer(code):
            value = script_values.literal(code, data.end())
            if isinstance(value, list) and any(mapping(item).get("type") == "data" for item in value):
                yield FrameworkState(Framework.SVELTEKIT, "data", value)


def states_of_flight(pushed: list[str]) -> Iterator[FrameworkState]:
    """Return the state that Next.js streams into a page."""
    rows = script_values.flight_rows(pushed)
    if rows:
        yield FrameworkState(Framework.NEXT, "__next_f", rows)


def states_of_attributes(root: Element) -> Iterator[FrameworkState]:
    """Return the states that stand in attributes."""
    for element in root.select(_HOLDERS)[:MAX_STATES]:
        for name, framework in HOLDERS.items():
            text = element.attr(name) or ""
            if text[:1] in {"{", "["} and len(text) < MAX_TOTAL_CHARS:
                for value in json_values.read(text, repair=False):
                    yield FrameworkState(framework, name, _unpacked_values(value))


def deferred_expressions(code: str) -> Iterator[str]:
    """Return the expressions of a script that hold a state but must be run to know it."""
    if "__NUXT__" in code:
        yield from script_values.function_expressions(code, _DEFERRED)


class StateRecord(Struct, frozen=True):
    """An object of a state that bears the title of the page."""

    framework: Framework
    node: dict[str, Json]


def titled_records(states: Iterable[FrameworkState], titles: Sequence[str]) -> tuple[StateRecord, ...]:
    """Return the records that bear the page's title, the fullest first; a shorter part of it does not count.

    The name of the site stands in the title, too, and states have records of the site.
    """
    wanted = [f" {_loose_words(title)} " for title in titles if title]
    records: list[tuple[int, StateRecord]] = []
    steps = MAX_STEPS
    for state in states if wanted else ():
        for node in walk(state.value, steps):
            steps -= len(node)
            named = _TITLES & node.keys()
            if named and (length := max(_title_chars(node[name], wanted) for name in named)):
                records.append((length, StateRecord(state.framework, node)))
        if steps <= 0 or len(records) > 8 * MAX_RECORDS:
            break
    longest = max((length for length, _ in records), default=0)
    kept = [record for length, record in records if length >= _SAME_TITLE * longest]
    return tuple(sorted(kept, key=lambda record: -len(record.node))[:MAX_RECORDS])


def _states_of(framework: Framework, name: str, value: Json, script: Element) -> Iterator[FrameworkState]:
    if name == "__NUXT_DATA__":
        yield FrameworkState(framework, name, script_values.dereferenced(value))
    elif script.attr("data-sveltekit-fetched") is not None:
        yield FrameworkState(Framework.SVELTEKIT, "fetched", _response_body(value))
    elif isinstance(value, (dict, list)) and value:
        yield FrameworkState(framework, name, value)


def _streamed(code: str, start: int) -> Iterator[FrameworkState]:
    pushed = json_values.read_at(code, start)
    if pushed and isinstance(pushed[0], str):
        for value in json_values.read(pushed[0], repair=False):
            yield FrameworkState(Framework.REMIX, "stream", script_values.dereferenced(value, numbered_keys=True))


def _response_body(answer: Json) -> Json:
    """Return the body of an answer that SvelteKit stored, read when it is JSON."""
    body = mapping(answer).get("body")
    if not isinstance(body, str):
        return answer
    values = json_values.read(body, repair=False)
    return values[0] if values else body


def _unpacked_values(value: Json) -> Json:
    """Read the texts of an object that are JSON themselves, as Discourse stores its topics."""
    if not isinstance(value, dict):
        return value
    return {key: _unpacked_value(child) for key, child in value.items()}


def _unpacked_value(child: Json) -> Json:
    if isinstance(child, str) and child[:1] in {"{", "["}:
        values = json_values.read(child, repair=False)
        return values[0] if values else child
    return child


def _title_chars(value: Json, wanted: list[str]) -> int:
    """Return how long a value is that is the page's title, 0 for another."""
    if not isinstance(value, str) or not _MIN_TITLE_CHARS <= len(value) <= _MAX_TITLE_CHARS or " " not in value:
        return 0
    plain = _loose_words(value)
    return len(plain) if plain and any(f" {plain} " in title for title in wanted) else 0


def _loose_words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


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
