"""Repairs a pattern whose API has changed: what it knows of its pages is kept, and what has moved is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, Final, TypeVar, cast

from msgspec import Struct, structs

from actors.learner.patterns.drafting import PatternDraft, SampledPage, accounts_for, authorized, same_page
from actors.learner.patterns.moving import (
    ANSWERS,
    MAX_TRIED,
    Move,
    described,
    moved,
    moved_shape,
    path_after,
    possible_moves,
)
from actors.patterns.addresses import requests_of
from actors.patterns.answer_checks import checks_of, met, nodes_of, source_paths
from actors.patterns.mapping import Shown
from actors.patterns.mapping.flattened import unflattened
from actors.patterns.mapping.values import is_array, is_object
from actors.patterns.shapes import drift_of, shape_of, without_more
from actors.patterns.trust import MIN_PAGES
from protocol.patterns.mapping import Each, Key, PageMapping
from protocol.patterns.pattern import MAX_REQUESTS, AnswerCheck, ApiRequest, PagePattern

_ANSWERED: Final = re.compile(r"\{([0-9]):")
_LATEST: Final = (5, 3, MIN_PAGES)
"""How many of the latest pages are made at most, by turns: earlier ones may be of before a further change."""

T = TypeVar("T")


class _Way(Struct, frozen=True):
    """Requests in the place of those of a pattern, and the mapping that takes their answers."""

    requests: tuple[ApiRequest, ...]
    mapping: PageMapping


def repaired(pattern: PagePattern, group: Sequence[SampledPage]) -> PatternDraft | None:
    """Return a pattern that makes those pages of a group again, the latest last, which it does not make as it is.

    All of them, or the last few, two at least, are then made as they were rendered, by what was learned of others: what
    the mapping knows of kinds of pages that are not among them stays known. None where the API has changed in another
    way than that requests have other addresses, values other places or none, or a list comes in two answers for one, or
    in one again.
    """
    unmade = [page for page in group if not is_made(pattern, page)]
    sizes = sorted({min(size, len(unmade)) for size in _LATEST}, reverse=True)
    drafts = (_repaired(pattern, pattern.mapping, unmade[-size:]) for size in sizes if size >= MIN_PAGES)
    return next(filter(None, drafts), None)


def is_made(pattern: PagePattern, page: SampledPage) -> bool:
    """Return whether a pattern makes a page of answers whose shapes it knows."""
    shown = page.shown(pattern.requests, pattern.page)
    return shown is not None and accounts_for(pattern, shown)


def _repaired(pattern: PagePattern, mapping: PageMapping | None, pages: Sequence[SampledPage]) -> PatternDraft | None:
    if mapping is None:
        return None
    candidates = requests_of([page.observed for page in pages], pattern.page) or ()
    tries = iter(range(MAX_TRIED))
    for way in _ways(pattern, mapping, candidates, pages[-1]):
        shown = [one for page in pages if (one := page.shown(way.requests, pattern.page)) is not None]
        draft = _draft(pattern, way, shown, tries) if len(shown) == len(pages) else None
        if draft is not None:
            requests = tuple(map(authorized, draft.requests, repeat(pages[-1]), shown[-1].answers))
            can_ask = all(set(one.auth_headers) <= one.auth_places.keys() for one in requests)
            return structs.replace(draft, requests=requests) if can_ask else None
    return None


def _draft(pattern: PagePattern, way: _Way, shown: Sequence[Shown], tries: Iterator[int]) -> PatternDraft | None:
    possible = possible_moves(way.mapping, pattern.shapes, [one.answers for one in shown])
    for _, moves in zip(tries, possible, strict=False):
        mapping = moved(way.mapping, moves)
        if all(same_page(mapping, one) for one in shown):
            urls = tuple(one.url for one in shown)
            return PatternDraft(
                template=pattern.page,
                requests=way.requests,
                shapes=tuple(_shapes(pattern, way, moves, shown)),
                mapping=mapping,
                checks=_checks(pattern, mapping, moves, shown),
                made_of=urls,
                held_out=urls,
            )
    return None


def _shapes(pattern: PagePattern, way: _Way, moves: Sequence[Move], shown: Sequence[Shown]) -> Iterator[dict[str, Any]]:
    """Yield the shape of the answers to each request: as it was, with what has moved, if they are like that.

    Where the rest of a list is not asked for any more, an answer that has a rest is none of those.
    """
    for number in range(len(way.requests)):
        answers = [one.answers[number] for one in shown]
        known = moved_shape(pattern.shapes[number], number, moves) if number < len(pattern.shapes) else None
        if known is not None and len(way.requests) < len(pattern.requests):
            known = without_more(known)
        fits = known is not None and all(drift_of(known, answer) is None for answer in answers)
        yield known if known is not None and fits else shape_of(answers)


def _checks(
    pattern: PagePattern, mapping: PageMapping, moves: Sequence[Move], shown: Sequence[Shown]
) -> tuple[AnswerCheck, ...]:
    """Return what must stand in the answers: what had to before and does, and what says which page they are for."""
    kept = [structs.replace(one, path=path_after(one.path, moves)) for one in pattern.checks]
    for one in shown:
        kept = list(met(kept, one.slots, one.answers))
    checks = checks_of([(one.slots, one.answers) for one in shown], mapping, pattern.page)
    echoes = tuple(one for one in checks if one.slot)
    return (*echoes, *(one for one in kept if one not in echoes))


# -- which requests stand in the place of those before ----------------------------------------------------------------


def _ways(
    pattern: PagePattern, mapping: PageMapping, candidates: Sequence[ApiRequest], page: SampledPage
) -> Iterator[_Way]:
    """Yield what may be asked in the place of the requests of a pattern, of those that pages make now."""
    chosen: list[int] = []
    for number, former in enumerate(pattern.requests[: len(candidates)]):
        left = [one for one in range(len(candidates)) if one not in chosen]
        same = [one for one in left if _asks(candidates[one]) == _asks(former)]
        chosen.append(same[0] if same else max(left, key=lambda one: _likeness(pattern, number, one, candidates, page)))
    if len(chosen) < len(pattern.requests):
        mapping = _shortened(mapping, len(chosen))
        if all(int(path[0]) < len(chosen) for path in source_paths(mapping)):
            yield from _way(candidates, chosen, mapping)
        return
    yield from _way(candidates, chosen, mapping)
    for more in range(len(candidates)):
        if more not in chosen and len(chosen) < MAX_REQUESTS:
            answers = [_answer(number, candidates, page, pattern.page) for number in (*chosen, more)]
            longer = _continued(mapping, len(chosen), answers)
            yield from _way(candidates, [*chosen, more], longer)


def _way(candidates: Sequence[ApiRequest], order: Sequence[int], mapping: PageMapping) -> Iterator[_Way]:
    """Yield requests in an order, if each comes after those whose answers it takes values from."""
    requests: list[ApiRequest] = []
    for place, number in enumerate(order):
        one = candidates[number]
        needed = {int(name) for name in _ANSWERED.findall(f"{one.url}{one.body}")}
        if not needed <= set(order[:place]):
            return
        url, body = (
            _ANSWERED.sub(lambda name: f"{{{order.index(int(name[1]))}:", text) for text in (one.url, one.body)
        )
        requests.append(structs.replace(one, url=url, body=body))
    yield _Way(tuple(requests), mapping)


def _asks(request: ApiRequest) -> tuple[str, str, str]:
    return request.method, request.url, request.body


def _likeness(
    pattern: PagePattern, number: int, candidate: int, candidates: Sequence[ApiRequest], page: SampledPage
) -> int:
    """Count the places that the answer to a request has on a page, and the answers to one of a pattern have had."""
    nodes = nodes_of([_answer(candidate, candidates, page, pattern.page)])
    return sum(described(pattern.shapes[number], path[1:]) for path in nodes)


def _answer(number: int, candidates: Sequence[ApiRequest], page: SampledPage, template: str) -> object:
    shown = page.shown(candidates, template)
    return None if shown is None else unflattened(shown.answers[number])


# -- a list that comes in two answers ---------------------------------------------------------------------------------


def _continued(mapping: PageMapping, number: int, answers: Sequence[object]) -> PageMapping:
    """Return a mapping in which the items of a list are followed by those that the last answer has in its place."""

    def with_rest(each: Each) -> tuple[Each, ...]:
        first, way = answers[int(each.source.path[1])], each.source.path[2:]
        rest = _at(answers[-1], way)
        if not is_array(rest) or rest == _at(first, way):
            return (each,)
        source = structs.replace(each.source, path=(ANSWERS, number, *way))
        return each, structs.replace(each, source=source, first=each.between, may_lack=True)

    return _relisted(mapping, with_rest)


def _shortened(mapping: PageMapping, fewer: int) -> PageMapping:
    """Return a mapping without the items of what is not asked any more, which is all but the `fewer` first answers."""
    return _relisted(mapping, lambda each: (each,) if int(each.source.path[1]) < fewer else ())


def _relisted(node: T, change: Callable[[Each], tuple[Each, ...]]) -> T:
    """Return a part of a mapping with other parts in the place of those for each item of a list of an answer."""
    made: Any = node
    match node:
        case tuple():
            parts = cast("tuple[Any, ...]", node)
            made = tuple(
                chain.from_iterable(change(one) if _is_list(one) else (_relisted(one, change),) for one in parts)
            )
        case dict():
            made = {name: _relisted(one, change) for name, one in cast("dict[str, Any]", node).items()}
        case Struct():
            made = structs.replace(
                node, **{name: _relisted(getattr(node, name), change) for name in node.__struct_fields__}
            )
        case _:
            pass
    return cast("T", made)


def _is_list(part: object) -> bool:
    return isinstance(part, Each) and part.source.level == 0 and part.source.path[:1] == (ANSWERS,)


def _at(answer: object, way: Sequence[Key]) -> object:
    for key in way:
        answer = answer.get(str(key)) if is_object(answer) else None
    return answer
