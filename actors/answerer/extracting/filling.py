"""Fills the leaves of one object with the best of what sources say; two that say different things make it unsure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs

from actors.answerer.extracting.citing import CitedValue, cite, missing
from actors.answerer.extracting.evidence import Pair, SourceEvidence
from actors.answerer.extracting.schema import LeafKind
from actors.answerer.extracting.slots import Fit, LeafSlot, fit
from actors.answerer.extracting.values import Value, clock_times, read_value
from actors.answerer.extracting.words import LIKE, spoken

_SAME_PAIR = 0.03
"""A pair is given to the slots that it is like best, and to those that are nearly as like."""

_DISPUTED = 0.7
"""What is left of the confidence where another source of the same rank says something else."""

_RIVAL = 0.06

_PROSE, _PROSE_CHARS = 0.6, 100
"""What is left of the weight of a text of several sentences where a name or a place is asked for."""

UNLABELLED = "nothing in the sources is labelled so"

_TIME = frozenset({"time"})
_STARTS = (_TIME, frozenset({"start"}), frozenset({"start", "time"}), frozenset({"hour"}))
_ENDS = (_TIME, frozenset({"end"}), frozenset({"end", "time"}), frozenset({"hour"}))
"""Labels behind which a time of day stands beside its day."""

_FROM = re.compile(r"(?:from|ab|mindestens|min\.?|à partir de|desde|da|vanaf|od|over|more than)\b", re.IGNORECASE)
_UP_TO = re.compile(r"(?:up to|bis(?: zu)?|max\.?|jusqu'à|hasta|fino a|tot|do|until)\b", re.IGNORECASE)


class _Candidate(Struct, frozen=True):
    pair: Pair
    text: SourceEvidence
    value: Value
    score: float


def fill(
    wanted: Sequence[LeafSlot], evidence: Sequence[tuple[SourceEvidence, Sequence[Pair]]]
) -> dict[str, CitedValue]:
    """Return for each slot the best value that some pair of the evidence gives, by the slot's pointer."""
    candidates: dict[str, list[_Candidate]] = {slot.at: [] for slot in wanted}
    for text, pairs in evidence:
        for pair in pairs:
            for slot, fits in _takers(wanted, pair):
                value = _read(slot, pair, text, ranged=fits.ranged)
                if value.value is not None or value.reason:
                    score = fits.likeness * pair.weight * (_PROSE if _is_prose(slot, pair) else 1.0)
                    candidates[slot.at].append(_Candidate(pair, text, value, score))
    return {
        slot.at: _decided(slot, [*candidates[slot.at], *_timed(slot, candidates[slot.at], evidence)]) for slot in wanted
    }


def count_fits(wanted: Sequence[LeafSlot], pairs: Sequence[Pair], text: SourceEvidence) -> float:
    """Return how much of an object some pairs fill: the sum of how like the best pair of each slot is."""
    best: dict[str, float] = {}
    for pair in pairs:
        for slot, fits in _takers(wanted, pair):
            likeness = fits.likeness
            if likeness > best.get(slot.at, 0.0) and _read(slot, pair, text, ranged=fits.ranged).value is not None:
                best[slot.at] = likeness
    return sum(best.values())


def _takers(wanted: Sequence[LeafSlot], pair: Pair) -> Iterator[tuple[LeafSlot, Fit]]:
    each = [(slot, fit(slot, pair)) for slot in wanted]
    most = max((fits.likeness for _, fits in each), default=0.0)
    for slot, fits in each:
        if fits.likeness >= LIKE and (fits.shared or fits.likeness >= most - _SAME_PAIR):
            yield slot, fits


def _read(slot: LeafSlot, pair: Pair, text: SourceEvidence, *, ranged: bool) -> Value:
    value = read_value(slot.leaf, slot.words, text.raw(pair))
    if not ranged or value.value is None:
        return value
    other = structs.replace(slot.words, readings=(frozenset({"min" if slot.words.speaks_of("max", "end") else "max"}),))
    bound = read_value(slot.leaf, other, text.raw(pair))
    if bound.value != value.value:
        return value
    opening = _UP_TO if slot.words.speaks_of("max", "end") else _FROM
    return value if opening.match(pair.text.strip()) or slot.words.speaks_of("start") else Value(None)


def _is_prose(slot: LeafSlot, pair: Pair) -> bool:
    """Return whether a text behind a label goes on about it instead of saying it."""
    is_text = slot.leaf.kind is LeafKind.TEXT and not slot.words.speaks_of("description")
    return is_text and not pair.data and len(pair.text) > _PROSE_CHARS and ". " in pair.text


def _timed(
    slot: LeafSlot, candidates: Sequence[_Candidate], evidence: Sequence[tuple[SourceEvidence, Sequence[Pair]]]
) -> Iterator[_Candidate]:
    """Return a day with the time of day that stands beside it under a label of its own."""
    days = [each for each in candidates if each.value.day]
    if not days or any(each.value.value is not None for each in candidates):
        return
    best = max(days, key=lambda each: each.score)
    labels = _ENDS if slot.words.speaks_of("end") else _STARTS
    for text, pairs in evidence:
        for pair in pairs if text is best.text else ():
            clocks = clock_times(pair.text) if any(label in labels for label in pair.labels) else []
            if clocks and (len(clocks) > 1 or not slot.words.speaks_of("end") or pair.labels[0] != _TIME):
                clock = clocks[-1] if slot.words.speaks_of("end") else clocks[0]
                yield structs.replace(best, value=Value(f"{best.value.day}T{clock}:00", best.value.raw))
                return


def _decided(slot: LeafSlot, candidates: list[_Candidate]) -> CitedValue:
    valued = [each for each in candidates if each.value.value is not None]
    if not valued:
        reasons = [each.value.reason for each in candidates if each.value.reason]
        return missing(reasons[0] if reasons else UNLABELLED)
    valued = _called_alike(slot, valued)
    best = max(valued, key=lambda each: each.score)
    rivals = [each for each in valued if each.score >= best.score - _RIVAL]
    agreed = all(_same(slot, each.value.value, best.value.value) for each in rivals)
    return cite(slot, best.text, best.pair, best.value, best.score * (1.0 if agreed else _DISPUTED))


def _called_alike(slot: LeafSlot, valued: list[_Candidate]) -> list[_Candidate]:
    """Return those in a column of the very name of the slot, where they are as good as others of the same meaning."""
    name = spoken(slot.at.rpartition("/")[2])
    named = [each for each in valued if each.pair.column and spoken(each.pair.column) == name]
    best = max((each.score for each in valued), default=0.0)
    return named if any(each.score >= best - _SAME_PAIR for each in named) else valued


def _same(slot: LeafSlot, one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str) and slot.leaf.kind is LeafKind.TEXT:
        one, other = one.casefold(), other.casefold()
        return one == other or one in other or other in one
    return bool(one == other)
