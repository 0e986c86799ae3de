"""Aligns the parts of several instances of a list (lines of Markdown, rows, links), and finds which belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from actors.patterns.mapping.study import Hit, StepBudget, ValueScope

_MAX_CELLS = 400_000
"""Pairs of parts that are compared at most to align two lists."""

_LEAST_ALIKE = 0.34
_EQUAL = 2.0


@dataclass(slots=True)
class Unit:
    """A part of a list: a line with the line ends before it, or any value; `repeat` stands for items of an array."""

    value: Any
    texts: tuple[str, ...]
    gap: str = ""
    indent: str = ""
    repeat: int = -1
    _features: frozenset[object] | None = field(default=None, init=False, repr=False)

    def features(self, scope: ValueScope) -> frozenset[object]:
        """Return what it has in common with others of its kind: its slots, and the words outside of them."""
        if self._features is None:
            candidates: set[object] = {(place, len(text)) for place, text in enumerate(self.texts) if not text}
            for place, text in enumerate(self.texts):
                hits = _longest(scope.hits(text))
                candidates.update((place, hit.place) for hit in hits)
                candidates.update((place, hit.place.source) for hit in hits)
                candidates.update((place, word) for word in _outside(text, hits).split())
            self._features = frozenset(candidates)
        return self._features


def _longest(hits: list[Hit]) -> list[Hit]:
    """Return the values that are no part of longer ones."""
    kept: list[Hit] = []
    spans: set[tuple[int, int]] = set()
    for hit in sorted(hits, key=lambda hit: hit.start - hit.end):
        if (hit.start, hit.end) in spans or not any(hit.start < end and start < hit.end for start, end in spans):
            spans.add((hit.start, hit.end))
            kept.append(hit)
    return kept


def _outside(text: str, hits: list[Hit]) -> str:
    """Return a text without the values that stand in it."""
    kept = bytearray(b"\x01" * len(text))
    for hit in hits:
        kept[hit.start : hit.end] = bytes(hit.end - hit.start)
    return "".join(letter if keep else " " for letter, keep in zip(text, kept, strict=True))


class Listing(Struct, frozen=True):
    """An instance of a list, and the values around it."""

    units: list[Unit]
    scope: ValueScope


Column = dict[int, Unit]
"""Units of several instances, by the number of the instance, that are one part of their template."""


def align(listings: Sequence[Listing], budget: StepBudget) -> list[Column]:
    """Return the parts of a template in their order, each with the units that are instances of it."""
    order = sorted(range(len(listings)), key=lambda number: -len(listings[number].units))
    first = order[0]
    columns: list[Column] = [{first: unit} for unit in listings[first].units]
    for number in order[1:]:
        columns = _merged(columns, number, listings, budget)
    return columns


def _merged(columns: list[Column], number: int, listings: Sequence[Listing], budget: StepBudget) -> list[Column]:
    units = listings[number].units
    scope = listings[number].scope

    def alike(column: Column, unit: Unit) -> float:
        known, other = next(iter(column.items()))
        return _alike(other, listings[known].scope, unit, scope)

    low = 0
    while low < min(len(columns), len(units)) and alike(columns[low], units[low]) == _EQUAL:
        columns[low][number] = units[low]
        low += 1
    rest, others = columns[low:], units[low:]
    if len(rest) * len(others) > _MAX_CELLS:
        budget.spend(budget.left + 1)
    budget.spend(len(rest) * len(others) // 8)
    scores = [[alike(column, unit) for unit in others] for column in rest]
    return columns[:low] + _traced(rest, others, scores, number)


def _traced(columns: list[Column], units: list[Unit], scores: list[list[float]], number: int) -> list[Column]:
    """Return the alignment of the highest score (Needleman and Wunsch, without a price for gaps)."""
    rows, width = len(columns), len(units)
    best = [[0.0] * (width + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        line, below, of_row = best[row], best[row + 1], scores[row]
        for place in range(width - 1, -1, -1):
            most = max(below[place], line[place + 1])
            if of_row[place] > 0:
                most = max(most, below[place + 1] + of_row[place])
            line[place] = most
    merged: list[Column] = []
    row = place = 0
    while row < rows and place < width:
        score = scores[row][place]
        if score > 0 and best[row][place] == best[row + 1][place + 1] + score:
            columns[row][number] = units[place]
            merged.append(columns[row])
            row, place = row + 1, place + 1
        elif best[row][place] == best[row + 1][place]:
            merged.append(columns[row])
            row += 1
        else:
            merged.append({number: units[place]})
            place += 1
    return merged + columns[row:] + [{number: unit} for unit in units[place:]]


def _alike(one: Unit, scope: ValueScope, other: Unit, other_scope: ValueScope) -> float:
    if one.repeat >= 0 or other.repeat >= 0:
        return _EQUAL if one.repeat == other.repeat else 0.0
    if one.texts == other.texts:
        return _EQUAL if one.value == other.value else 0.0
    if one.indent != other.indent and not (one.texts and other.texts):
        return 0.0
    features, others = one.features(scope), other.features(other_scope)
    common = len(features & others)
    alike = common / (min(len(features), len(others)) or 1)
    return alike if alike >= _LEAST_ALIKE else 0.0
