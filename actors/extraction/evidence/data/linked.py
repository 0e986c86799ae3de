"""Reads linked data (JSON-LD) into a flat list of its objects, which may name each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from actors.extraction.evidence.data import broken_json
from actors.extraction.parse.values import Json

MAX_BLOCKS = 300
"""How many blocks of one page are read: the page with the most has 60."""

MAX_REPAIRS = 4
"""How many broken blocks of one page go to the repair: it is a thousand times slower than the parser."""

MAX_NODES = 2_000
MAX_CHARS = 3_000_000


def nodes(blocks: Iterable[str]) -> list[dict[str, Json]]:
    """Return the objects of all blocks in their order: those of lists and graphs one by one."""
    found: list[dict[str, Json]] = []
    characters = repairs = 0
    for number, block in enumerate(blocks):
        characters += len(block)
        if number >= MAX_BLOCKS or characters > MAX_CHARS or len(found) > MAX_NODES:
            break
        values = broken_json.read(block, repair=False)
        if not values and block.strip() and repairs < MAX_REPAIRS:
            repairs += 1
            values = broken_json.read(block)
        for value in values:
            found.extend(_flat(value))
    return found[:MAX_NODES]


def by_id(found: Iterable[dict[str, Json]]) -> dict[str, dict[str, Json]]:
    """Return the objects that others may refer to: the fullest of those that share an `@id`."""
    index: dict[str, dict[str, Json]] = {}
    for node in found:
        name = node.get("@id")
        if isinstance(name, str) and len(node) > len(index.get(name, ())):
            index[name] = node
    return index


def _flat(value: Json) -> Iterator[dict[str, Json]]:
    """Open lists and graphs; what an object holds in its properties stays there."""
    stack: list[Json] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node[:MAX_NODES]))
        elif isinstance(node, dict):
            if len(node) > 1 + ("@context" in node) or "@graph" not in node:
                yield node
            stack.append(node.get("@graph"))
