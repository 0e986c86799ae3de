"""Finds where values have gone in changed answers, and moves what knows of their places along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice, product
from typing import Any, Final, TypeVar, cast

from msgspec import Struct, structs

from actors.patterns.answer_checks import EACH, Path, absolute, in_arrays, nodes_of, source_paths, sources_in
from protocol.patterns.mapping import Each, Join, Key, One, PageMapping, Raw, ValueSource
from protocol.patterns.mapping import TemplateText as Text

MAX_TRIED: Final = 60
"""Ways in which places may have moved that are tried at most: a hostile site may offer any number."""

ANSWERS: Final = "answers"
"""The first step of a path that leads into answers, of which the number comes next."""

T = TypeVar("T")
S = TypeVar("S", bound=Mapping[str, Any])


class Move(Struct, frozen=True):
    """A place that is gone, and the keys that lead from what held it to what stands there now; none: it is no more."""

    gone: Path
    now: tuple[Key, ...]


def possible_moves(
    mapping: PageMapping, shapes: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[Any]]
) -> Iterator[tuple[Move, ...]]:
    """Yield how places of a mapping may have moved, by what the `answers` of pages have; first, that none has.

    `shapes` describe the answers that the mapping was made of.
    """
    yield ()
    used = set(source_paths(mapping))
    written = set(source_paths(mapping, "slot"))
    there = frozenset(path for one in answers for path in nodes_of(one))
    holders = {path[:length] for path in there for length in range(1, len(path))}
    places = (path for path in used if len(path) > 1)  # the answers themselves go nowhere
    gone = sorted((path for path in places if path not in there or path in written & holders), key=len)
    first = [path for path in gone if not any(path[:length] in gone for length in range(1, len(path)))]
    groups: dict[Key, list[Path]] = {}
    for path in first:
        groups.setdefault(path[-1], []).append(path)
    # What always was there has most likely moved: its ways are tried first, and so vary fastest.
    likely_last = sorted(groups.values(), key=lambda some: any(_is_required(shapes, path) for path in some))
    keys: dict[Path, list[Key]] = {}
    for path in there - used:
        keys.setdefault(path[:-1], []).append(path[-1])
    ways = [[(), *_ways(some, keys, shapes)] for some in likely_last]
    tried = (tuple(move for way in chosen for move in way) for chosen in product(*ways))
    yield from islice(filter(None, tried), MAX_TRIED)


def _ways(
    gone: Sequence[Path], keys: Mapping[Path, Sequence[Key]], shapes: Sequence[Mapping[str, Any]]
) -> list[tuple[Move, ...]]:
    """Return where places with one name may have gone, all alike; what no answer had before comes first.

    `keys` are those that lead on from places. Where there is nothing that no answer had before, they may be no more.
    """
    tails: dict[tuple[Key, ...], list[bool]] = {}
    for path in gone:
        beside = [(key,) for key in keys.get(path[:-1], ())]
        inside = [(path[-1], key) for key in keys.get(path, ()) if key != EACH]
        for tail in (*beside, *inside):
            number, place = int(path[0]), (*path[1:-1], *tail)
            is_new = number >= len(shapes) or not described(shapes[number], place)
            tails.setdefault(tail, []).append(is_new)
    ranked = sorted(tails, key=lambda tail: (not all(tails[tail]), len(tail), str(tail)))
    if not any(all(is_new) for is_new in tails.values()):
        ranked.append(())
    return [tuple(Move(path, tail) for path in gone) for tail in ranked]


def _is_required(shapes: Sequence[Mapping[str, Any]], path: Path) -> bool:
    """Return whether a place always was in the answers that had what holds it."""
    number = int(path[0])
    holder = _shape_at(shapes[number], path[1:-1]) if number < len(shapes) else None
    return holder is not None and path[-1] in holder.get("required", ())


def described(shape: Mapping[str, Any], path: Sequence[Key]) -> bool:
    """Return whether a shape says something of a place."""
    return _shape_at(shape, path) is not None


def _shape_at(shape: S, path: Sequence[Key]) -> S | None:
    """Return what a shape says of a place; None where it says nothing."""
    for key in path:
        inner = shape.get("items") if key == EACH else shape.get("properties", {}).get(key)
        inner = inner if inner is not None else shape.get("additionalProperties")
        if inner is None:
            return None
        shape = inner
    return shape


# -- what follows from that -------------------------------------------------------------------------------------------


def moved(node: T, moves: Sequence[Move], levels: tuple[Path, ...] = ((),)) -> T:
    """Return a part of a mapping whose sources are where they have moved; `levels` are the arrays around it.

    Without a place lines and fields are left out that are written of it.
    """
    if not moves:
        return node
    made: Any = node
    match node:
        case ValueSource():
            made = _moved_source(node, moves, levels)
        case Each() | Join():
            inner = (*levels, (*(absolute(node.source, levels) or ()), EACH))
            names = [name for name in node.__struct_fields__ if name != "source"]
            within = {name: moved(getattr(node, name), moves, inner) for name in names}
            made = structs.replace(node, source=_moved_source(node.source, moves, levels), **within)
        case Struct():
            every = node.__struct_fields__
            made = structs.replace(node, **{name: moved(getattr(node, name), moves, levels) for name in every})
        case tuple():
            parts = cast("tuple[Any, ...]", node)
            made = tuple(moved(one, moves, levels) for one in parts if _stands(one, moves, levels))
        case dict():
            fields = cast("dict[str, Any]", node).items()
            made = {name: moved(one, moves, levels) for name, one in fields if _stands(one, moves, levels)}
        case _:
            pass
    return cast("T", made)


def _stands(part: object, moves: Sequence[Move], levels: tuple[Path, ...]) -> bool:
    """Return whether a part is still written: a line or a field of nothing but what is gone for good is not."""
    match part:
        case One(node=Text() | Raw()):
            sources = [(source, around) for _, source, around in sources_in((part,), levels)]
        case Each(source=source):
            sources = [(source, levels)]
        case _:
            return True
    paths = [in_arrays(path) for source, around in sources if (path := absolute(source, around)) is not None]
    gone = [one.gone for one in moves if not one.now]
    return not paths or not all(any(path[: len(one)] == one for one in gone) for path in paths)


def _moved_source(source: ValueSource, moves: Sequence[Move], levels: tuple[Path, ...]) -> ValueSource:
    path = absolute(source, levels)
    if path is None:
        return source
    around = len(levels[source.level])
    for move in moves:
        if move.now and in_arrays(path)[: len(move.gone)] == move.gone and around < len(move.gone):
            place = len(move.gone) - 1
            now = (*path[around:place], *move.now, *path[place + 1 :])
            return structs.replace(source, path=(ANSWERS, *now) if source.level == 0 else now)
    return source


def path_after(path: Path, moves: Sequence[Move]) -> Path:
    """Return where a place of the answers is after some moves."""
    for move in moves:
        if move.now and path[: len(move.gone)] == move.gone:
            return (*path[: len(move.gone) - 1], *move.now, *path[len(move.gone) :])
    return path


def moved_shape(shape: dict[str, Any], number: int, moves: Sequence[Move]) -> dict[str, Any]:
    """Return the shape of the answers to a request in which what has moved is described where it is now."""
    made = deepcopy(shape)
    for move in moves:
        holder = _shape_at(made, move.gone[1:-1]) if move.gone[0] == number else None
        if holder is not None and move.gone[-1] in holder.get("properties", {}):
            _move(holder, str(move.gone[-1]), [str(key) for key in move.now])
    return made


def _move(holder: dict[str, Any], name: str, now: Sequence[str]) -> None:
    what, required = holder["properties"].pop(name), [one for one in holder.get("required", ()) if one != name]
    if now:
        rest: dict[str, Any] = {"type": "object", "properties": {now[-1]: what}, "required": [now[-1]]}
        holder["properties"][now[0]] = what if len(now) == 1 else rest
        required += [now[0]] if name in holder.get("required", ()) else []
    holder["required"] = required
