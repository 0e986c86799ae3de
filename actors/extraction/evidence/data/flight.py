"""Reads the rows in which Next.js streams a page ("flight")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import orjson

from actors.extraction.evidence.data.broken_json import read_at
from actors.extraction.parse.values import Json

MAX_FAILURES = 10
"""How many unreadable pushes of one script are borne: each costs as much as the script is long."""

_PUSH = re.compile(r"__next_f\s{0,4}(?:=[^;(]{0,60}\))?\.push\(")
_ROW = re.compile(rb"([0-9a-fA-F]{1,8}):(?:T([0-9a-fA-F]{1,8}),)?")

_MODEL = frozenset((b"[", b"{", b'"'))
"""What the rows that hold data begin with: the others are imports (I), hints (H), errors (E) and the like."""


def pushed(scripts: Iterable[str]) -> list[str]:
    """Return the texts that a page's scripts push, in their order."""
    return [text for script in scripts for text in _texts(script)]


def rows(texts: Iterable[str]) -> list[Json]:
    """Return the values of the rows: objects, lists and texts.

    Rows are `id:json` up to a line break, or `id:T` with a length in hexadecimal, a comma and that many bytes, after
    which no line break stands: so they are cut as bytes.
    """
    stream = "".join(texts).encode("utf-8", "replace")
    values: list[Json] = []
    position = 0
    while found := _ROW.match(stream, position):
        if found.group(2):
            position = found.end() + int(found.group(2), 16)
            values.append(stream[found.end() : position].decode("utf-8", "replace"))
            continue
        line = stream.find(b"\n", found.end())
        position = len(stream) if line < 0 else line + 1
        values.extend(_value(stream[found.end() : position]))
    return values


def _texts(script: str) -> Iterator[str]:
    failures = 0
    for found in _PUSH.finditer(script):
        if failures > MAX_FAILURES:
            return
        match read_at(script, found.end()):
            case ([1, str() as text, *_], _):
                yield text
            case None:
                failures += 1
            case _:
                continue


def _value(row: bytes) -> Iterator[Json]:
    if row[:1] in _MODEL:
        try:
            yield orjson.loads(row)
        except ValueError:
            return
