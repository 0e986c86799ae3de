"""Keeps what is told of pages within bounds: in characters, in elements, and in bytes of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from actors.runner.reading.told import PageItem

MAX_ITEM_BYTES = 400_000
"""An item as JSON at most: it has to fit into one line of the ledger."""

MAX_RESULT_BYTES = 100_000_000
"""What all items of a run together may come to, so that a result fits into the memory of a replica."""

BRIEF_BYTES = 200_000
"""A brief result as JSON at most, well below what is told inline (002 §5)."""

MAX_TITLE_CHARS = 500
_LEAST_CHARS = 1_000
_AT_LEAST = 0.5
"""Share of what fits that must be left where a text is cut between two words."""

_LONG = ("content", "contentSections", "pageInfo")


def share_of(pages: int) -> int:
    """Return the bytes that one of so many items may come to."""
    return min(MAX_ITEM_BYTES, MAX_RESULT_BYTES // pages)


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, which ends between two lines or words where that loses little."""
    if len(text) <= most:
        return text
    least = int(most * _AT_LEAST)
    for gap in ("\n", " "):
        place = text.rfind(gap, least, most)
        if place > 0:
            return text[:place].rstrip()
    return text[:most]


def bounded(item: PageItem, most: int = MAX_ITEM_BYTES) -> PageItem:
    """Shorten an item until it fits: its content first, then its elements, then its sections."""
    while len(msgspec.json.encode(item)) > most:
        shorter = _shorter(item)
        if shorter is None:
            return item
        item = replace(shorter, truncated=True)
    return item


def _shorter(item: PageItem) -> PageItem | None:
    content, info, parts = item.content, item.page_info, item.content_sections
    if content is not UNSET and len(content) > _LEAST_CHARS:
        return replace(item, content=cut(content, len(content) // 2))
    if info is not UNSET and info.elements:
        return replace(item, page_info=replace(info, elements=info.elements[: len(info.elements) // 2]))
    if parts is not UNSET and parts:
        return replace(item, content_sections=parts[: len(parts) // 2])
    return None


def brief(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Take what is long out of the items of a result (as JSON says it), and as many of the last as do not fit then."""
    rest = {key: value for key, value in result.items() if key != name}
    left = BRIEF_BYTES - len(msgspec.json.encode(rest))
    items: Sequence[Mapping[str, Any]] = result.get(name) or ()
    shown = list[dict[str, Any]]()
    for item in items:
        short = _without_long(item)
        left -= len(msgspec.json.encode(short)) + 1
        if left < 0:
            break
        shown.append(short)
    told: dict[str, Any] = {**rest, name: shown}
    return told if len(shown) == len(items) else {**told, "itemsLeftOut": len(items) - len(shown)}


def _without_long(item: Mapping[str, Any]) -> dict[str, Any]:
    short = {key: value for key, value in item.items() if key not in _LONG}
    return {**short, "truncated": True} if len(short) < len(item) else short
