"""The values of JSON, and the few questions that all readers of strange data ask of them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, list["Json"], dict[str, "Json"], None]  # noqa: UP007 - names itself
"""What a JSON text may hold."""

MAX_STEPS = 100_000
"""How many values of one page's data a walk looks at: no page of the data sets has a state with more that matters."""


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


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, cut at `limit` characters."""
    return " ".join(text[: 2 * limit].split())[:limit].rstrip()


def words(value: Json, limit: int) -> str:
    """Return a text or number as people read it: on one line, entities that were escaped twice as what they mean."""
    text = scalar(value)
    if "&" in text:
        text = html.unescape(html.unescape(text[: 2 * limit]))
    return one_line(text, limit)


def walk(value: Json, steps: int = MAX_STEPS) -> Iterator[dict[str, Json]]:
    """Return every object below a value in the order of the data, each once: shared and circular ones, too."""
    seen: set[int] = set()
    stack: list[Json] = [value]
    while stack and steps > 0:
        steps -= 1
        node = stack.pop()
        if not isinstance(node, (dict, list)) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            yield node
            stack.extend(child for child in reversed(node.values()) if isinstance(child, (dict, list)))
        else:
            stack.extend(child for child in reversed(node) if isinstance(child, (dict, list)))
