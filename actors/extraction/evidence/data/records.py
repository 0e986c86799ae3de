"""Finds the records of a page's states that are about the page itself: those that bear its title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from actors.extraction.evidence.data.states import Framework, State
from actors.extraction.parse.values import Json, walk

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


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a state that bears the title of the page."""

    framework: Framework
    node: dict[str, Json]


def titled(states: Iterable[State], titles: Sequence[str]) -> tuple[Record, ...]:
    """Return the records that bear the page's title, the fullest first; a shorter part of it does not count.

    The name of the site stands in the title, too, and states have records of the site.
    """
    wanted = [f" {_plain(title)} " for title in titles if title]
    found: list[tuple[int, Record]] = []
    steps = MAX_STEPS
    for state in states if wanted else ():
        for node in walk(state.value, steps):
            steps -= len(node)
            named = _TITLES & node.keys()
            if named and (length := max(_title_chars(node[name], wanted) for name in named)):
                found.append((length, Record(state.framework, node)))
        if steps <= 0 or len(found) > 8 * MAX_RECORDS:
            break
    longest = max((length for length, _ in found), default=0)
    kept = [record for length, record in found if length >= _SAME_TITLE * longest]
    return tuple(sorted(kept, key=lambda record: -len(record.node))[:MAX_RECORDS])


def _title_chars(value: Json, wanted: list[str]) -> int:
    """Return how long a value is that is the page's title, 0 for another."""
    if not isinstance(value, str) or not _MIN_TITLE_CHARS <= len(value) <= _MAX_TITLE_CHARS or " " not in value:
        return 0
    plain = _plain(value)
    return len(plain) if plain and any(f" {plain} " in title for title in wanted) else 0


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
