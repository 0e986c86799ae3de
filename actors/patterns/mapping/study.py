"""Finds where the values of answers stand in the texts of pages, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, cast

from msgspec import Struct

from actors.patterns.mapping import dates
from actors.patterns.mapping.markup import escaped, is_html, target
from actors.patterns.mapping.numbers import CURRENCY_SIGNS
from actors.patterns.mapping.shown_text import ShownText
from actors.patterns.mapping.values import (
    DriftError,
    Levels,
    ValueLevel,
    forms,
    is_array,
    is_object,
    items_of,
    named,
    write,
)
from protocol.patterns.mapping import NUMBER, Count, Form, Key, Number, Rich, ValueSource

_TOKEN = re.compile(r"\d+|[぀-ヿ㐀-鿿가-힯]|[^\W\d_぀-ヿ㐀-鿿가-힯]+|[^\w\s]")
_SCRIPT = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_MAX_DEPTH = 10
_MAX_LEAVES = 1_500
_MAX_SCALARS = 12
"""Items of an array within an array that are looked for by their place; of other arrays it is the first alone."""

_ANSWERS: tuple[Key, ...] = ("answers",)
_ROOT = frozenset({"answers", "slots", "url"})
_ROWS: tuple[tuple[Key, ...], ...] = ((), _ANSWERS)
_MAX_HITS = 400
_COMPARED = 12
"""The first words of a text of which each must be on a page for the text to be looked for."""

_Written = tuple[str, int, str, Form]
"""A text, where its first token begins, that token, and the form that it was written in."""

_MAX_INNER = 100
_WRITINGS_A_STEP = 8
"""Of 40 applications the one with the longest lists has 14,000 writings of its items, and 44,000 steps to spare."""

INNER: tuple[Key, ...] = ("", "")
"""Stands for the path of a value that is deeper within an item: it tells whose a part is, and is no slot."""


class GiveUpError(Exception):
    """The budget is spent."""


@dataclass(slots=True)
class StepBudget:
    """The steps that an induction may take."""

    left: int

    def spend(self, steps: int = 1) -> None:
        """Count steps.

        Raises:
            GiveUpError: there are none left.
        """
        self.left -= steps
        if self.left < 0:
            raise GiveUpError


class SlotKind(NamedTuple):
    """A source in a form: what a slot is."""

    source: ValueSource
    form: Form


class Hit(NamedTuple):
    """A value in a text."""

    start: int
    end: int
    place: SlotKind


class Writing(NamedTuple):
    """A value as it may stand in a text: `offset` is where its first token begins."""

    text: str
    offset: int
    token: str
    path: tuple[Key, ...]
    form: Form


class ValueScope(Struct, frozen=True):
    """The values around a text of a page; `study` is what is known of that page."""

    study: Study
    levels: Levels

    def inner(self, level: ValueLevel) -> ValueScope:
        """Return the scope of an item."""
        return ValueScope(self.study, (*self.levels, level))

    def hits(self, text: str) -> list[Hit]:
        """Return where values stand in a text."""
        return [
            Hit(start, end, SlotKind(ValueSource(level=number, path=writing.path), writing.form))
            for number, level in enumerate(self.levels)
            for start, end, writing in self.study.index(level).find(text)
        ]


@dataclass(slots=True)
class Study:
    """What is known of a page: the tokens of its texts, and where its values may be looked up.

    `markdown`: values are escaped as in Markdown. `one_line`: blocks stand on one line. `shown` is all that the page
    shows, None where nobody knows it.
    """

    url: str
    tokens: frozenset[str]
    markdown: bool
    budget: StepBudget
    one_line: bool = False
    shown: ShownText | None = None
    _languages: tuple[str, ...] = field(init=False)
    _folded: frozenset[str] = field(init=False)
    _known: dict[tuple[type[object], Any], tuple[_Written, ...]] = field(default_factory=dict[Any, Any])
    _indexes: dict[tuple[int, int], Index] = field(default_factory=dict[tuple[int, int], Any])
    _writings: dict[tuple[int, int], tuple[list[Writing], Any]] = field(default_factory=dict[tuple[int, int], Any])
    _arrays: dict[int, tuple[Index, dict[int, int], Any]] = field(default_factory=dict[int, Any])
    _items: dict[int, tuple[list[Any], Any]] = field(default_factory=dict[int, tuple[list[Any], Any]])

    def __post_init__(self) -> None:
        self._languages = dates.languages(self.tokens)
        self._folded = frozenset(token.casefold() for token in self.tokens) | {"/", ":", ".", "-"}

    def index(self, level: ValueLevel) -> Index:
        """Return the index of a level's values."""
        key = (id(level.value), level.number)
        if key not in self._indexes:
            self._indexes[key] = Index(self.writings(level))
        return self._indexes[key]

    def items(self, value: Any) -> list[Any] | None:
        """Return the items of a value, the same objects each time."""
        if id(value) not in self._items:
            items = items_of(value)
            if items is None:
                return None
            self._items[id(value)] = (items, value)
        return self._items[id(value)][0]

    def index_of_items(self, value: Any, items: list[ValueLevel]) -> tuple[Index, dict[int, int]]:
        """Return the index of all values of an array's items, and which item each of its writings is of, by its id."""
        if id(value) not in self._arrays:
            owners: dict[int, int] = {}
            merged: list[Writing] = []
            for number, item in enumerate(items):
                merged += self.writings(item)
                merged += (Writing(*each[:3], INNER, each.form) for each in self.inner_writings(item))
                owners |= dict.fromkeys(map(id, merged[len(owners) :]), number)
            self._arrays[id(value)] = (Index(merged), owners, value)
        index, owners, _ = self._arrays[id(value)]
        return index, owners

    def writings(self, level: ValueLevel) -> list[Writing]:
        """Return how the values of a level may be written on this page."""
        key = (id(level.value), level.number)
        if key not in self._writings:
            known = [each for path, value in leaves(level.value) for each in self._of_value(path, value)]
            if level.number:
                known += (
                    Writing(text, offset, token, (NUMBER,), form)
                    for text, offset, token, form in self._formatted(level.number, (Number(),))
                )
            self._writings[key] = (known, level.value)  # what is held keeps its id
        return self._writings[key][0]

    def inner_writings(self, level: ValueLevel) -> Iterator[Writing]:
        """Yield how values of the items within an item may be written; what lies deep is reached by many ways."""
        for _, array in arrays(level.value):
            for number, item in enumerate((self.items(array) or ())[1:_MAX_INNER], 1):
                inner = ValueLevel(item, number)
                written = self.writings(inner)
                self.budget.spend(len(written) // _WRITINGS_A_STEP + 1)
                yield from written
                yield from self.inner_writings(inner)

    def _of_value(self, path: tuple[Key, ...], value: Any) -> Iterator[Writing]:
        if is_array(value):
            written: Iterable[_Written] = self._formatted(value, (Count(),))
        else:
            kind = cast("type[object]", type(value))
            key = (kind, value)
            if key not in self._known:
                self._known[key] = tuple(self._formatted(value, forms(value, self._languages, self.tokens)))
            written = self._known[key]
        for text, offset, token, form in written:
            yield Writing(text, offset, token, path, form)

    def _formatted(self, value: Any, known: Iterable[Form]) -> Iterator[_Written]:
        if isinstance(value, str) and not self._may_show(value):
            return
        texts: dict[str, list[tuple[str, int, str]]] = {}
        for form in known:
            self.budget.spend()
            try:
                text = write(form, value, ValueSource(), self.url, markdown=self.markdown)
            except DriftError:
                continue
            if self.one_line and isinstance(form, Rich):
                text = " ".join(text.split())
            if text not in texts:
                candidates = ((each, _TOKEN.search(each)) for each in self._escaped(text, form))
                texts[text] = [(each, match.start(), match[0]) for each, match in candidates if match]
            for each, offset, token in texts[text]:
                if token in self.tokens:
                    yield each, offset, token, form

    def _may_show(self, text: str) -> bool:
        """Return whether the first words of a text are among those of the page; HTML, dates and numbers have others."""
        if text[:1].isdigit() or text.startswith("-") or text in CURRENCY_SIGNS or is_html(text):
            return True
        return all(match[0].casefold() in self._folded for match in islice(_TOKEN.finditer(text[:500]), _COMPARED))

    def _escaped(self, text: str, form: Form) -> Sequence[str]:
        if not self.markdown or isinstance(form, Rich):
            return (text,)
        variants = [escaped(text, starts=False), escaped(text, starts=True)]
        if " " not in text:
            variants.append(target(text))
        return list(dict.fromkeys(variants))


class Index:
    """Values by their first tokens."""

    def __init__(self, writings: Iterable[Writing]) -> None:
        self._by_token: dict[str, list[Writing]] = {}
        for writing in writings:
            self._by_token.setdefault(writing.token, []).append(writing)

    def find(self, text: str) -> Iterator[tuple[int, int, Writing]]:
        """Yield where values stand, apart from longer words around them."""
        if not self._by_token:
            return
        count = 0
        for match in _TOKEN.finditer(text):
            for writing in self._by_token.get(match[0], ()):
                start = match.start() - writing.offset
                if start >= 0 and text.startswith(writing.text, start):
                    end = start + len(writing.text)
                    if _is_apart(text, start) and _is_apart(text, end):
                        count += 1
                        yield start, end, writing
            if count > _MAX_HITS:
                return


def _is_apart(text: str, at: int) -> bool:
    """Return whether no word or number goes on across a place."""
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isdigit() and after.isdigit():
        return False
    letters = before.isalpha() and after.isalpha()
    return not letters or _SCRIPT.match(before) is not None or _SCRIPT.match(after) is not None


def tokens(texts: Iterable[str]) -> frozenset[str]:
    """Return the words, numbers and signs of some texts."""
    return frozenset(token for text in texts for token in _TOKEN.findall(text))


def leaves(value: Any) -> Iterator[tuple[tuple[Key, ...], Any]]:
    """Yield the plain values of JSON and their paths, and arrays; those of rows are read by their places.

    How many requests have answered is no value: what holds their answers is left out.
    """
    count = 0
    stack: list[tuple[tuple[Key, ...], Any]] = [((), value)]
    while stack and count < _MAX_LEAVES:
        path, each = stack.pop()
        if is_object(each):
            if len(path) < _MAX_DEPTH:
                fields = named(each)
                stack.extend(((*path, key), fields[key]) for key in reversed(list(fields)[:_MAX_LEAVES]))
        elif is_array(each):
            count += 1
            if path != _ANSWERS or value.keys() != _ROOT:
                yield path, each
            most = _MAX_SCALARS if path in _ROWS or isinstance(path[-1], int) else 1
            stack.extend(((*path, place), each[place]) for place in reversed(range(min(most, len(each)))))
        elif each is not None:
            count += 1
            yield path, each


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts of JSON, of all depths; an array may be a tuple, as msgspec writes it."""
    stack: list[Any] = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            yield each
        elif is_object(each):
            stack.extend(each.values())
        elif is_array(each) or isinstance(each, tuple):
            stack.extend(cast("Iterable[Any]", each))


def arrays(value: Any) -> Iterator[tuple[tuple[Key, ...], Any]]:
    """Yield the arrays and objects of JSON that may have items of a page, and their paths."""
    stack: list[tuple[tuple[Key, ...], Any]] = [((), value)]
    count = 0
    while stack and count < _MAX_LEAVES:
        path, each = stack.pop()
        if len(path) > _MAX_DEPTH:
            continue
        if is_object(each):
            if _is_table(each) and path:
                yield path, each
            fields = named(each)
            stack.extend(((*path, key), fields[key]) for key in reversed(list(fields)[:_MAX_LEAVES]))
        elif is_array(each) and each:
            yield path, each
            most = _MAX_SCALARS if path in _ROWS else 1
            stack.extend(((*path, place), each[place]) for place in reversed(range(min(most, len(each)))))
        count += 1


def _is_table(fields: dict[str, Any]) -> bool:
    """Return whether an object may be a table of its keys: its values are of one kind."""
    kinds: set[type[object]] = {type(each) for each in fields.values()}
    return len(fields) > 1 and len(kinds) == 1 and kinds <= {str, int, float, dict}
