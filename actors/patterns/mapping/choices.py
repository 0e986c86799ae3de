"""Decides what a choice between words may rest upon: a flag, a state, whether there is a value; never chance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from actors.patterns.mapping.slots import sources_in
from actors.patterns.mapping.study import StepBudget, leaves
from actors.patterns.mapping.values import Levels, case_of, is_array, resolve
from protocol.patterns.mapping import CaseChoice, Piece, Test, ValueSource

Pieces = tuple[Piece, ...]
Span = tuple[int, int]

_MAX_CASES = 12
_MAX_CASE_CHARS = 120
"""Constants of a case: longer ones are prose, which no flag accounts for."""

Asks = Literal["value", "present", "one", "code"]
_ASKS: tuple[Asks, ...] = ("value", "present", "one")
_CODE = re.compile(r"-?\d{1,5}")
_MAX_DIGITS = 2
"""Digits of a number that is another on each page and yet tells a kind: longer ones are most likely ids."""

_MAX_CODE_CHARS = 12
"""Characters of such a name."""

_MAX_NAME_CHARS = 32
_MAX_RIVALS = 3
_SEVERAL = 2
_STEM_CHARS = 2
"""Letters that singular and plural begin with alike: `person` and `people`, not `minor` and `major`."""

_FLAGS = frozenset({"true", "false", "null"})
_CASE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,23}(?:[_-][A-Za-z0-9]{1,23}){0,3}")
"""Names that programs have for states and kinds."""

_TELLING = 5
_LOCALE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")


class Explained(Struct, frozen=True):
    """A choice that tells how texts differ, the texts of each case, and how likely it is."""

    choice: CaseChoice
    groups: dict[str, dict[int, Span]]
    likelihood: int

    @property
    def parted(self) -> set[frozenset[int]]:
        """Return which texts are alike."""
        return {frozenset(group) for group in self.groups.values()}


def likeliest(explained: Sequence[Explained]) -> Pieces | None:
    """Return the simplest choice; where several tests tell the same words apart, all of them have to be as they were.

    Which of them is right nothing tells, and what only one of them says of another page may be wrong.
    """
    if not explained:
        return None
    best = min(explained, key=lambda each: (_size(each.choice), -each.likelihood))
    if best.likelihood >= _TELLING or not _is_constant(best.choice.cases.values()):
        return (best.choice,)
    rivals = [
        each
        for each in explained
        if each is not best
        and each.choice.test.asks in ("value", "code")
        and each.likelihood >= best.likelihood
        and each.parted == best.parted
    ]
    if len(rivals) > _MAX_RIVALS:
        return None
    choice = best.choice
    for rival in rivals:
        observed_values = {frozenset(group): case for case, group in rival.groups.items()}
        cases: dict[str, Pieces] = {}
        for case, pieces in choice.cases.items():
            only = {observed_values[frozenset(best.groups[case])]: pieces}
            cases[case] = (CaseChoice(test=rival.choice.test, cases=only),)
        choice = CaseChoice(test=choice.test, cases=cases)
    return (choice,)


def tests_of(scopes: Sequence[Levels], budget: StepBudget, *, codes: bool) -> Iterator[tuple[Test, list[str]]]:
    """Yield the tests whose answers differ between scopes, with the answers; those of the innermost level first.

    `codes`: whole numbers may tell kinds as well.
    """
    for level in reversed(range(len(scopes[0]))):
        sources: dict[ValueSource, None] = {}
        for scope in scopes[:20]:
            value = scope[level].value
            for path, _ in leaves(value):
                for length in range(1, len(path) + 1) if path else (0,):
                    sources[ValueSource(level=level, path=path[:length])] = None
        budget.spend(len(sources) * len(scopes) // 2)
        for asks in (*_ASKS, "code") if codes else _ASKS:
            names = _CODE if asks == "code" else _CASE
            for source in sources:
                test = Test(source=source, asks=asks)
                answers = [case_of(test, scope) for scope in scopes]
                if 1 < len(set(answers)) <= _MAX_CASES and all(map(names.fullmatch, answers)):
                    yield test, answers


def is_flag(cases: Iterable[str]) -> bool:
    """Return whether the answers to a test are those of a flag."""
    return set(cases) <= _FLAGS


def is_telling(test: Test, cases: int, instances: int) -> bool:
    """Return whether a test may be why instances differ: a value that is another on each of them just names them."""
    return test.asks != "value" or cases * 2 <= instances


def likelihood_of(test: Test, groups: dict[str, dict[int, Span]], texts: dict[int, str]) -> int:
    """Return how likely the answers to a test are why texts differ, 0: they are not."""
    if test.asks in ("present", "one"):
        return 3 if test.asks == "one" else 2
    if is_flag(groups):
        return _TELLING - 1
    pairs = [(case, texts[number]) for case, group in groups.items() for number in group]
    if test.asks == "value":
        if all(case in text.split() for case, text in pairs):
            return 0
        if all(_akin(case, text) for case, text in pairs):
            return _TELLING
    is_named = len(groups) == len(texts) and not all(map(_LOCALE.fullmatch, groups))
    return 0 if is_named and not _may_be_names(test, groups, texts) else 1


def _may_be_names(test: Test, groups: Mapping[str, object], texts: Mapping[int, str]) -> bool:
    """Return whether values that are others on each page may be kinds, whose words are on the pages."""
    if not _may_name(test.source) or not _are_words(texts.values()) or len(set(texts.values())) < len(texts):
        return False
    if test.asks == "code":
        return all(len(case) <= _MAX_DIGITS for case in groups)
    return all(len(case) <= _MAX_CODE_CHARS and not any(letter.isdigit() for letter in case) for case in groups)


def _may_name(source: ValueSource) -> bool:
    """Return whether a value may name a kind: it is no piece of the address."""
    return source.path[:1] not in (("slots",), ("url",))


def is_of_many(source: ValueSource, scopes: Sequence[Levels]) -> bool:
    """Return whether a value is one of several of an array, which say nothing of what is around the array."""
    for place, key in enumerate(source.path):
        if isinstance(key, int) and place > 0 and source.path[:place] != ("answers",):
            above = ValueSource(level=source.level, path=source.path[:place])
            if any(is_array(value := resolve(scope, above)) and len(value) > 1 for scope in scopes):
                return True
    return False


def _are_words(texts: Iterable[str]) -> bool:
    """Return whether texts may be names of states and kinds, as a page has them."""
    return all(len(text) <= _MAX_NAME_CHARS and not any(letter.isdigit() for letter in text) for text in texts)


def explains(
    test: Test, cases: Mapping[str, Pieces], groups: Mapping[str, dict[int, Span]], texts: Mapping[int, str]
) -> bool:
    """Return whether pieces may be what a test decides: no prose, and nothing that chance tells as well."""
    constants = [[piece for piece in pieces if isinstance(piece, str)] for pieces in cases.values()]
    if any(sum(map(len, each)) > _MAX_CASE_CHARS for each in constants):
        return False
    if test.asks == "one":
        return _is_constant(cases.values()) and _are_numbers_of_a_word(["".join(each) for each in constants])
    if test.asks == "present":
        wording = "".join(constants[list(cases).index("yes")])
        return any(_is_below(source, test.source) for source in sources_in(cases["yes"])) or may_be_said(
            test, wording, min(map(len, groups.values()))
        )
    if len(groups) == len(texts) and not is_flag(groups) and not _is_constant(cases.values()):
        return len({frozenset(sources_in(pieces)) for pieces in cases.values()}) == 1
    return True


def may_be_said(test: Test, wording: str, observed_values: int) -> bool:
    """Return whether constant words may be there because of a value: it is named like them, or was `seen` often."""
    name = next((each for each in reversed(test.source.path) if isinstance(each, str)), "")
    return observed_values >= _SEVERAL or _akin(name, wording)


def _are_numbers_of_a_word(words: Sequence[str]) -> bool:
    """Return whether words may be the singular and plural of each other."""
    one, other = (word.strip().lower() for word in words)
    return (
        max(len(one), len(other)) <= _MAX_NAME_CHARS
        and "," not in one + other
        and (not (one and other) or one[:_STEM_CHARS] == other[:_STEM_CHARS])
    )


def _is_below(source: ValueSource, above: ValueSource) -> bool:
    return source.level == above.level and source.path[: len(above.path)] == above.path


def _is_constant(cases: Iterable[Pieces]) -> bool:
    return all(isinstance(piece, str) for pieces in cases for piece in pieces)


def _size(piece: Piece) -> int:
    """Return how many pieces a piece has: of several choices that tell how texts differ the simplest is right."""
    if isinstance(piece, CaseChoice):
        return 1 + sum(_size(each) for pieces in piece.cases.values() for each in pieces)
    return 1


def _akin(case: str, text: str) -> bool:
    """Return whether a name of a program and the words of a page share a word's beginning."""
    begins = {word[:4].lower() for word in case.replace("_", " ").replace("-", " ").split()}
    return any(word[:4].lower() in begins for word in text.split())
