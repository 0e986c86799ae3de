"""Repairs a pattern whose API has changed: it keeps what it knows of its pages, and looks for what has moved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final, TypeVar, cast

from msgspec import Struct, structs

from actors.learner.patterns.drafting import PatternDraft, SampledPage, authorized, same_page
from actors.patterns.addresses import requests_of
from actors.patterns.answer_checks import EACH, Path, checks_of, met, nodes_of, source_paths
from actors.patterns.mapping import Shown
from actors.patterns.shapes import drift_of, shape_of
from actors.patterns.trust import MIN_PAGES
from protocol.patterns.mapping import Each, Join, Key, PageMapping, ValueSource
from protocol.patterns.pattern import ApiRequest, PagePattern

MAX_TRIED: Final = 60
"""Ways in which places may have moved that are tried at most; each makes all pages once."""

_ANSWERS: Final = "answers"
T = TypeVar("T")
S = TypeVar("S", bound=Mapping[str, Any])


@dataclass(frozen=True)
class Move:
    """A place that is gone, and the keys that lead to what stands there now, from the object that held it."""

    gone: Path
    now: tuple[Key, ...]


def repaired(pattern: PagePattern, pages: Sequence[SampledPage]) -> PatternDraft | None:
    """Return a pattern that makes pages again which it has not made of their answers as they are by now.

    Each of them, two at least, is then made as it was rendered, by what was learned of others: what the mapping knows
    of kinds of pages that are not among them stays known. None where the API has changed in another way than that
    requests have other addresses, or values other places.
    """
    if pattern.mapping is None or len(pages) < MIN_PAGES:
        return None
    found = requests_of([page.observed for page in pages], pattern.page) or ()
    requests = _in_place(pattern, found, pages)
    shown = [one for page in pages if requests and (one := page.shown(requests, pattern.page)) is not None]
    if len(shown) < len(pages):
        return None
    requests = tuple(
        authorized(one, pages[-1], answer) for one, answer in zip(requests, shown[-1].answers, strict=True)
    )
    if not all(set(one.auth_headers) <= one.auth_places.keys() for one in requests):
        return None
    for moves in _possible(pattern, [one.answers for one in shown]):
        mapping = _moved(pattern.mapping, moves, ((),))
        if all(same_page(mapping, one) for one in shown):
            return _draft(pattern, requests, shown, mapping, moves)
    return None


def _draft(
    pattern: PagePattern,
    requests: tuple[ApiRequest, ...],
    shown: Sequence[Shown],
    mapping: PageMapping,
    moves: Sequence[Move],
) -> PatternDraft:
    urls = tuple(one.url for one in shown)
    answers = [[one.answers[number] for one in shown] for number in range(len(requests))]
    kept = [_moved_shape(shape, number, moves) for number, shape in enumerate(pattern.shapes)]
    fitting = zip(kept, answers, strict=True)
    checks = [structs.replace(one, path=_path_after(one.path, moves)) for one in pattern.checks]
    for one in shown:
        checks = list(met(checks, one.slots, one.answers))
    echoes = [one for one in checks_of([(one.slots, one.answers) for one in shown], mapping, pattern.page) if one.slot]
    return PatternDraft(
        template=pattern.page,
        requests=requests,
        shapes=tuple(
            shape if all(drift_of(shape, answer) is None for answer in some) else shape_of(some)
            for shape, some in fitting
        ),
        mapping=mapping,
        checks=tuple(dict.fromkeys((*echoes, *checks))),
        made_of=urls,
        held_out=urls,
    )


# -- which requests stand in the place of those before ----------------------------------------------------------------


def _in_place(
    pattern: PagePattern, found: Sequence[ApiRequest], pages: Sequence[SampledPage]
) -> tuple[ApiRequest, ...]:
    """Return a request for each of a pattern: the same, or the one whose answers have most in common with its shape."""
    chosen: list[ApiRequest] = []
    for number, former in enumerate(pattern.requests):
        left = [one for one in found if one not in chosen]
        same = [one for one in left if (one.method, one.url, one.body) == (former.method, former.url, former.body)]
        if not left:
            return ()
        chosen.append(same[0] if same else max(left, key=lambda one: _likeness(pattern, number, one, found, pages[-1])))
    return tuple(chosen)


def _likeness(
    pattern: PagePattern, number: int, request: ApiRequest, found: Sequence[ApiRequest], page: SampledPage
) -> int:
    """Count the places that the answer to a request has on a page, and the answers to one of a pattern have had."""
    shown = page.shown(found, pattern.page)
    answer = None if shown is None else shown.answers[found.index(request)]
    return sum(_described(pattern.shapes[number], path[1:]) for path in nodes_of([answer]))


# -- where values have gone -------------------------------------------------------------------------------------------


def _possible(pattern: PagePattern, answers: Sequence[Sequence[Any]]) -> Iterator[tuple[Move, ...]]:
    """Yield how places of a mapping may have moved, beginning with that none has."""
    yield ()
    assert pattern.mapping is not None  # noqa: S101 - asked by who calls
    used = {_in_arrays(path) for path in source_paths(pattern.mapping)}
    there = frozenset(path for one in answers for path in nodes_of(one))
    gone = sorted((path for path in used if path not in there), key=len)
    first = [path for path in gone if not any(path[:length] in gone for length in range(1, len(path)))]
    groups: dict[Key, list[Path]] = {}
    for path in first:
        groups.setdefault(path[-1], []).append(path)
    # What always was there has most likely moved: its ways are tried first, and so vary fastest.
    likely_last = sorted(groups.values(), key=lambda some: any(_is_required(pattern.shapes, path) for path in some))
    ways = [[(), *_ways(some, there - used, pattern.shapes)] for some in likely_last]
    tried = (tuple(move for way in chosen for move in way) for chosen in product(*ways))
    yield from islice(filter(None, tried), MAX_TRIED)


def _ways(gone: Sequence[Path], there: Collection[Path], shapes: Sequence[Mapping[str, Any]]) -> list[tuple[Move, ...]]:
    """Return where places with one name may have gone, all alike; what no answer had before comes first."""
    tails: dict[tuple[Key, ...], list[bool]] = {}
    for path in gone:
        for one in there:
            held = len(one) == len(path) and one[:-1] == path[:-1]
            inside = len(one) == len(path) + 1 and one[:-1] == path and one[-1] != EACH
            if held or inside:
                is_new = not _described(shapes[int(one[0])], one[1:])
                tails.setdefault(one[len(path) - 1 :], []).append(is_new)
    ranked = sorted(tails, key=lambda tail: (not all(tails[tail]), len(tail), str(tail)))
    return [tuple(Move(path, tail) for path in gone) for tail in ranked]


def _is_required(shapes: Sequence[Mapping[str, Any]], path: Path) -> bool:
    """Return whether a place always was in the answers that had what holds it."""
    holder = _shape_at(shapes[int(path[0])], path[1:-1])
    return holder is not None and path[-1] in holder.get("required", ())


def _described(shape: Mapping[str, Any], path: Sequence[Key]) -> bool:
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


def _in_arrays(path: Path) -> Path:
    """Return a path in which every place in an array is one step."""
    return (*path[:1], *(EACH if isinstance(key, int) else key for key in path[1:]))


# -- what follows from that -------------------------------------------------------------------------------------------


def _moved(node: T, moves: Sequence[Move], levels: tuple[Path | None, ...]) -> T:
    """Return a part of a mapping whose sources are where they have moved; `levels` are the arrays around it."""
    if not moves:
        return node
    made: Any
    match node:
        case ValueSource():
            made = _moved_source(node, moves, levels)
        case Each() | Join():
            array = _absolute(node.source, levels)
            inner = (*levels, None if array is None else (*array, EACH))
            made = structs.replace(
                node, source=_moved_source(node.source, moves, levels), **_inside(node, moves, inner)
            )
        case Struct():
            made = structs.replace(
                node, **{name: _moved(getattr(node, name), moves, levels) for name in node.__struct_fields__}
            )
        case tuple():
            made = tuple(_moved(one, moves, levels) for one in cast("tuple[Any, ...]", node))
        case dict():
            made = {name: _moved(one, moves, levels) for name, one in cast("dict[str, Any]", node).items()}
        case _:
            made = node
    return cast("T", made)


def _inside(node: Each | Join, moves: Sequence[Move], levels: tuple[Path | None, ...]) -> dict[str, Any]:
    names = [name for name in node.__struct_fields__ if name != "source"]
    return {name: _moved(getattr(node, name), moves, levels) for name in names}


def _moved_source(source: ValueSource, moves: Sequence[Move], levels: tuple[Path | None, ...]) -> ValueSource:
    path, around = _absolute(source, levels), levels[source.level] if source.level < len(levels) else None
    if path is None or around is None:
        return source
    for move in moves:
        if _in_arrays(path)[: len(move.gone)] == move.gone and len(around) < len(move.gone):
            place = len(move.gone) - 1
            moved = (*path[len(around) : place], *move.now, *path[place + 1 :])
            return structs.replace(source, path=(_ANSWERS, *moved) if source.level == 0 else moved)
    return source


def _absolute(source: ValueSource, levels: tuple[Path | None, ...]) -> Path | None:
    around = levels[source.level] if source.level < len(levels) else None
    if around is None or (source.level == 0 and source.path[:1] != (_ANSWERS,)):
        return None
    return source.path[1:] if source.level == 0 else (*around, *source.path)


def _path_after(path: Path, moves: Sequence[Move]) -> Path:
    for move in moves:
        if path[: len(move.gone)] == move.gone:
            return (*path[: len(move.gone) - 1], *move.now, *path[len(move.gone) :])
    return path


def _moved_shape(shape: dict[str, Any], number: int, moves: Sequence[Move]) -> dict[str, Any]:
    """Return a shape in which what has moved is described where it is now."""
    moved = deepcopy(shape)
    for move in moves:
        if move.gone[0] != number:
            continue
        holder = _shape_at(moved, move.gone[1:-1])
        name, now = str(move.gone[-1]), [str(key) for key in move.now]
        properties: dict[str, Any] = {} if holder is None else holder.get("properties", {})
        if holder is None or name not in properties:
            continue
        described = properties.pop(name)
        if len(now) > 1:
            described = {"type": "object", "properties": {now[1]: described}, "required": now[1:]}
        properties[now[0]] = described
        holder["required"] = [now[0] if one == name else one for one in holder.get("required", ())]
    return moved
