"""Induces the template of a tree of values from several instances of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from statistics import mode
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace as replaced

from actors.patterns.mapping.choices import is_flag, is_telling, may_be_said, tests_of
from actors.patterns.mapping.kinds import known_items
from actors.patterns.mapping.left_out import line_everywhere
from actors.patterns.mapping.repeats import Repeat, Segments, repeats
from actors.patterns.mapping.sequences import Column, Listing, Unit, align
from actors.patterns.mapping.slots import slots_of
from actors.patterns.mapping.study import StepBudget, ValueScope, arrays, leaves, tokens
from actors.patterns.mapping.texts import Instance, induce_text
from actors.patterns.mapping.values import Levels, case_of, is_array, is_object, resolve, step
from protocol.patterns.mapping import (
    AsIs,
    CaseChoice,
    Each,
    Fields,
    Fixed,
    Items,
    Key,
    Node,
    One,
    Part,
    Raw,
    TemplateSlot,
    TemplateText,
    Test,
    ValueSource,
)

_TRIED_REPEATS = 12
_MAX_REPEATS = 6
_MAX_POOLED = 40
"""Items that a template is induced from; the others are seen when the page is rendered."""

READ_OUT = frozenset({"lists", "authors", "published", "modified", "description", "image", "product"})
"""What extraction reads out of some pages of a kind and not of others, though these say it too."""

_OPEN = ("value", "code")
"""What is asked where there may be more answers than pages have had."""

_SEVERAL = 2
_MAX_SAID = 200
_MAY_LACK = frozenset({"context", "caption", "rowCount"})


class Example(Struct, frozen=True):
    """A value of a page, and the values of answers around it."""

    value: Any
    scope: ValueScope


def induce_node(examples: Sequence[Example]) -> Node | None:
    """Return the template of values; None where what is around them does not account for how they differ."""
    kinds: set[type[object]] = {type(example.value) for example in examples}
    if kinds == {str}:
        pieces = induce_text([Instance(example.value, example.scope) for example in examples])
        return None if pieces is None else TemplateText(pieces=pieces)
    if kinds == {dict}:
        return induce_fields(examples, may_lack=_MAY_LACK.__contains__)
    if kinds == {list}:
        return _items(examples)
    first = examples[0].value
    if all(example.value == first for example in examples):
        return Fixed(value=first)
    return _raw(examples)


def _raw(examples: Sequence[Example]) -> Node | None:
    scopes = [example.scope.levels for example in examples]
    for level in reversed(range(len(scopes[0]))):
        common: set[ValueSource] | None = None
        for example, levels in zip(examples, scopes, strict=True):
            equal = {
                ValueSource(level=level, path=path)
                for path, value in leaves(levels[level].value)
                if type(value) is type(example.value) and value == example.value
            }
            common = equal if common is None else common & equal
        if common:
            return Raw(source=min(common, key=lambda source: (len(source.path), str(source.path))))
    return None


def induce_fields(
    examples: Sequence[Example], may_lack: Callable[[str], bool], read_out: frozenset[str] = READ_OUT
) -> Fields | None:
    """Return the template of objects; a field that is not accounted for is left out where it may lack."""
    names = dict.fromkeys(name for example in examples for name in example.value)
    fields: dict[str, One] = {}
    for name in names:
        having = [number for number, example in enumerate(examples) if name in example.value]
        those = [Example(examples[each].value[name], examples[each].scope) for each in having]
        node = (_distinct_texts(those) if name == "authors" else None) or induce_node(those)
        one = (
            None
            if node is None
            else placed(node, having, [example.scope for example in examples], uneven=name in read_out)
        )
        if one is not None:
            fields[name] = one
        elif not may_lack(name):
            return None
    return Fields(fields=fields)


def placed(node: Node, having: Sequence[int], scopes: Sequence[ValueScope], *, uneven: bool) -> One | None:
    """Return a field with the test that tells when it is there; None where nothing tells.

    An `uneven` one may be there wherever the answers have its values.
    """
    own = _wherever(node, having, scopes) if uneven else None
    if own is not None and all(_may_say(node, scope) for scope in scopes):
        return own
    return conditioned(node, having, scopes) or own


def _may_say(node: Node, scope: ValueScope) -> bool:
    """Return whether a page has the words that a field needs: those of its values, and those that never change."""
    values = (resolve(scope.levels, source) for source in _needed(node) if source.level == 0)
    texts = [value for value in (*values, *_constants(node)) if isinstance(value, str) and len(value) <= _MAX_SAID]
    return tokens(texts) <= scope.study.tokens


def _constants(node: Node) -> Iterator[Any]:
    match node:
        case Fixed(value=value):
            yield value
        case TemplateText(pieces=pieces):
            yield from pieces
        case Fields(fields=fields):
            for one in fields.values():
                yield from _constants(one.node) if one.when is None else ()
        case Items(parts=parts):
            for part in parts:
                yield from _constants(part.node) if isinstance(part, One) and part.when is None else ()
        case Raw():
            pass


def conditioned(node: Node, having: Sequence[int], scopes: Sequence[ValueScope]) -> One | None:
    """Return a part with the test that tells when it is there; None where nothing tells."""
    if len(having) == len(scopes):
        return One(node=node)
    there = set(having)
    wording = "" if slots_of(node) else " ".join(_texts(msgspec.to_builtins(node)))
    levels = [scope.levels for scope in scopes]
    for test, answers in _tests(node, levels, scopes[0].study.budget):
        yes = {answers[number] for number in there}
        elsewhere = {answers[number] for number in range(len(scopes)) if number not in there}
        likely = is_flag(answers) or is_telling(test, len(set(answers)), len(answers))
        if (
            test.asks != "value"
            and wording
            and not may_be_said(test, wording, min(len(there), len(scopes) - len(there)))
        ):
            continue
        if likely and len(yes) == 1 and yes.isdisjoint(elsewhere):
            others = () if is_flag(answers) or test.asks not in _OPEN else tuple(sorted(elsewhere))
            return One(node=node, when=test, case=yes.pop(), otherwise=others)
    return None


def _wherever(node: Node, having: Sequence[int], scopes: Sequence[ValueScope]) -> One | None:
    """Return a part that is there wherever the answers have its values; None where they have none for it."""
    tests = [Test(source=source) for source in _needed(node) if source.level == 0]
    if not tests:
        return None
    lacking = [test for test in tests if any(case_of(test, scope.levels) != "yes" for scope in scopes)]
    if not lacking:
        return One(node=node)
    if len(lacking) > 1 or any(case_of(lacking[0], scopes[number].levels) != "yes" for number in having):
        return None
    return One(node=node, when=lacking[0])


def _needed(node: Node) -> list[ValueSource]:
    """Return the sources of what a value has wherever it is."""
    match node:
        case Fields(fields=fields):
            parts: list[Part] = list(fields.values())
        case Items(parts=all_parts):
            parts = list(all_parts)
        case _:
            return slots_of(node)
    return [source for part in parts if not isinstance(part, One) or part.when is None for source in slots_of(part)]


def _tests(node: Node, levels: Sequence[Levels], budget: StepBudget) -> Iterator[tuple[Test, list[str]]]:
    """Yield the tests that may tell, those of the part's own slots first."""
    for source in slots_of(node):
        for length in range(len(source.path), 0, -1):
            test = Test(source=ValueSource(level=source.level, path=source.path[:length]))
            yield test, [case_of(test, each) for each in levels]
    yield from sorted(tests_of(levels, budget, codes=False), key=lambda each: each[0].asks != "present")


def _items(examples: Sequence[Example]) -> Node | None:
    listings = [
        Listing([Unit(value, tuple(_texts(value))) for value in example.value], example.scope) for example in examples
    ]
    parts = induce_parts(listings)
    return None if parts is None else Items(parts=parts)


def _distinct_texts(examples: Sequence[Example]) -> Items | None:
    """Return the template of lists of texts that the items of an array have, each once: all of them, or the first.

    Of the first there are as many as a list had at most.
    """
    roots = [example.scope.levels[0].value for example in examples]
    if max(len(example.value) for example in examples) < _SEVERAL:
        return None
    candidates: list[Items] = []
    for way, array in arrays(roots[0]):
        for path, value in leaves(array[0]) if is_array(array) else ():
            examples[0].scope.study.budget.spend()
            if value != examples[0].value[0]:
                continue
            texts = [_texts_at(each, way, path) for each in roots]
            pairs = list(zip(texts, examples, strict=True))
            if all(list(example.value) == those[: len(example.value)] for those, example in pairs):
                text = TemplateSlot(source=ValueSource(level=1, path=path), form=AsIs())
                part = One(node=TemplateText(pieces=(text,)))
                items = Items(parts=(Each(source=ValueSource(path=way), parts=(part,)),), distinct=True)
                if all(list(example.value) == those for those, example in pairs):
                    return items
                candidates.append(replaced(items, most=max(len(example.value) for example in examples)))
    return candidates[0] if candidates else None


def _texts_at(value: Any, way: Sequence[Key], path: Sequence[Key]) -> list[str]:
    """Return the texts that the items of an array have, each once; none where one of them has another value there."""
    array = _at(value, way)
    texts = [_at(item, path) for item in array] if is_array(array) else []
    return list(dict.fromkeys(texts)) if all(isinstance(text, str) for text in texts) else []


def _at(value: Any, path: Sequence[Key]) -> Any:
    for key in path:
        value = step(value, key)
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for each in value.values() if is_object(value) else value:
            yield from _texts(each)


def induce_parts(listings: Sequence[Listing]) -> tuple[Part, ...] | None:
    """Return the parts of lists: those that repeat for the items of arrays, and those that stand once."""
    if not any(listing.units for listing in listings):
        return ()
    listings = [Listing(list(listing.units), listing.scope) for listing in listings]
    candidates: list[Each] = []
    taken: set[ValueSource] = set()
    for repeat in islice(repeats(listings), _TRIED_REPEATS):
        if len(candidates) >= _MAX_REPEATS or repeat.source in taken or not _is_free(listings, repeat):
            continue
        each = _each(listings, repeat)
        if each is None:
            continue
        taken.add(repeat.source)
        _mark(listings, repeat, len(candidates))
        candidates.append(each)
    for listing in listings:
        _drop_marked(listing)
    parts = [_part(column, listings, candidates) for column in _paired(listings)]
    if not parts or None in parts:
        budget = listings[0].scope.study.budget
        parts = [_part(column, listings, candidates) for column in align(listings, budget)]
    return tuple(part for part in parts if part is not None)


def _paired(listings: Sequence[Listing]) -> list[Column]:
    """Return the parts of lists by their places, where each list has as many; else none."""
    count = len(listings[0].units)
    if any(len(listing.units) != count for listing in listings):
        return []
    columns = [{number: listing.units[place] for number, listing in enumerate(listings)} for place in range(count)]
    return columns if all(len({unit.repeat for unit in column.values()}) == 1 for column in columns) else []


def _part(column: Column, listings: Sequence[Listing], candidates: Sequence[Each]) -> Part | None:
    number = next(iter(column.values())).repeat
    return candidates[number] if number >= 0 else _one(column, listings)


_TAKEN = -2


def _is_free(listings: Sequence[Listing], repeat: Repeat) -> bool:
    return all(
        unit.repeat == -1
        for listing, segments in zip(listings, repeat.segments, strict=True)
        if segments.items
        for unit in listing.units[segments.bounds[0] : segments.bounds[-1]]
    )


def _mark(listings: Sequence[Listing], repeat: Repeat, number: int) -> None:
    """Let one unit stand for all items of a repeat."""
    for listing, segments in zip(listings, repeat.segments, strict=True):
        if segments.items:
            start, end = segments.bounds[0], segments.bounds[-1]
            gap = listing.units[start].gap
            listing.units[start] = Unit(None, (), gap, repeat=number)
            listing.units[start + 1 : end] = [Unit(None, (), repeat=_TAKEN) for _ in range(end - start - 1)]


def _drop_marked(listing: Listing) -> None:
    listing.units[:] = [unit for unit in listing.units if unit.repeat != _TAKEN]


def _each(listings: Sequence[Listing], repeat: Repeat) -> Each | None:
    """Return the template of the items, induced from those of all instances together."""
    items: list[Listing] = []
    firsts: list[str] = []
    others: list[str] = []
    for listing, segments in zip(listings, repeat.segments, strict=True):
        for number, (item, (start, end)) in enumerate(zip(segments.items, _pairs(segments), strict=True)):
            units = listing.units[start:end]
            (others if number else firsts).append(units[0].gap)
            inner = [replace(unit, gap=unit.gap if place else "") for place, unit in enumerate(units)]
            items.append(Listing(inner, listing.scope.inner(item)))
    parts = induce_parts(_some(items))
    if not parts or not any(slots_of(part) for part in parts):
        return None
    first = mode(firsts)
    return Each(
        source=repeat.source,
        parts=parts,
        limit=repeat.limit,
        first=first,
        between=mode(others) if others else first,
        may_lack=repeat.may_lack,
        known=known_items([item.scope.levels for item in items], parts),
    )


def _pairs(segments: Segments) -> list[tuple[int, int]]:
    return list(zip(segments.bounds, segments.bounds[1:], strict=False))


def _some(items: list[Listing]) -> list[Listing]:
    """Return items of all instances, from the beginning to the end."""
    if len(items) <= _MAX_POOLED:
        return items
    step = len(items) / _MAX_POOLED
    return [items[int(number * step)] for number in range(_MAX_POOLED)]


def _one(column: Column, listings: Sequence[Listing]) -> One | None:
    """Return a part that stands once; None for what nothing accounts for."""
    scopes = [listing.scope for listing in listings]
    node = induce_node([Example(unit.value, scopes[number]) for number, unit in column.items()])
    one = _line(node, {number: unit.value for number, unit in column.items()}, scopes)
    if one is None and node is not None:
        one = conditioned(node, list(column), scopes)
    if one is None:
        return None
    gap = mode([unit.gap for unit in column.values()])
    indent = max((unit.indent for unit in column.values()), key=len)
    return replaced(one, gap=gap, indent=indent)


def _line(node: Node | None, lines: Mapping[int, Any], scopes: Sequence[ValueScope]) -> One | None:
    """Return a line that all pages show, though not all had it, or had it alike; None where there is none."""
    plain = isinstance(node, TemplateText) and not any(isinstance(piece, CaseChoice) for piece in node.pieces)
    if (plain and len(lines) == len(scopes)) or not all(isinstance(line, str) for line in lines.values()):
        return None
    pieces = line_everywhere(lines, scopes)
    return None if pieces is None else One(node=TemplateText(pieces=pieces))
