"""Reads answers whose values stand in one array and are named by their places, as servers send states of pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from actors.patterns.mapping.values import is_array, is_object

_MAX_VALUES = 20_000
_MAX_DEPTH = 40
_KINDS = frozenset({"Reactive", "ShallowReactive", "Ref", "ShallowRef", "EmptyRef", "EmptyShallowRef", "Date"})
_OWN = frozenset({"Date", "Set", "BigInt", "RegExp", "Map", "null"})


def unflattened(answer: Any) -> Any:
    """Return an answer with its values where they are named; any other answer as it is."""
    if not _is_flat(answer):
        return answer
    budget = [_MAX_VALUES]
    return _value(answer, 0, 0, budget)


def _is_flat(answer: Any) -> bool:
    """Return whether an array begins with one of places in it, and all else that it holds is made of places, too."""
    if not is_array(answer) or len(answer) < 3:  # noqa: PLR2004 - a root, a value, and what names it
        return False
    first = answer[0]
    if is_array(first):
        is_pair = len(first) == 2 and isinstance(first[0], str)  # noqa: PLR2004 - kind and place
        return is_pair and first[0] in _KINDS and _is_place(first[1], answer)
    if not is_object(first) or not first:
        return False
    return all(_is_of_places(each, answer) for each in answer) and any(
        is_object(each) or is_array(each) for each in answer[1:]
    )


def _is_of_places(value: Any, answer: list[Any]) -> bool:
    """Return whether a value holds nothing but places, none of them the root, or is of a kind, or holds none."""
    held: Iterable[Any] = ()
    if is_object(value):
        held = value.values()
    elif is_array(value) and not (value and isinstance(value[0], str)):
        held = value
    return all(each != 0 and _is_place(each, answer) for each in held)


def _is_place(value: Any, answer: list[Any]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -7 <= value < len(answer)  # noqa: PLR2004 - signs


def _value(answer: list[Any], place: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or depth > _MAX_DEPTH or not _is_place(place, answer) or place < 0:
        return None
    value = answer[place]
    if is_object(value):
        return {name: _value(answer, each, depth + 1, budget) for name, each in value.items()}
    if not is_array(value):
        return value
    if value and isinstance(value[0], str):
        return _of_kind(answer, value, depth, budget)
    return [_value(answer, each, depth + 1, budget) for each in value]


def _of_kind(answer: list[Any], value: list[Any], depth: int, budget: list[int]) -> Any:
    """Return the value of a kind that JSON has not."""
    kind, *rest = value
    if kind == "Set":
        return [_value(answer, each, depth + 1, budget) for each in rest]
    if kind in _OWN:
        return rest[0] if kind == "Date" and rest and isinstance(rest[0], str) else None
    return _value(answer, rest[0], depth + 1, budget) if rest else None
