"""Finds the items of an array that stand on one line of a text, one after another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from actors.patterns.mapping.study import INNER, SlotKind, ValueScope, arrays
from actors.patterns.mapping.values import ValueLevel, is_array, resolve
from protocol.patterns.mapping import NUMBER, Key, ValueSource

Span = tuple[int, int]

_MAX_ARRAYS = 40
_MAX_ITEMS = 50
_MAX_GAP = 24
_LINK = re.compile(r"\[(?:\\.|[^\]\\])*\]\([^)\s]*\)")


class InlineItem(Struct, frozen=True):
    """An item, and where it stands in a text."""

    item: ValueLevel
    span: Span


class InlineList(Struct, frozen=True):
    """The items of an array in each of some texts, and what stands between two of them."""

    source: ValueSource
    items: tuple[tuple[InlineItem, ...], ...]
    between: str


def inline_lists(texts: Sequence[str], scopes: Sequence[ValueScope]) -> Iterator[InlineList]:
    """Yield the arrays whose items, all of them, stand in each text in their order."""
    for source in _sources(scopes):
        all_items = [_levels(resolve(scope.levels, source)) for scope in scopes]
        if any(not items for items in all_items) or max(map(len, all_items)) < 2:  # noqa: PLR2004 - one is no list
            continue
        candidates = [
            _spans(text, scope, source, items) for text, scope, items in zip(texts, scopes, all_items, strict=True)
        ]
        for place in dict.fromkeys(place for place in candidates[0] if all(place in each for each in candidates)):
            for linked in (False, True):
                known = _listed(texts, all_items, [each[place] for each in candidates], source, linked=linked)
                if known is not None:
                    yield known


def _sources(scopes: Sequence[ValueScope]) -> Iterator[ValueSource]:
    for level in reversed(range(len(scopes[0].levels))):
        paths: dict[tuple[Key, ...], None] = {}
        for scope in scopes[:10]:
            paths.update((path, None) for path, value in arrays(scope.levels[level].value) if is_array(value))
        yield from (ValueSource(level=level, path=path) for path in list(paths)[:_MAX_ARRAYS] if path != ("answers",))


def _levels(value: Any) -> list[ValueLevel]:
    if not is_array(value) or len(value) > _MAX_ITEMS:
        return []
    return [ValueLevel(item, number) for number, item in enumerate(value, 1)]


def _spans(text: str, scope: ValueScope, source: ValueSource, items: list[ValueLevel]) -> dict[SlotKind, list[Span]]:
    """Return where each value of the items stands in a text, for the values that stand there for all of them."""
    scope.study.budget.spend(len(items) // 8 + 1)
    index, owner_of = scope.study.index_of_items(resolve(scope.levels, source), items)
    places: dict[SlotKind, dict[int, list[Span]]] = {}
    for start, end, writing in index.find(text):
        if writing.path not in (INNER, (NUMBER,)):
            kind = SlotKind(ValueSource(path=writing.path), writing.form)
            places.setdefault(kind, {}).setdefault(owner_of[id(writing)], []).append((start, end))
    chains = ((kind, _chain(each, len(items))) for kind, each in places.items() if len(each) == len(items))
    return {kind: chain for kind, chain in chains if chain}


def _chain(spans: dict[int, list[Span]], count: int) -> list[Span]:
    """Return the spans of items one after another; none where they have another order."""
    chain: list[Span] = []
    at = 0
    for number in range(count):
        span = next((span for span in spans[number] if span[0] >= at), None)
        if span is None:
            return []
        chain.append(span)
        at = span[1]
    return chain


def _listed(
    texts: Sequence[str],
    all_items: Sequence[list[ValueLevel]],
    candidates: Sequence[list[Span]],
    source: ValueSource,
    *,
    linked: bool,
) -> InlineList | None:
    between: set[str] = set()
    items: list[tuple[InlineItem, ...]] = []
    for text, levels, chain in zip(texts, all_items, candidates, strict=True):
        spans = [_link_around(text, span) for span in chain] if linked else chain
        if None in spans:
            return None
        known = [span for span in spans if span is not None]
        between |= {text[one[1] : other[0]] for one, other in pairwise(known)}
        if len(between) > 1 or any(one[1] > other[0] for one, other in pairwise(known)):
            return None
        items.append(tuple(InlineItem(level, span) for level, span in zip(levels, known, strict=True)))
    gap = between.pop()
    return InlineList(source, tuple(items), gap) if gap and len(gap) <= _MAX_GAP else None


def _link_around(text: str, span: Span) -> Span | None:
    return next(
        (match.span() for match in _LINK.finditer(text) if match.start() < span[0] and span[1] < match.end()), None
    )
