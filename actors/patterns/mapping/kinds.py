"""Finds the values that tell kinds apart and were the same on all pages seen: of other kinds nothing is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from actors.patterns.mapping.choices import is_of_many
from actors.patterns.mapping.slots import slots_of, stands_in
from actors.patterns.mapping.study import leaves
from actors.patterns.mapping.values import Levels, case_of, is_array, is_object, resolve
from protocol.patterns.mapping import CaseChoice, Each, Key, Known, One, Part, TemplateText, Test, ValueSource

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,19}(?:[_-][A-Za-z0-9]{1,19}){0,2}")
_MOST = 99
"""A larger number is more likely a count or an id than the number of a kind."""

_MAX_KNOWN = 60


def known_kinds(scopes: Sequence[Levels], used: Collection[ValueSource], words: str) -> tuple[Known, ...]:
    """Return what several pages have in common of what may tell kinds of them.

    `used` says what they show anyway, `words` are those of their template.
    """
    ends = tuple(_no_more(scopes, used))
    if len(scopes) < 2:  # noqa: PLR2004 - of one page nothing is told apart
        return ends
    shown = set(used)
    common = (each for each in _common(scopes) if each.test.source not in shown)
    return (*ends, *_counts(scopes, used, words), *common)[:_MAX_KNOWN]


def _counts(scopes: Sequence[Levels], used: Collection[ValueSource], words: str) -> Iterator[Known]:
    """Yield the arrays that had the same number of items on all pages, where the template has that number."""
    for source in used:
        arrays = [resolve(scope, source) for scope in scopes] if source.level == 0 else []
        lengths = {len(array) if is_array(array) else 0 for array in arrays}
        if len(lengths) == 1 and stands_in(str(length := lengths.pop()), words):
            yield Known(test=Test(source=source, asks="count"), cases=(str(length),))


def _no_more(scopes: Sequence[Levels], used: Collection[ValueSource]) -> Iterator[Known]:
    """Yield the arrays that never had an item beyond those read by place: what a page says of more, none tells."""
    level = len(scopes[0]) - 1
    last: dict[tuple[Key, ...], int] = {}
    for source in used:
        for place, key in enumerate(source.path):
            way = source.path[:place]
            if source.level == level and isinstance(key, int) and way not in ((), ("answers",)):
                last[way] = max(last.get(way, 0), key)
    for way, place in last.items():
        arrays = [resolve(scope, ValueSource(level=level, path=way)) for scope in scopes]
        if all(array is None or (is_array(array) and len(array) <= place + 1) for array in arrays):
            yield Known(test=Test(source=ValueSource(level=level, path=(*way, place + 1))), cases=("no",))


_KIND = frozenset({"type", "kind", "__typename", "_type", "component", "blocktype", "block_type", "layout", "format"})
_MAX_KINDS = 12
_SEVERAL = 4


def known_items(scopes: Sequence[Levels], parts: Sequence[Part]) -> tuple[Known, ...]:
    """Return the kinds of items seen, by the values that tell them apart or that their parts depend on."""
    first = scopes[0][-1].value
    level = len(scopes[0]) - 1
    known = list(_no_more(scopes, [source for part in parts for source in slots_of(part)]))
    if not is_object(first):
        return tuple(known)
    used = set(_tested(parts))
    for name in first:
        source = ValueSource(level=level, path=(name,))
        values = [scope[-1].value.get(name) if is_object(scope[-1].value) else None for scope in scopes]
        if len(scopes) >= _SEVERAL and not any(values) and all(map(_is_nothing, values)):
            known.append(Known(test=Test(source=source), cases=("no",)))
            continue
        if source not in used and name.lower() not in _KIND:
            continue
        test = Test(source=source, asks="value")
        cases = {case_of(test, scope) for scope in scopes}
        if all(map(_NAME.fullmatch, cases)) and len(cases) <= _MAX_KINDS and len(cases) * 2 <= len(scopes):
            known.append(Known(test=test, cases=tuple(sorted(cases))))
    return tuple(known)


def _is_nothing(value: object) -> bool:
    return value is None or ((is_array(value) or is_object(value)) and not value)


def _tested(parts: Sequence[Part]) -> Iterator[ValueSource]:
    """Yield the values that parts depend on."""
    for part in parts:
        match part:
            case One(node=node, when=when):
                if when is not None and when.asks == "value":
                    yield when.source
                if isinstance(node, TemplateText):
                    yield from (piece.test.source for piece in node.pieces if isinstance(piece, CaseChoice))
            case Each(parts=inner):
                yield from _tested(inner)


def _common(scopes: Sequence[Levels]) -> Iterator[Known]:
    for path, value in leaves(scopes[0][0].value):
        if path[:1] != ("answers",) or is_array(value) or is_of_many(ValueSource(path=path), scopes):
            continue
        test = _test(path, value)
        if test is None:
            continue
        cases = {case_of(test, scope) for scope in scopes}
        if len(cases) == 1:
            yield Known(test=test, cases=tuple(cases))


def _test(path: tuple[Key, ...], value: object) -> Test | None:
    source = ValueSource(path=path)
    match value:
        case bool():
            return Test(source=source, asks="value")
        case int() if abs(value) <= _MOST:
            return Test(source=source, asks="code")
        case str() if _NAME.fullmatch(value):
            return Test(source=source, asks="value")
        case _:
            return None
