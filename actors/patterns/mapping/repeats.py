"""Finds which parts of a list are the items of an array: runs of parts that begin alike and hold the items' values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import Struct

from actors.patterns.mapping.sequences import Listing, Unit
from actors.patterns.mapping.study import INNER, SlotKind, arrays
from actors.patterns.mapping.values import ValueLevel, resolve
from protocol.patterns.mapping import NUMBER, Key, ValueSource

_MAX_ITEMS = 500
_MAX_ARRAYS = 150
_LEAST_LIMIT = 3
"""Items of a longer array that a page must show for it to be taken for the beginning of the array."""

_LEAST_MENTION = 60
"""A value that is less of a text may be one of its words by chance."""

_TRIED_STARTS = 12
_TRIED_ANCHORS = 3
_STRONG_CHARS = 3
_LEAST_SHARE = 12
"""A part is an item's where its values are one of so many of the part's characters at least."""

_APART = 1_000_000
"""Longer than any text: the places of the next one begin there."""


class Segments(Struct, frozen=True):
    """The items of an array in one instance: `bounds` has their starts and the end of the last."""

    items: list[ValueLevel]
    bounds: list[int]

    @property
    def covered(self) -> int:
        """Return how many units they are."""
        return self.bounds[-1] - self.bounds[0] if self.items else 0


class Repeat(Struct, frozen=True):
    """An array, and where its items stand in each instance; `limit`: a page shows no more of them, 0: all."""

    source: ValueSource
    segments: tuple[Segments, ...]
    limit: int
    may_lack: bool

    @property
    def covered(self) -> int:
        """Return how many units of all instances it accounts for."""
        return sum(each.covered for each in self.segments)


class _Item(NamedTuple):
    """Where the values of one item stand: units by place, and how long the values are."""

    units: dict[SlotKind, list[int]]
    lengths: dict[SlotKind, int]
    owned: set[int]


def repeats(listings: Sequence[Listing]) -> Iterator[Repeat]:
    """Yield the repeats that some lists may have: those that account for the most parts first."""
    level = len(listings[0].scope.levels) - 1
    paths: dict[tuple[Key, ...], None] = {}
    for listing in listings[:30]:
        paths.update((path, None) for path, _ in arrays(listing.scope.levels[level].value))
    matches = [
        repeat
        for path in list(paths)[:_MAX_ARRAYS]
        for repeat in _of_array(listings, ValueSource(level=level, path=path))
    ]
    yield from sorted(matches, key=lambda repeat: -repeat.covered)


def _of_array(listings: Sequence[Listing], source: ValueSource) -> Iterator[Repeat]:
    all_items: list[list[ValueLevel]] = []
    values: list[Any] = []
    may_lack = False
    for listing in listings:
        value = resolve(listing.scope.levels, source)
        values.append(value)
        items = (listing.scope.study.items(value) or []) if value else []
        may_lack |= not items
        all_items.append([ValueLevel(item, number) for number, item in enumerate(items[:_MAX_ITEMS], 1)])
    if max(map(len, all_items)) < 2 or source.path == ("answers",):  # noqa: PLR2004 - one item repeats nothing
        return
    places = [
        _items(listing, value, items) if items else []
        for listing, value, items in zip(listings, values, all_items, strict=True)
    ]
    matches = False
    for anchor, limit in _anchors(places):
        segments = None if matches and anchor is None else _segments(listings, all_items, places, anchor, limit)
        if segments is not None:
            matches = True
            yield Repeat(source, segments, limit, may_lack)


def _items(listing: Listing, value: Any, levels: list[ValueLevel]) -> list[_Item]:
    """Return where the values of items stand."""
    index, owner_of = listing.scope.study.index_of_items(value, levels)
    listing.scope.study.budget.spend(len(listing.units) // 4 + len(owner_of) // 64 + 1)
    level = len(listing.scope.levels)
    units = listing.units if owner_of else []
    items = [_Item({}, {}, set()) for _ in levels]
    for number, unit in enumerate(units):
        spans: dict[int, list[tuple[int, int]]] = {}
        for place_of_text, text in enumerate(unit.texts if unit.repeat < 0 else ()):
            base = place_of_text * _APART
            for start, end, writing in index.find(text):
                owner = owner_of[id(writing)]
                spans.setdefault(owner, []).append((base + start, base + end))
                if writing.path in (INNER, (NUMBER,)) or (end - start) * _LEAST_MENTION < len(text):
                    continue
                place = SlotKind(ValueSource(level=level, path=writing.path), writing.form)
                items[owner].units.setdefault(place, []).append(number)
                items[owner].lengths[place] = end - start
        covered = {owner: _covered(each) for owner, each in spans.items()}
        most = max(covered.values(), default=0)
        for owner, length in covered.items():
            if length == most >= _STRONG_CHARS and length * _LEAST_SHARE >= sum(map(len, unit.texts)):
                items[owner].owned.add(number)
    return items


def _covered(spans: list[tuple[int, int]]) -> int:
    """Return how many characters some spans cover together."""
    count = last = 0
    for start, end in sorted(spans):
        count += max(0, end - max(start, last))
        last = max(last, end)
    return count


def _anchors(places: list[list[_Item]]) -> list[tuple[SlotKind | None, int]]:
    """Return the slots that stand in all items, or as many of the first in each instance; the most telling first.

    The last is none: items of several kinds have no slot in common.
    """
    candidates: dict[SlotKind, None] = {place: None for items in places for item in items[:1] for place in item.units}
    ranked: list[tuple[float, SlotKind, int]] = []
    for place in candidates:
        counts = [_chained(items, place) for items in places]
        limit = 0
        if any(count < len(items) for count, items in zip(counts, places, strict=True)):
            limit = max(counts)
            if limit < _LEAST_LIMIT or any(
                count < min(limit, len(items)) for count, items in zip(counts, places, strict=True)
            ):
                continue
        lengths = [item.lengths[place] for items in places for item in items if place in item.lengths]
        shown = sum(counts)
        ranked.append((shown * min(sum(lengths) / len(lengths), 40), place, limit))
    ranked.sort(key=lambda each: -each[0])
    known: list[tuple[SlotKind | None, int]] = [(place, limit) for _, place, limit in ranked[:_TRIED_ANCHORS]]
    if all(_chained(items, None) == len(items) for items in places):
        known.append((None, 0))
    return known


def _chained(items: list[_Item], place: SlotKind | None) -> int:
    """Return how many of the first items have a unit for a slot, each after that of the one before."""
    return len(_chain(items, place))


def _chain(items: list[_Item], place: SlotKind | None) -> list[int]:
    """Return the units that a slot has in the first items: of several such chains the longest, then the tightest."""
    if place is None:
        return _chain_of_owned(items)
    if not items or place not in items[0].units:
        return []
    best: list[int] = []
    for start in items[0].units[place][:_TRIED_STARTS]:
        chain = [start]
        for item in items[1:]:
            following = next((unit for unit in item.units.get(place, ()) if unit > chain[-1]), None)
            if following is None:
                break
            chain.append(following)
        if (len(chain), -(chain[-1] - chain[0])) > (len(best), -(best[-1] - best[0]) if best else 0):
            best = chain
    return best


def _chain_of_owned(items: list[_Item]) -> list[int]:
    """Return the first units of items by whatever values they have there."""
    chain: list[int] = []
    for item in items:
        following = min((unit for unit in item.owned if not chain or unit > chain[-1]), default=None)
        if following is None:
            break
        chain.append(following)
    return chain


def _segments(
    listings: Sequence[Listing],
    all_items: list[list[ValueLevel]],
    places: list[list[_Item]],
    anchor: SlotKind | None,
    limit: int,
) -> tuple[Segments, ...] | None:
    """Return the bounds of the items in each instance, around the units of their anchors."""
    chains = [_chain(items, anchor)[: limit or None] for items in places]
    before = _lead(chains, places)
    starts = [_starts(chain, items, before) for chain, items in zip(chains, places, strict=True)]
    if len({later - one for chain in chains for one, later in pairwise(chain)}) == 1:
        starts = [[max(anchor - before, 0) for anchor in chain] for chain in chains]
    head = _common(listings, starts, places)
    starts = [[start - head for start in each] for each in starts]
    reach, tail = _tails(listings, starts, places)
    telling = _conditional(starts, places)
    segments: list[Segments] = []
    for listing, items, known, each in zip(listings, all_items, places, starts, strict=True):
        if not each:
            segments.append(Segments([], []))
            continue
        end = _end(listing.units, each[-1], _units_of(known[len(each) - 1], telling), reach, tail)
        if each[0] < 0:
            return None
        segments.append(Segments(items[: len(each)], [*each, end]))
    return tuple(segments)


def _lead(chains: list[list[int]], places: list[list[_Item]]) -> int:
    """Return how many units before its anchor an item may begin."""
    most = 0
    for chain, items in zip(chains, places, strict=True):
        for number in range(1, len(chain)):
            start = _first_owned(chain[number], chain[number - 1] + 1, items[number], items[number - 1])
            most = max(most, chain[number] - start)
    return most


def _first_owned(anchor: int, least: int, item: _Item, previous: _Item | None) -> int:
    start = anchor
    for unit in range(anchor - 1, least - 1, -1):
        of_previous = previous is not None and unit in previous.owned
        if of_previous and unit not in item.owned:
            break
        if unit in item.owned and not of_previous:
            start = unit
    return start


def _starts(chain: list[int], items: list[_Item], before: int) -> list[int]:
    starts: list[int] = []
    for number, anchor in enumerate(chain):
        least = chain[number - 1] + 1 if number else max(anchor - before, 0)
        starts.append(_first_owned(anchor, least, items[number], items[number - 1] if number else None))
    return starts


def _common(listings: Sequence[Listing], starts: list[list[int]], places: list[list[_Item]]) -> int:
    """Return how many units of the same words stand before each item, the first as well: they belong to the items."""
    head = 0
    while True:
        texts = set[tuple[str, ...]]()
        for listing, each, items in zip(listings, starts, places, strict=True):
            for number, start in enumerate(each):
                at = start - head - 1
                if at < 0 or (number and (at in items[number - 1].owned or at <= each[number - 1])):
                    return head
                texts.add(listing.units[at].texts)
        if len(texts) != 1 or sum(map(len, starts)) < 2:  # noqa: PLR2004 - one item repeats nothing
            return head
        head += 1


def _tails(listings: Sequence[Listing], starts: list[list[int]], places: list[list[_Item]]) -> tuple[int, list[str]]:
    """Return how far the units with values of an item lie apart at most, and the words after the last of them."""
    reach = 1
    tails: list[list[str]] = []
    for listing, each, items in zip(listings, starts, places, strict=True):
        for number in range(len(each) - 1):
            owned = [unit for unit in range(each[number], each[number + 1]) if unit in items[number].owned]
            reach = max([reach, *(second - first for first, second in pairwise(owned))])
            last = owned[-1] if owned else each[number]
            tails.append([" ".join(unit.texts) for unit in listing.units[last + 1 : each[number + 1]]])
    return reach, min(tails, key=len) if tails else []


def _conditional(starts: list[list[int]], places: list[list[_Item]]) -> set[SlotKind]:
    """Return the slots that most items have between their own start and that of the next."""
    counts: Counter[SlotKind] = Counter()
    total = 0
    for each, items in zip(starts, places, strict=True):
        for number, (start, end) in enumerate(pairwise(each)):
            total += 1
            counts.update(
                place for place, units in items[number].units.items() if any(start <= unit < end for unit in units)
            )
    return {place for place, count in counts.items() if count * 2 > total}


def _units_of(item: _Item, telling: set[SlotKind]) -> set[int]:
    """Return the units that are an item's: by a long value, or by one that others have as well."""
    return item.owned | {unit for place, units in item.units.items() if place in telling for unit in units}


def _end(units: list[Unit], start: int, owned: set[int], reach: int, tail: list[str]) -> int:
    last = start
    while True:
        further = [unit for unit in range(last + 1, min(last + reach + 1, len(units))) if unit in owned]
        if not further:
            break
        last = further[-1]
    end = last + 1
    for text in tail:
        if end >= len(units) or " ".join(units[end].texts) != text:
            break
        end += 1
    return end
