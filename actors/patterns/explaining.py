"""Finds where the values of requests come from: the address of the page, or the answer of an earlier request."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import unquote

from msgspec import Struct, structs

from actors.patterns.matching import compiled, match
from actors.patterns.request_parts import RequestLeaf
from actors.patterns.slots import is_closed, kind_of
from actors.patterns.templates import AddressSlot, AnswerSlot, Piece, address_parts, pieces_of, scalar, way_of

MAX_ANSWER_LEAVES: Final = 500
MAX_WAY: Final = 8
_MIN_PART_ONCE: Final = 3
"""Where there is one page only, a shorter value within a longer one is there by chance."""

_COUNTER: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_MOST_TIMES: Final = 1_000
"""Items that a page may have."""

_MAX_PLACES: Final = 8
_MAX_PARTS: Final = 3


class KnownValue(Struct, frozen=True):
    """What is known of each of the pages, and how it is written in a template."""

    pieces: tuple[Piece, ...]
    texts: tuple[str, ...]

    @property
    def is_closed(self) -> bool:
        """Return whether it can hold nothing but digits, letters and hyphens."""
        return all(isinstance(piece, AddressSlot) and is_closed(piece.name) for piece in self.pieces)


@dataclass(eq=False)
class KnownValues:
    """All that is known of some pages before a request: values of their addresses, and those of earlier answers."""

    pages: tuple[KnownValue, ...]
    answers: dict[tuple[str, ...], AnswerSlot] = field(default_factory=dict[tuple[str, ...], AnswerSlot])

    def of(self, places: Sequence[int]) -> KnownValues:
        """Return what is known of some of the pages."""
        return KnownValues(
            tuple(KnownValue(one.pieces, tuple(one.texts[place] for place in places)) for one in self.pages),
            {tuple(texts[place] for place in places): slot for texts, slot in self.answers.items()},
        )

    def add_answers(self, number: int, answers: Sequence[Any]) -> None:
        """Add the values that the answers of a request have on each page, where they differ from page to page."""
        leaves_by_page = [dict(_leaves(answer)) for answer in answers]
        for way in leaves_by_page[0]:
            texts = tuple(one.get(way, "") for one in leaves_by_page)
            if all(texts) and len(set(texts)) > 1:
                self.answers.setdefault(texts, AnswerSlot(number, way))

    def explain(self, leaves: Sequence[RequestLeaf]) -> tuple[Piece, ...] | None:
        """Return the pieces that give a value on all pages; None where it is not known where it comes from."""
        texts = tuple(leaf.text for leaf in leaves)
        if leaves[0].kind == "document":
            return _explained(texts, [one for one in self.pages if one.is_closed])
        if exact := next((one.pieces for one in self.pages if one.texts == texts), None):
            return exact if leaves[0].kind != "number" or len(exact) == 1 else None
        if len(set(texts)) == 1:
            once = len(texts) == 1 and leaves[0].kind != "number"
            return (_explained(texts, self.pages) if once else None) or (texts[0],)
        if slot := self.answers.get(texts) or self._counted(texts):
            return (slot,)
        return _explained(texts, self.pages) if leaves[0].kind != "number" else None

    def _counted(self, texts: Sequence[str]) -> AddressSlot | None:
        """Return the number of a page's address that numbers follow from; None where there is none.

        Of what may follow only that is tried which two different pages bear out: the items before a page, or up to
        its end, and pages counted from another number on.
        """
        if not all(map(_COUNTER.fullmatch, texts)):
            return None
        numbers = list(map(int, texts))
        for value in self.pages:
            if (
                len(value.pieces) == 1
                and isinstance(slot := value.pieces[0], AddressSlot)
                and kind_of(slot.name) == "number"
            ):
                pages = [int(text) if _COUNTER.fullmatch(text) else 0 for text in value.texts]
                if all(pages) and (candidates := _counting(pages, numbers)) is not None:
                    return structs.replace(slot, times=candidates[0], plus=candidates[1])
        return None


def _counting(pages: Sequence[int], numbers: Sequence[int]) -> tuple[int, int] | None:
    """Return by what numbers follow from those of pages: so many times, and plus so many."""
    (page, number), *others = sorted(set(zip(pages, numbers, strict=True)))
    if not others or len(set(pages)) <= len(others):
        return None
    times, rest = divmod(others[-1][1] - number, others[-1][0] - page)
    plus = number - times * page
    likely = (times > 1 and plus in (0, -times)) or (times == 1 and plus in (1, -1))
    fits_all = all(each * times + plus == known for each, known in others)
    return (times, plus) if likely and not rest and times <= _MOST_TIMES and fits_all else None


def known_of(template: str, urls: Sequence[str]) -> KnownValues | None:
    """Return what the addresses of pages say, by their template: each slot, and segments that hold several."""
    matches = [match(template, url) for url in urls]
    slots = [one for one in matches if one is not None]
    if len(slots) < len(urls) or not compiled(template).origin:
        return None
    _, path, query, fragment = address_parts(template)
    pairs = [pair.partition("=")[2] for pair in (query or "").split("&") if pair]
    wholes = [pieces_of(text) for text in (*path.split("/"), *pairs, *fragment.split("/"))]
    values = [_known(pieces, slots) for pieces in wholes if any(isinstance(one, AddressSlot) for one in pieces)]
    values += [
        _known((one,), slots) for pieces in wholes if len(pieces) > 1 for one in pieces if isinstance(one, AddressSlot)
    ]
    return KnownValues(tuple(values))


def _known(pieces: Sequence[Piece], slots: Sequence[Mapping[str, str]]) -> KnownValue:
    bare = tuple(AddressSlot(one.name) if isinstance(one, AddressSlot) else unquote(str(one)) for one in pieces)
    texts = ("".join(one if isinstance(one, str) else values[one.name] for one in bare) for values in slots)
    return KnownValue(bare, tuple(texts))


def _explained(texts: Sequence[str], values: Sequence[KnownValue], parts: int = _MAX_PARTS) -> tuple[Piece, ...] | None:
    """Return texts as known values with other text around them; the longest that fits is taken, no other tried."""
    if len(set(texts)) == 1 and (len(texts) > 1 or parts < _MAX_PARTS):
        return (texts[0],) if texts[0] else ()
    if parts == 0:
        return None
    for value in sorted(values, key=lambda one: -len(one.texts[0])):
        if len(value.texts[0]) < _MIN_PART_ONCE if len(texts) == 1 else len(set(value.texts)) == 1:
            continue
        for start in _occurrences(texts[0], value.texts[0]):
            before, behind = _around(texts, value.texts, texts[0][:start])
            if before is None:
                continue
            rest = _explained(behind, values, parts - 1)
            return None if rest is None else (*((before,) if before else ()), *value.pieces, *rest)
    return None


def _around(texts: Sequence[str], values: Sequence[str], before: str) -> tuple[str | None, tuple[str, ...]]:
    """Return what stands before and behind the values, where the same stands before all of them."""
    if all(text.startswith(before + value) for text, value in zip(texts, values, strict=True)):
        return before, tuple(text[len(before) + len(value) :] for text, value in zip(texts, values, strict=True))
    return None, ()


def _occurrences(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    for _ in range(_MAX_PLACES):
        if start < 0:
            return
        yield start
        start = text.find(part, start + 1)


def _leaves(answer: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts and whole numbers of an answer, the nearest to its root first; of lists their first item."""
    waiting: deque[tuple[tuple[str, ...], Any]] = deque([((), answer)])
    for _ in range(MAX_ANSWER_LEAVES):
        if not waiting:
            return
        way, value = waiting.popleft()
        if isinstance(value, dict):
            if len(way) < MAX_WAY:
                waiting.extend(((*way, key), one) for key, one in cast("dict[str, Any]", value).items())
        elif isinstance(value, list):
            if value and len(way) < MAX_WAY:
                waiting.append(((*way, "0"), cast("list[object]", value)[0]))
        elif way and (text := scalar(value)) and (known := way_of(way)):
            yield known, text
