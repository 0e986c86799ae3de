"""The shape of an API's answers as a JSON Schema, and how an answer has drifted from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, cast

from actors.patterns.mapping.flattened import unflattened
from protocol.patterns.use import Drift

MAX_DEPTH: Final = 10
MAX_PROPERTIES: Final = 200
MAX_ITEMS: Final = 200
"""Items of a list that a shape is taken from at most; an answer is held to it in all of them."""

MAX_NODES: Final = 2_000
"""Places that a shape describes at most; deeper ones are left open."""

PAGE_SIZE: Final = "x-pageSize"
COMPLETE: Final = "x-complete"
NO_MORE: Final = "x-noMore"
"""Annotations of lists, which validators pass over: the length that each had while there was more, the field that has
total_name that each was complete, and a field that has always total_name so."""

_MIN_PAGE: Final = 5
_ID: Final = re.compile(r"[0-9]{1,20}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|(?=[a-z]*[0-9])[0-9a-f]{16,64}")
_PROGRAM_NAME: Final = re.compile(r"[A-Za-z_$@][A-Za-z_$@:.]*\d{0,2}")
_MORE: Final = frozenset(
    {"next", "nextpage", "nextcursor", "nextpagetoken", "nexttoken", "nexturl", "nextlink", "hasmore", "hasnext"}
    | {"hasnextpage", "morepages", "continue", "continuation", "continuationtoken"}
)
"""What answers name the rest of a list by, without separators and capitals."""

_TOTALS: Final = ("total", "totalCount", "total_count", "count", "totalItems", "total_items", "totalResults")
_SEPARATORS: Final = str.maketrans("", "", "_-@. ")
_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"


def shape_of(answers: Sequence[Any]) -> dict[str, Any]:
    """Return the JSON Schema of answers: fields that are always there, their types, and which are never empty.

    Objects whose names are ids are described by `additionalProperties`. What was always null or empty is left open.
    Values that are named by their places are described where they are named.
    """
    return {"$schema": _SCHEMA} | _Shapes().of(list(map(unflattened, answers)), 0)


def drift_of(shape: Mapping[str, Any], answer: Any) -> tuple[Drift, str] | None:
    """Return how an answer is not of a shape, and where (`data.items[3].price`); None where it is.

    More is no drift, unless something else lacks.
    """
    drift = _drift(shape, unflattened(answer))
    return (drift[0], drift[1].removeprefix(".")) if drift else None


def without_more(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return a shape by which no answer may tell that there is more than it holds."""
    properties: Mapping[str, Mapping[str, Any]] = shape.get("properties", _NOTHING)
    closed = {name: {NO_MORE: True} if _tells_of_more(name) else without_more(one) for name, one in properties.items()}
    inner = {name: without_more(shape[name]) for name in ("items", "additionalProperties") if name in shape}
    return {**shape, **inner} | ({"properties": closed} if properties else {})


class _Shapes:
    """Describes values, and counts what it has described."""

    def __init__(self) -> None:
        self.nodes = 0

    def of(self, values: Sequence[Any], depth: int) -> dict[str, Any]:
        self.nodes += 1
        if depth >= MAX_DEPTH or self.nodes > MAX_NODES or not values:
            return {}
        types = sorted({_TYPES[type(value)] for value in values})
        if types == ["null"]:
            return {}
        shape: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
        if objects := [cast("dict[str, Any]", value) for value in values if isinstance(value, dict)]:
            shape |= self._object(objects, depth)
        if lists := [cast("list[object]", value) for value in values if isinstance(value, list)]:
            shape |= self._list(lists, depth)
        if (texts := [value for value in values if isinstance(value, str)]) and all(map(str.strip, texts)):
            shape["minLength"] = 1
        return shape

    def _object(self, objects: Sequence[dict[str, Any]], depth: int) -> dict[str, Any]:
        names = list(dict.fromkeys(name for one in objects for name in one))
        if _are_ids(names, objects):
            values = [value for one in objects for value in one.values()][:MAX_ITEMS]
            fewest = {"minProperties": 1} if all(objects) else {}
            return {"additionalProperties": self.of(values, depth + 1)} | fewest
        names = names[:MAX_PROPERTIES]
        return {
            "properties": {name: self._property(name, objects, depth) for name in names},
            "required": [name for name in names if not _tells_of_more(name) and all(name in one for one in objects)],
        }

    def _property(self, name: str, objects: Sequence[dict[str, Any]], depth: int) -> dict[str, Any]:
        holders = [one for one in objects if name in one]
        values = [one[name] for one in holders]
        if _tells_of_more(name):
            return {} if any(values) else {NO_MORE: True}
        shape = self.of(values, depth + 1)
        if shape.get("type") == "array":
            shape |= _paging([(one, len(one[name])) for one in holders])
        return shape

    def _list(self, lists: Sequence[list[Any]], depth: int) -> dict[str, Any]:
        share = max(1, MAX_ITEMS // len(lists))
        items = self.of([item for one in lists for item in one[:share]], depth + 1)
        return ({"items": items} if items else {}) | ({"minItems": 1} if all(lists) else {})


def _are_ids(names: Sequence[str], objects: Sequence[dict[str, Any]]) -> bool:
    """Return whether names are those of things: ids, or the one name of each of several objects, another in each."""
    if names and all(map(_ID.fullmatch, names)):
        return True
    own = all(len(one) == 1 for one in objects) and len(names) == len(objects) > 1
    return own and not any(map(_PROGRAM_NAME.fullmatch, names))


_Drifted = tuple[Drift, str] | None


def _drift(shape: Mapping[str, Any], value: Any) -> _Drifted:
    """Return how a value has drifted, and where within it; the way is written only where there is a drift."""
    types = shape.get("type")
    if types is None:
        return (Drift.PAGING, "") if NO_MORE in shape and value else None
    type_ = _TYPES[type(value)]
    if type_ != types and type_ not in types:
        return (Drift.EMPTIED if value is None else Drift.RETYPED), ""
    if type_ == "string":
        return (Drift.EMPTIED, "") if "minLength" in shape and not value.strip() else None
    if type_ == "object":
        return _drift_of_object(shape, value)
    return _drift_of_list(shape, value) if type_ == "array" else None


def _drift_of_object(shape: Mapping[str, Any], value: dict[str, Any]) -> _Drifted:
    for name in shape.get("required", ()):
        if name not in value:
            return Drift.MISSING, f".{name}"
    if "minProperties" in shape and not value:
        return Drift.EMPTIED, ""
    known: Mapping[str, Any] = shape.get("properties", _NOTHING)
    rest: Mapping[str, Any] | None = shape.get("additionalProperties")
    if rest is None and (renamed := _renamed(known, value)):
        return Drift.MISSING, f".{renamed}"
    for name, one in value.items():
        inner = known.get(name, rest)
        if inner is None:
            if _has_more({name: one}) or (isinstance(one, dict) and _has_more(cast("dict[str, Any]", one))):
                return Drift.PAGING, f".{name}"
        elif inner:
            drift = _drift(inner, one) or _drift_of_paging(inner, value, one)
            if drift:
                return drift[0], f".{name}{drift[1]}"
    return None


def _renamed(known: Mapping[str, Any], value: dict[str, Any]) -> str:
    """Return the field that may lack, but has another name now as far as one can tell: a name has come for it."""
    if value.keys() <= known.keys():
        return ""
    return next((name for name in known if name not in value), "")


def _drift_of_list(shape: Mapping[str, Any], value: list[Any]) -> _Drifted:
    if not value:
        return (Drift.EMPTIED, "") if "minItems" in shape else None
    items: Mapping[str, Any] | None = shape.get("items")
    if items:
        for number, one in enumerate(value):
            if drift := _drift(items, one):
                return drift[0], f"[{number}]{drift[1]}"
    return None


def _drift_of_paging(shape: Mapping[str, Any], holder: Mapping[str, Any], value: Any) -> _Drifted:
    size, total = shape.get(PAGE_SIZE), shape.get(COMPLETE)
    if (size is None and total is None) or not isinstance(value, list):
        return None
    length = len(cast("list[object]", value))
    if size is not None and length != size and _has_more(holder, length):
        return Drift.PAGING, ""
    return (Drift.PAGING, "") if total is not None and _is_over(holder.get(total), length) else None


def _paging(lists: Sequence[tuple[Mapping[str, Any], int]]) -> dict[str, Any]:
    """Return what the objects that hold a list, each with its length, tell of the rest of it."""
    lengths = {length for _, length in lists}
    if len(lists) > 1 and len(lengths) == 1 and min(lengths) >= _MIN_PAGE and all(_has_more(*one) for one in lists):
        return {PAGE_SIZE: min(lengths)}
    total_name = next((name for name in _TOTALS if all(holder.get(name) == length for holder, length in lists)), None)
    return {} if total_name is None else {COMPLETE: total_name}


def _has_more(holder: Mapping[str, Any], length: int | None = None) -> bool:
    if any(value and _tells_of_more(name) for name, value in holder.items()):
        return True
    return length is not None and any(_is_over(holder.get(name), length) for name in _TOTALS)


def _is_over(total: Any, length: int) -> bool:
    return isinstance(total, int) and not isinstance(total, bool) and total > length


@lru_cache(maxsize=1024)
def _tells_of_more(name: str) -> bool:
    return name.translate(_SEPARATORS).lower() in _MORE
