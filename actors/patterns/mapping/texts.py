"""Induces the template of a text from several instances of it: constants, slots and choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Struct

from actors.patterns.mapping.choices import (
    Explained,
    Pieces,
    Span,
    explains,
    is_of_many,
    likeliest,
    likelihood_of,
    tests_of,
)
from actors.patterns.mapping.inline import inline_lists
from actors.patterns.mapping.numbers import CURRENCY_SIGNS
from actors.patterns.mapping.study import Hit, SlotKind, StepBudget, ValueScope
from actors.patterns.mapping.values import forms_of, resolve
from protocol.patterns.mapping import (
    NUMBER,
    AsIs,
    CaseChoice,
    Day,
    Form,
    Join,
    JoinedAddress,
    Number,
    Piece,
    Rich,
    TemplateSlot,
    Test,
)

CENTS = 2
MONEY = frozenset(CURRENCY_SIGNS) | frozenset(CURRENCY_SIGNS.values())
"""Beside a sign of a currency a number has all its decimals."""

_MAX_LISTING = 1_500
_MAX_POOLED = 40
_TRIED_PLACES = 5
_TRIED_TESTS = 40
_MAX_OTHER_FORMS = 12
_MAX_DEPTH = 2
"""Choices within choices."""

_BARE_CHARS = 4
"""A shorter value that is the same on all pages, where the page says the same, is more likely chance."""


class Instance(Struct, frozen=True):
    """A text and the values around it."""

    text: str
    scope: ValueScope


def induce_text(instances: Sequence[Instance]) -> Pieces | None:
    """Return the pieces that all instances are made of; None where their values do not account for how they differ."""
    return _Texts(instances).pieces()


@dataclass(slots=True)
class _Texts:
    instances: Sequence[Instance]
    _hits: list[list[Hit]] = field(init=False)
    _memo: dict[tuple[int, tuple[tuple[int, Span], ...]], Pieces | None] = field(init=False)
    _tests: list[tuple[Test, list[str]]] | None = field(init=False, default=None)
    _budget: StepBudget = field(init=False)

    def __post_init__(self) -> None:
        self._hits = [each.scope.hits(each.text) for each in self.instances]
        self._memo = {}
        self._budget = self.instances[0].scope.study.budget

    def pieces(self) -> Pieces | None:
        """Return the pieces of the whole texts."""
        joined = self._of_list()
        whole = {number: (0, len(each.text)) for number, each in enumerate(self.instances)}
        return self._of(whole, depth=0) if joined is None else joined

    def _of_list(self) -> Pieces | None:
        """Return the pieces of texts that have the items of an array in one line."""
        texts = [each.text for each in self.instances]
        if not all(1 < len(text) <= _MAX_LISTING for text in texts):
            return None
        for candidates in islice(inline_lists(texts, [each.scope for each in self.instances]), _TRIED_PLACES):
            inner = [
                Instance(instance.text[slice(*each.span)], instance.scope.inner(each.item))
                for instance, items in zip(self.instances, candidates.items, strict=True)
                for each in items
            ]
            pieces = induce_text(inner[:_MAX_POOLED])
            repeated = any(
                len({instance.text[slice(*each.span)] for each in items}) < len(items)
                for instance, items in zip(self.instances, candidates.items, strict=True)
            )
            left = self._of({number: (0, each[0].span[0]) for number, each in enumerate(candidates.items)}, 0)
            ends = {number: (each[-1].span[1], len(texts[number])) for number, each in enumerate(candidates.items)}
            right = None if left is None else self._of(ends, 0)
            if pieces and left is not None and right is not None:
                join = Join(source=candidates.source, pieces=pieces, between=candidates.between, repeated=repeated)
                return _joined(left, (join,), right)
        return None

    def _of(self, spans: dict[int, Span], depth: int) -> Pieces | None:
        key = (depth, tuple(spans.items()))
        if key not in self._memo:
            self._budget.spend(len(spans))
            self._memo[key] = self._induced(spans, depth)
        return self._memo[key]

    def _induced(self, spans: dict[int, Span], depth: int) -> Pieces | None:
        texts = {number: self.instances[number].text[start:end] for number, (start, end) in spans.items()}
        equal = len(set(texts.values())) == 1
        if equal and not next(iter(texts.values())):
            return ()
        for place, candidates in self._occurrences(spans, equal=equal):
            before = {number: (spans[number][0], hit.start) for number, hit in candidates.items()}
            left = self._of(before, depth)
            if left is None:
                continue
            right = self._of({number: (hit.end, spans[number][1]) for number, hit in candidates.items()}, depth)
            if right is not None:
                slot = TemplateSlot(source=place.source, form=place.form, also=self._also(place, spans, candidates))
                return _joined(left, (slot,), right)
        if equal:
            return (next(iter(texts.values())),)
        return self._chosen(spans, texts, depth) if depth < _MAX_DEPTH else None

    def _occurrences(self, spans: dict[int, Span], *, equal: bool) -> Iterator[tuple[SlotKind, dict[int, Hit]]]:
        """Yield the slots that stand in each of some spans, the longest first."""
        candidates: dict[SlotKind, dict[int, list[Hit]]] = {}
        for number, (start, end) in spans.items():
            for hit in self._hits[number]:
                if start <= hit.start and hit.end <= end:
                    candidates.setdefault(hit.place, {}).setdefault(number, []).append(hit)
            if not candidates:
                return
        several = len(spans) > 1
        shared = [(place, hits) for place, hits in candidates.items() if len(hits) == len(spans)]
        if any(sign in self.instances[0].text for sign in MONEY):
            full = {place.source for place, _ in shared if _decimals(place.form) == CENTS}
            shared = [each for each in shared if each[0].source not in full or _decimals(each[0].form) in (None, CENTS)]
        ranked = sorted(shared, key=lambda each: _rank(*each))
        likely = (each for each in ranked if not (several and equal and self._may_be_chance(spans, each[1])))
        for place, hits in islice(likely, _TRIED_PLACES if several else 1):
            yield place, {number: each[0] for number, each in hits.items()}
            if any(len(each) > 1 for each in hits.values()):
                yield place, {number: each[-1] for number, each in hits.items()}

    def _also(
        self, place: SlotKind, spans: Mapping[int, Span], candidates: Mapping[int, Hit]
    ) -> tuple[TemplateSlot, ...]:
        """Return what else writes the same as a slot in all texts, and would write other values otherwise."""
        if isinstance(place.form, AsIs) and place.form.letters == "same":
            return ()
        common: set[SlotKind] | None = None
        for number, hit in candidates.items():
            there = {each.place for each in self._hits[number] if (each.start, each.end) == (hit.start, hit.end)}
            common = there if common is None else common & there
        others = [each for each in common or () if each.source == place.source and each != place]
        if any(sign in self.instances[0].text for sign in MONEY) and _decimals(place.form) == CENTS:
            others = [each for each in others if _decimals(each.form) in (None, CENTS)]
        others.sort(key=str)
        value = resolve(self.instances[next(iter(spans))].scope.levels, place.source)
        known = {forms_of(place.form, value)}
        also: list[TemplateSlot] = []
        for other in others:
            if len(also) < _MAX_OTHER_FORMS and (differs := forms_of(other.form, value)) not in known:
                known.add(differs)
                also.append(TemplateSlot(source=other.source, form=other.form))
        return tuple(also)

    def _may_be_chance(self, spans: Mapping[int, Span], hits: dict[int, list[Hit]]) -> bool:
        """Return whether a value that is the same everywhere may be of the template: it is short, or among words."""
        for number, (start, end) in spans.items():
            hit, text = hits[number][0], self.instances[number].text
            value = text[hit.start : hit.end]
            around = f"{text[start : hit.start]} {text[hit.end : end]}"
            if any(map(str.isalnum, around)) or (len(value) < _BARE_CHARS and not value.isalpha()):
                return True
        return False

    def _chosen(self, spans: dict[int, Span], texts: dict[int, str], depth: int) -> Pieces | None:
        """Return a choice that tells how the texts differ, the most likely of those that do."""
        start, end = _shared(list(texts.values()))
        if start or end:
            inner = {number: (span[0] + start, span[1] - end) for number, span in spans.items()}
            pieces = self._of(inner, depth)
            text = next(iter(texts.values()))
            if pieces is not None:
                return _joined((text[:start],), pieces, (text[len(text) - end :],))
        ranked: list[tuple[int, Test, dict[str, dict[int, Span]]]] = []
        if self._tests is None:
            scopes = [each.scope.levels for each in self.instances]
            all_tests = tests_of(scopes, self._budget, codes=True)
            self._tests = [each for each in all_tests if not is_of_many(each[0].source, scopes)]
        self._budget.spend(len(self._tests) * len(spans) // 8)
        for test, answers in self._tests:
            groups: dict[str, dict[int, Span]] = {}
            for number, span in spans.items():
                groups.setdefault(answers[number], {})[number] = span
            if len(groups) < 2:  # noqa: PLR2004 - it tells nothing
                continue
            likelihood = likelihood_of(test, groups, texts)
            if likelihood and (test.asks != "one" or self._says(test, spans)):
                ranked.append((-likelihood, test, groups))
        ranked.sort(key=lambda each: each[0])
        choices: list[Explained] = []
        for likelihood, test, groups in ranked[:_TRIED_TESTS]:
            cases = self._cases(groups, depth + 1)
            if cases is not None and explains(test, cases, groups, texts):
                choices.append(Explained(CaseChoice(test=test, cases=cases), groups, -likelihood))
        return likeliest(choices)

    def _says(self, test: Test, spans: Iterable[int]) -> bool:
        """Return whether texts say the number that their words are to go with."""
        return all(any(hit.place.source == test.source for hit in self._hits[number]) for number in spans)

    def _cases(self, groups: Mapping[str, dict[int, Span]], depth: int) -> dict[str, Pieces] | None:
        """Return the pieces of each case; None where those of one are not to be found."""
        cases: dict[str, Pieces] = {}
        for case, group in groups.items():
            pieces = self._of(group, depth)
            if pieces is None or (len(group) == 1 and _has_number(pieces)):
                return None
            cases[case] = pieces
        return cases


_PLAINEST: Mapping[type, int] = {AsIs: 0, Rich: 0, Number: 1, JoinedAddress: 1, Day: 2}


def _rank(place: SlotKind, hits: dict[int, list[Hit]]) -> tuple[int, int, int, int, int]:
    """Sort what writes most of the texts first; of equals the innermost, the plainest, the shortest path."""
    length = sum(each[0].end - each[0].start for each in hits.values())
    form = place.form
    changed = isinstance(form, AsIs) and form.letters != "same"
    plain = 3 if changed else _PLAINEST.get(type(form), 2)
    own_number = place.source.path == (NUMBER,)
    return (-length, -place.source.level, own_number, plain, len(place.source.path))


def _has_number(pieces: Pieces) -> bool:
    """Return whether constant words have a number: of one text nobody can tell whether another has the same."""
    return any(isinstance(piece, str) and any(map(str.isdigit, piece)) for piece in pieces)


def _decimals(form: Form) -> int | None:
    return form.decimals if isinstance(form, Number) else None


def _joined(left: Pieces, middle: Pieces, right: Pieces) -> Pieces:
    pieces: list[Piece] = []
    for piece in (*left, *middle, *right):
        if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
            pieces[-1] += piece
        elif piece != "":
            pieces.append(piece)
    return tuple(pieces)


def _shared(texts: Sequence[str]) -> tuple[int, int]:
    """Return how many characters of whole words texts begin and end with alike."""
    start = _shared_words(texts)
    end = _shared_words([text[start:][::-1] for text in texts])
    return start, end


def _shared_words(texts: Sequence[str]) -> int:
    shared = _prefix(texts)
    if all(len(text) == len(shared) or text[len(shared)].isspace() for text in texts):
        return len(shared)
    return max(shared.rfind(" "), shared.rfind("\u00a0")) + 1


def _prefix(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    count = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    return first[:count] if count is not None else first[: len(last)]
