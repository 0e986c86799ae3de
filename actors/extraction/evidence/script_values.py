"""Reads the values that scripts of a page hold, without running them: literals, rows of Next.js, numbered parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import orjson

from actors.extraction.evidence import json_values
from actors.extraction.evidence.json_values import Json, read_at, scalar

MAX_LITERAL_CHARS = 1_000_000
"""How much of a script is read as one value."""

MAX_ASSIGNMENTS = 40
"""How many names of one script are read: the pages of the data sets have 1.6 on average."""

MAX_ATTEMPTS = 60
"""How many unreadable values of one page are tried."""

_ASSIGNED = re.compile(r"""window(?:\.|\[["'])([\w$]{2,60})(?:["']\])?\s{0,9}=(?!=)\s{0,9}""")
_DECLARED = re.compile(r"__[A-Za-z][\w$]{2,60}\s{0,9}=(?!=)\s{0,9}")
_INITIAL = re.compile(r"initialState\s{0,9}=(?!=)\s{0,9}")
_OF_A_NAME = re.compile(r"[\w$.]")
_PARSED = re.compile(r"""JSON\.parse\(\s{0,9}(decodeURIComponent\(|unescape\()?\s{0,9}(?=["'`])""")
_STRING = re.compile(r""""[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*'|`[^`\\$]*(?:\\.[^`\\$]*)*`""", re.DOTALL)
_FUNCTION = re.compile(r"\(?\s{0,9}(?:function\s{0,9}\w{0,20}\s{0,9}\(|\([\w$, ]{0,2000}\)\s{0,9}=>)")
_ESCAPED_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_HEX_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")
_WORTH = re.compile(r"""[{\[]\s{0,99}["'\w$\[{]""")

MAX_FAILURES = 10
"""How many unreadable pushes of one script are borne: each costs as much as the script is long."""

_PUSH = re.compile(r"__next_f\s{0,4}(?:=[^;(]{0,60}\))?\.push\(")
_ROW = re.compile(rb"([0-9a-fA-F]{1,8}):(?:T([0-9a-fA-F]{1,8}),)?")

_MODEL = frozenset((b"[", b"{", b'"'))
"""What the rows that hold data begin with: the others are imports (I), hints (H), errors (E) and the like."""

MAX_PARTS = 200_000
"""How many parts are put together: the longest list of the data sets has 21,000."""

_WRAPPED = frozenset({"Ref", "ShallowRef", "Reactive", "ShallowReactive", "EmptyRef", "EmptyShallowRef", "Object", "P"})
"""Marks of a part that stands for another one, as Nuxt and Remix write them."""

_TEXTS = frozenset({"Date", "BigInt", "URL", "D", "B", "U", "N", "Y"})
"""Marks of a part that is written as a text or number."""

_MAPS = frozenset({"Map", "M", "null"})


@dataclass
class Patience:
    """How much unreadable code of one page is still looked at: each attempt may read a script to its end."""

    characters: int = 2 * MAX_LITERAL_CHARS
    attempts: int = MAX_ATTEMPTS

    def spend(self, script: str, start: int) -> None:
        """Count an attempt that failed."""
        self.attempts -= 1
        self.characters -= min(len(script) - start, MAX_LITERAL_CHARS)

    @property
    def lost(self) -> bool:
        """Whether no more is tried."""
        return self.attempts <= 0 or self.characters <= 0


def assignments(script: str, patience: Patience) -> Iterator[tuple[str, Json]]:
    """Return each name that a script assigns an object or list to, with its value."""
    for name, start in _starts(script):
        if patience.lost:
            return
        if not _WORTH.match(script, start) and not _PARSED.match(script, start):
            continue
        value = _assigned_value(script, start)
        if isinstance(value, (dict, list)) and value:
            yield name, value
        else:
            patience.spend(script, start)


def function_expressions(script: str, names: tuple[str, ...]) -> Iterator[str]:
    """Return the expressions that must be run to know their value, of those names alone."""
    for name, start in _starts(script):
        if name in names and _FUNCTION.match(script, start):
            yield script[start : start + MAX_LITERAL_CHARS].strip()


def literal(text: str, start: int) -> Json:
    """Read the object or list that starts at a place of a script; None where there is none."""
    read_value = json_values.read_at(text, start)
    if read_value is not None:
        return read_value[0]
    return _javascript(text[start : start + MAX_LITERAL_CHARS])


def string(quoted: str) -> str:
    """Return what a string literal of JavaScript says; "" when it says nothing readable."""
    body = _HEX_ESCAPE.sub(r"\\u00\1", quoted[1:-1])
    if quoted[:1] != '"':
        body = _ESCAPED_OR_QUOTE.sub(_as_in_json, body)
    try:
        value: Json = orjson.loads(f'"{body}"')
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""


def flight_pushes(scripts: Iterable[str]) -> list[str]:
    """Return the texts that a page's scripts push, in their order."""
    return [text for script in scripts for text in _pushes(script)]


def flight_rows(texts: Iterable[str]) -> list[Json]:
    """Return the values of the rows: objects, lists and texts.

    Rows are `id:json` up to a line break, or `id:T` with a length in hexadecimal, a comma and that many bytes, after
    which no line break stands: so they are cut as bytes.
    """
    stream = "".join(texts).encode("utf-8", "replace")
    values: list[Json] = []
    position = 0
    while row := _ROW.match(stream, position):
        if row.group(2):
            position = row.end() + int(row.group(2), 16)
            values.append(stream[row.end() : position].decode("utf-8", "replace"))
            continue
        line = stream.find(b"\n", row.end())
        position = len(stream) if line < 0 else line + 1
        values.extend(_flight_value(stream[row.end() : position]))
    return values


def dereferenced(flat: Json, *, numbered_keys: bool = False) -> Json:
    """Return the value that the first part of a list stands for; None where it is no such list.

    With `numbered_keys`, the names of properties are parts, too: Remix writes `_` and their number.
    Objects may hold themselves, as the page's own do: walk them by `values.walk`.
    """
    if not isinstance(flat, list) or not flat or len(flat) > MAX_PARTS:
        return None
    return _Parts(flat, numbered_keys=numbered_keys).first()


def _starts(script: str) -> Iterator[tuple[str, int]]:
    """Return the names and where their values start; each pattern begins with what is fast to look for."""
    visited: set[int] = set()
    for pattern in (_ASSIGNED, _DECLARED, _INITIAL):
        for assigned in pattern.finditer(script):
            if assigned.end() in visited or (
                pattern is not _ASSIGNED and _OF_A_NAME.match(script, assigned.start() - 1)
            ):
                continue
            visited.add(assigned.end())
            yield (
                assigned.group(1) if pattern is _ASSIGNED else assigned.group().partition("=")[0].strip(),
                assigned.end(),
            )
            if len(visited) > MAX_ASSIGNMENTS:
                return


def _assigned_value(script: str, start: int) -> Json:
    if parsed := _PARSED.match(script, start):
        return _parsed(script, parsed.end(), encoded=bool(parsed.group(1)))
    return literal(script, start)


def _parsed(script: str, start: int, *, encoded: bool) -> Json:
    """Read what a script hands to `JSON.parse` as a text."""
    quoted = _STRING.match(script, start, start + MAX_LITERAL_CHARS)
    text = string(quoted.group()) if quoted else ""
    values = json_values.read(unquote(text) if encoded else text, repair=False)
    return values[0] if values else None


def _as_in_json(escaped: re.Match[str]) -> str:
    match escaped.group():
        case '"':
            return '\\"'
        case "\\'" | "\\`":
            return escaped.group()[1]
        case other:
            return other


def _javascript(text: str) -> Json:
    import chompjs  # noqa: PLC0415 - few pages need it

    try:
        value: Json = chompjs.parse_js_object(text)
    except (ValueError, RecursionError):
        return None
    return value


def _pushes(script: str) -> Iterator[str]:
    failures = 0
    for push in _PUSH.finditer(script):
        if failures > MAX_FAILURES:
            return
        match read_at(script, push.end()):
            case ([1, str() as text, *_], _):
                yield text
            case None:
                failures += 1
            case _:
                continue


def _flight_value(row: bytes) -> Iterator[Json]:
    if row[:1] in _MODEL:
        try:
            yield orjson.loads(row)
        except ValueError:
            return


class _Parts:
    """The parts of one list, each put together once."""

    def __init__(self, flat: list[Json], *, numbered_keys: bool) -> None:
        self._flat = flat
        self._numbered_keys = numbered_keys
        self._made: dict[int, Json] = {}
        self._open: list[int] = []

    def first(self) -> Json:
        value = self._part(0)
        while self._open:
            self._fill(self._open.pop())
        return value

    def _part(self, index: Json) -> Json:
        """Return a part, made empty at first so that circles end; what is no number of a part is nothing."""
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(self._flat):
            return None
        for _ in range(8):  # wrappers in wrappers
            part = self._flat[index]
            match part:
                case [str() as mark, int() as other, *_] if mark in _WRAPPED and 0 <= other < len(self._flat):
                    index = other
                case _:
                    break
        if index not in self._made:
            self._made[index] = self._empty(index)
        return self._made[index]

    def _empty(self, index: int) -> Json:
        part = self._flat[index]
        match part:
            case [str() as mark, (str() | int() | float()) as value, *_] if mark in _TEXTS:
                return value
            case [str() as mark, *_] if mark in _MAPS:
                self._open.append(index)
                return {}
            case list():
                self._open.append(index)
                return []
            case dict():
                self._open.append(index)
                return {}
            case _:
                return part

    def _fill(self, index: int) -> None:
        part, made = self._flat[index], self._made[index]
        if isinstance(made, list) and isinstance(part, list):
            skipped = 1 if part and isinstance(part[0], str) else 0  # a mark: of a set, or of what is not known
            made.extend(self._part(child) for child in part[skipped:])
        elif isinstance(made, dict) and isinstance(part, dict):
            made.update((self._key(key), self._part(child)) for key, child in part.items())
        elif isinstance(made, dict) and isinstance(part, list):
            made.update(zip(map(self._name, part[1::2]), map(self._part, part[2::2]), strict=False))

    def _key(self, key: str) -> str:
        if self._numbered_keys and key[:1] == "_" and key[1:].isdecimal() and len(key) < 9:  # noqa: PLR2004 - more digits than MAX_PARTS has
            return self._name(int(key[1:])) or key
        return key

    def _name(self, part: Json) -> str:
        value = self._part(part) if isinstance(part, int) else part
        return scalar(value) if isinstance(value, (str, int, float)) else ""
