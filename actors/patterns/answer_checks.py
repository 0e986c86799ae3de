"""What must stand in the answers of an API beyond their shape, where a pattern is used."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from actors.patterns.mapping.flattened import unflattened
from actors.patterns.mapping.slots import stands_in, words_in
from actors.patterns.mapping.values import named
from protocol.patterns.mapping import CaseChoice, Each, Fields, Items, Join, Key, One, PageMapping, Raw, ValueSource
from protocol.patterns.mapping import TemplateSlot as Slot
from protocol.patterns.mapping import TemplateText as Text
from protocol.patterns.pattern import AnswerCheck, PagePattern

EACH: Final = "*"
"""The step that leads to every item of an array."""

MAX_CHECKS: Final = 120
_MAX_CHARS: Final = 64
_MAX_SLUG_CHARS: Final = 300
_MANY_WORDS: Final = 3
"""Hyphens of a slug that may have the first words of a title alone."""

_SLOT: Final = re.compile(r"\{(\w+)(?:=[^{}]*)?\}")
_NUMBER: Final = re.compile(r"\d(?:[\d.,' \u00a0\u202f\u2019]*\d)?")
_MARK_BYTES: Final = 8
_TELLING_CHARS: Final = 40
"""So long a text is not on two pages by chance."""

_MAX_VISITED: Final = 20_000
_MAX_DEPTH: Final = 8

Path = tuple[Key, ...]
Values = dict[Path, list[Any]]


def checks_of(
    pages: Sequence[tuple[Mapping[str, str], Sequence[Any]]], mapping: PageMapping, template: str
) -> tuple[AnswerCheck, ...]:
    """Return what holds for the answers of all `pages` (pieces of the address, and answers), two at least.

    `template` is that of their addresses.

    A piece of the address that differs between pages and stands in the answer is to stand there always: else it is the
    answer of another page. A word, a truth value or an absence that was the same everywhere and that the mapping does
    not write may have become words of the page's template, which are wrong as soon as it is another; so may a number
    that these words have, and what the mapping writes in one place and has among such words in another.
    """
    values = [_values(answers) for _, answers in pages]
    shared = [path for path in values[0] if all(path in other for other in values[1:])]
    echoes = [
        AnswerCheck(path=path, slot=piece)
        for piece in _pieces(template)
        for path in shared
        if _echoed(path, piece, pages, values)
    ]
    slotted_paths, words = set(source_paths(mapping)), words_in(mapping.markdown)
    written, holders = frozenset(_numbers(words)), {path for other in values for path in _holders(other)}
    fixed = [
        AnswerCheck(path=path, value=values_known[0])
        for path in shared
        if (values_known := [one for other in values for one in other[path]])
        if path not in slotted_paths or _stands(values_known[0], words, written)
        if _is_fixed(values_known, written) and not (_is_nothing(values_known[0]) and path in holders)
    ]
    return (*echoes, *fixed)[:MAX_CHECKS]


def tells_pages_apart(pattern: PagePattern) -> bool:
    """Return whether an answer says which page it is for, as far as pages have addresses of their own."""
    return not _SLOT.search(pattern.page) or any(check.slot for check in pattern.checks)


def mark_of(mapping: PageMapping, answers: Sequence[Any]) -> str:
    """Return what answers are known by: the long texts that a mapping writes of them; "" where it writes none.

    What a page says of its own address is no part of it, nor where the texts stand. That two pages have short ones, as
    those of searches without results do, says nothing.
    """
    values = _values(answers)
    written = (one for path in set(source_paths(mapping, "slot")) for one in values.get(path, ()))
    long = sorted({one for one in written if isinstance(one, str) and len(one) >= _TELLING_CHARS})
    return (
        hashlib.blake2b("\n".join(long).encode("utf-8", "replace"), digest_size=_MARK_BYTES).hexdigest() if long else ""
    )


def met(checks: Sequence[AnswerCheck], slots: Mapping[str, str], answers: Sequence[Any]) -> tuple[AnswerCheck, ...]:
    """Return those of the checks that answers meet; a place that is not there says nothing against a fixed value."""
    values = _values(answers) if checks else {}
    holders = _holders(values)
    return tuple(check for check in checks if _is_met(check, slots, values, holders))


def first_unmet(checks: Sequence[AnswerCheck], slots: Mapping[str, str], answers: Sequence[Any]) -> str:
    """Return the place of the first check that answers do not meet; "" where they meet all."""
    values = _values(answers) if checks else {}
    holders = _holders(values)
    unmet = (check for check in checks if not _is_met(check, slots, values, holders))
    return next((".".join(map(str, check.path)) for check in unmet), "")


def absences(former: PagePattern, pages: Sequence[Sequence[Any]]) -> tuple[AnswerCheck, ...]:
    """Return what `former` wrote and the answers of `pages` have no more: if it comes back, a page says it again."""
    values = [_values(answers) for answers in pages]
    there = {path for one in values for path in (*one, *_holders(one))}
    written = () if former.mapping is None else source_paths(former.mapping)
    gone = (*written, *(check.path for check in former.checks if not check.slot and check.value is None))
    return tuple(AnswerCheck(path=path, value=None) for path in dict.fromkeys(gone) if path not in there)


def _is_met(check: AnswerCheck, slots: Mapping[str, str], values: Values, holders: Collection[Path]) -> bool:
    values_there = values.get(check.path, [])
    if check.slot:
        return len(values_there) == 1 and _says(values_there[0], _filled(check.slot, slots))
    if _is_nothing(check.value) and check.path in holders:
        return False
    return all(type(one) is type(check.value) and one == check.value for one in values_there)


def _is_nothing(value: object) -> bool:
    return value is None or value in ([], {})


def nodes_of(answers: Sequence[Any]) -> frozenset[Path]:
    """Return the paths of all that answers have something at, and of what holds it; every array is one step."""
    values = _values(answers)
    there = (path for path, some in values.items() if not all(one in ("", None) for one in some))
    return frozenset((*there, *_holders(values)))


def _holders(values: Values) -> frozenset[Path]:
    """Return the paths of the objects and arrays that hold values."""
    return frozenset(path[:length] for path in values for length in range(1, len(path)))


def _pieces(template: str) -> list[str]:
    """Return what of an address may stand in an answer: segments and values, and then the slots in them."""
    parts = re.split(r"[/?&#=]", template.partition("://")[2])
    slotted = [part for part in parts if _SLOT.search(part)]
    return list(dict.fromkeys((*slotted, *(f"{{{name}}}" for part in slotted for name in _SLOT.findall(part)))))


def _filled(piece: str, slots: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda slot: slots.get(slot[1], ""), piece)


def _echoed(
    path: Path, piece: str, pages: Sequence[tuple[Mapping[str, str], Sequence[Any]]], values: Sequence[Values]
) -> bool:
    filled = [_filled(piece, slots) for slots, _ in pages]
    stands = (len(known[path]) == 1 and _says(known[path][0], one) for known, one in zip(values, filled, strict=True))
    return len(set(filled)) > 1 and all(stands)


def _says(value: object, piece: str) -> bool:
    """Return whether a value is a piece of an address: as it stands, the end of a path, or a slug's words."""
    if not piece or isinstance(value, bool) or not isinstance(value, int | str):
        return False
    text = str(value)
    if text == piece or text.rstrip("/").endswith(f"/{piece}"):
        return True
    words, slug = _slug(text[:_MAX_SLUG_CHARS]), _slug(piece)
    return slug != "" and (words == slug or (slug.count("-") >= _MANY_WORDS and words.startswith(f"{slug}-")))


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "-".join(re.findall(r"[^\W_]+", "".join(one for one in plain if not unicodedata.combining(one))))


def _is_fixed(values_known: Sequence[object], written: Collection[str]) -> bool:
    first = values_known[0]
    known = isinstance(first, bool) or first is None or first in ([], {})
    known = known or (isinstance(first, str) and len(first) <= _MAX_CHARS)
    known = known or (isinstance(first, int | float) and _digits(str(first)) in written)
    return known and all(type(one) is type(first) and one == first for one in values_known)


def _stands(value: object, words: str, written: Collection[str]) -> bool:
    """Return whether a value stands among the words of a template, by more than chance."""
    if isinstance(value, str):
        return len(value) > 1 and stands_in(value, words)
    return isinstance(value, int | float) and len(digits := _digits(str(value))) > 1 and digits in written


def _numbers(words: str) -> Iterator[str]:
    """Yield the digits of the numbers among words, however they are written."""
    return map(_digits, _NUMBER.findall(words))


def _digits(number: str) -> str:
    return "".join(filter(str.isdecimal, number)).strip("0")


def _values(answers: Sequence[Any]) -> Values:
    """Return the values of answers by their paths, in which every array is one step; what is huge is cut.

    So is the one field of an object that is named by an id, another on each page.
    """
    values: Values = {}
    left = _MAX_VISITED
    waiting: list[tuple[Path, Any]] = [
        ((number,), answer) for number, answer in reversed(list(enumerate(map(unflattened, answers))))
    ]
    while waiting and left:
        left -= 1
        path, value = waiting.pop()
        if isinstance(value, dict) and value and len(path) <= _MAX_DEPTH:
            fields = named(cast("dict[str, Any]", value)).items()
            waiting.extend(((*path, EACH if isinstance(name, int) else name), one) for name, one in fields)
        elif isinstance(value, list) and value and len(path) <= _MAX_DEPTH:
            waiting.extend(((*path, EACH), one) for one in cast("Iterable[Any]", value))
        else:
            values.setdefault(path, []).append(value)
    return values


# -- which places of the answers a mapping writes ---------------------------------------------------------------------


def source_paths(mapping: PageMapping, use: str = "") -> Iterator[Path]:
    """Yield all places of the answers that a mapping uses, or those for one `use`: "slot" is what it writes."""
    for kind, source, levels in sources_in((mapping.page, *mapping.markdown, *mapping.text), ((),)):
        if use in ("", kind) and (path := absolute(source, levels)) is not None:
            yield in_arrays(path)


def in_arrays(path: Path) -> Path:
    """Return a path in which every place in an array is one step."""
    return (*path[:1], *(EACH if isinstance(key, int) else key for key in path[1:]))


def sources_in(parts: Collection[Any], levels: tuple[Path, ...]) -> Iterator[tuple[str, ValueSource, tuple[Path, ...]]]:
    """Yield the sources in parts of a mapping: what each is for, and the arrays around it, beginning with `levels`."""
    for part in parts:
        match part:
            case Fields(fields=fields):
                yield from sources_in(fields.values(), levels)
            case Items(parts=inner) | Text(pieces=inner):
                yield from sources_in(inner, levels)
            case One(node=node, when=when):
                if when is not None:
                    yield "when", when.source, levels
                yield from sources_in((node,), levels)
            case Each(source=source, parts=inner) | Join(source=source, pieces=inner):
                yield "each", source, levels
                array = absolute(source, levels)
                yield from sources_in(inner, (*levels, (*(array or ()), EACH)))
            case CaseChoice(test=test, cases=cases):
                yield "case", test.source, levels
                for pieces in cases.values():
                    yield from sources_in(pieces, levels)
            case Slot(source=source) | Raw(source=source):
                yield "slot", source, levels
            case _:
                pass


def absolute(source: ValueSource, levels: Sequence[Path]) -> Path | None:
    """Return a place from the answers on; None where it is none in them."""
    if source.level >= len(levels):
        return None
    path = (*levels[source.level], *source.path)
    if source.level == 0:
        return path[1:] if path[:1] == ("answers",) else None
    return path
