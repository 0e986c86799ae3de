"""Reads the values that a page's scripts assign to global names, as data: nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import orjson

from actors.extraction.evidence.data import broken_json
from actors.extraction.parse.values import Json

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
        value = _value(script, start)
        if isinstance(value, (dict, list)) and value:
            yield name, value
        else:
            patience.spend(script, start)


def functions(script: str, names: tuple[str, ...]) -> Iterator[str]:
    """Return the expressions that must be run to know their value, of those names alone."""
    for name, start in _starts(script):
        if name in names and _FUNCTION.match(script, start):
            yield script[start : start + MAX_LITERAL_CHARS].strip()


def literal(text: str, start: int) -> Json:
    """Read the object or list that starts at a place of a script; None where there is none."""
    found = broken_json.read_at(text, start)
    if found is not None:
        return found[0]
    return _javascript(text[start : start + MAX_LITERAL_CHARS])


def _starts(script: str) -> Iterator[tuple[str, int]]:
    """Return the names and where their values start; each pattern begins with what is fast to look for."""
    seen: set[int] = set()
    for pattern in (_ASSIGNED, _DECLARED, _INITIAL):
        for found in pattern.finditer(script):
            if found.end() in seen or (pattern is not _ASSIGNED and _OF_A_NAME.match(script, found.start() - 1)):
                continue
            seen.add(found.end())
            yield found.group(1) if pattern is _ASSIGNED else found.group().partition("=")[0].strip(), found.end()
            if len(seen) > MAX_ASSIGNMENTS:
                return


def _value(script: str, start: int) -> Json:
    if parsed := _PARSED.match(script, start):
        return _parsed(script, parsed.end(), encoded=bool(parsed.group(1)))
    return literal(script, start)


def _parsed(script: str, start: int, *, encoded: bool) -> Json:
    """Read what a script hands to `JSON.parse` as a text."""
    quoted = _STRING.match(script, start, start + MAX_LITERAL_CHARS)
    text = string(quoted.group()) if quoted else ""
    values = broken_json.read(unquote(text) if encoded else text, repair=False)
    return values[0] if values else None


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


def _as_in_json(found: re.Match[str]) -> str:
    match found.group():
        case '"':
            return '\\"'
        case "\\'" | "\\`":
            return found.group()[1]
        case other:
            return other


def _javascript(text: str) -> Json:
    import chompjs  # noqa: PLC0415 - few pages need it

    try:
        value: Json = chompjs.parse_js_object(text)
    except (ValueError, RecursionError):
        return None
    return value
