"""Reads JSON as pages write it (commented out, cut, escaped twice), and values whose shape nobody guarantees."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import TypeAlias, Union

import orjson

from actors.extraction.parse.text import collapsed

MAX_CHARS = 2_000_000
"""A longer text is not read: the longest of 1,900 pages has 1,014,730 characters."""

MAX_REPAIR_CHARS = 60_000
"""How much text is handed to the repair, which takes about 3 s for a million characters."""

_WRAPPERS = re.compile(r"<!--|-->|(?://|/\*)?\s{0,4}(?:<!\[CDATA\[|\]\]>)\s{0,4}(?:\*/)?")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ufeff]")
_BAD_ESCAPES = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|)")
_TRAILING_COMMAS = re.compile(r",\s*([}\]])")
_BETWEEN = re.compile(r"[\s,;]*")
_OPENING = re.compile(r"[\[{]")

_DECODER = json.JSONDecoder(strict=False)

Json: TypeAlias = Union[bool, int, float, str, list["Json"], dict[str, "Json"], None]  # noqa: UP007 - names itself
"""What a JSON text may hold."""

MAX_STEPS = 100_000
"""How many values of one page's data a walk looks at: no page of the data sets has a state with more that matters."""


def read(text: str, *, repair: bool = True) -> list[Json]:
    """Return the values of a block, as many as it holds; nothing is raised, what cannot be read is left out."""
    if not text or len(text) > MAX_CHARS:
        return []
    try:
        return [orjson.loads(text)]
    except ValueError:
        return _read_broken(text, repair=repair)


def read_at(text: str, start: int) -> tuple[Json, int] | None:
    """Read the value that starts in the middle of a text: the value and where it ends."""
    try:
        value: Json
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value, end


def mapping(value: Json) -> dict[str, Json]:
    """Return a value as an object; the first of a list; empty for anything else."""
    if isinstance(value, list):
        value = next((item for item in value[:8] if isinstance(item, dict)), None)
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """Return a value as a list: itself, when it is none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def scalar(value: Json) -> str:
    """Return a text or number as text, "" for what holds others or nothing; the first of a list."""
    if isinstance(value, list):
        value = next((item for item in value[:8] if isinstance(item, (str, int, float))), None)
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) < 1e18 else ""  # noqa: PLR2004 - beyond it, no number of a page means anything
    return ""


def words(value: Json, limit: int) -> str:
    """Return a text or number as people read it: on one line, entities that were escaped twice as what they mean."""
    text = scalar(value)
    if "&" in text:
        text = html.unescape(html.unescape(text[: 2 * limit]))
    return collapsed(text, limit)


def walk(value: Json, steps: int = MAX_STEPS) -> Iterator[dict[str, Json]]:
    """Return every object below a value in the order of the data, each once: shared and circular ones, too."""
    visited: set[int] = set()
    stack: list[Json] = [value]
    while stack and steps > 0:
        steps -= 1
        node = stack.pop()
        if not isinstance(node, (dict, list)) or id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, dict):
            yield node
            stack.extend(child for child in reversed(node.values()) if isinstance(child, (dict, list)))
        else:
            stack.extend(child for child in reversed(node) if isinstance(child, (dict, list)))


def _read_broken(text: str, *, repair: bool) -> list[Json]:
    cleaned = _clean(text)
    return _sequence(cleaned) or _sequence(_TRAILING_COMMAS.sub(r"\1", cleaned)) or _lenient(cleaned, repair=repair)


def _clean(text: str) -> str:
    """Take off what pages wrap around JSON, and what JSON does not allow inside of a text."""
    text = _CONTROLS.sub(" ", _WRAPPERS.sub(" ", text)).strip().strip(";")
    if '"' not in text and "&quot;" in text:
        text = html.unescape(text)
    return _BAD_ESCAPES.sub(lambda escape: escape.group() if escape.group(1) else "\\\\", text)


def _sequence(text: str) -> list[Json]:
    """Read values that follow each other; nothing, when what is between them is no separator."""
    values: list[Json] = []
    opening = _OPENING.search(text)
    position = opening.start() if opening else len(text)
    while position < len(text):
        read_value = read_at(text, position)
        if read_value is None:
            return []
        values.append(read_value[0])
        between = _BETWEEN.match(text, read_value[1])
        position = between.end() if between else len(text)
        if position < len(text) and text[position] not in "[{":
            break
    return values


def _lenient(text: str, *, repair: bool) -> list[Json]:
    if len(text) > MAX_REPAIR_CHARS or not _OPENING.search(text):
        return []
    return _json5(text) or (_repaired(text) if repair else [])


def _json5(text: str) -> list[Json]:
    import pyjson5  # noqa: PLC0415 - few pages need it

    try:
        value: Json = pyjson5.decode(text, maxdepth=64)
    except (pyjson5.Json5Exception, ValueError, RecursionError):
        return []
    return [value] if isinstance(value, (dict, list)) else []


def _repaired(text: str) -> list[Json]:
    import json_repair  # noqa: PLC0415 - few pages need it, and it costs 5 MB

    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, KeyError):
        return []
    return [value] if isinstance(value, (dict, list)) and value else []
