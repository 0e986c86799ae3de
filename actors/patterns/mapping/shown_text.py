"""Finds the lines that a page shows where they stand, whatever extraction has left out of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from rapidfuzz.distance import Indel

from actors.extraction.parse.text import clean
from actors.patterns.mapping.markup import plain_lines

_TARGET = re.compile(r"\]\((?:<([^>]*)>|([^)\s]*))\)")
_IMAGE = re.compile(r"!\[")


class ShownText(Struct, frozen=True):
    """The words of the blocks that a page shows, without white space; blocks begin and end at `bounds`."""

    text: str
    bounds: frozenset[int]

    @staticmethod
    def of(blocks: Sequence[str]) -> ShownText | None:
        """Return the text of blocks; None where nobody knows what the page shows."""
        if not blocks:
            return None
        text, bounds = "", {0}
        for block in blocks:
            text += squeezed(block)
            bounds.add(len(text))
        return ShownText(text, frozenset(bounds))

    def shows(self, line: str) -> bool:
        """Return whether some blocks are a line of Markdown, no more and no less."""
        return self.end_of(line, 0) is not None

    def end_of(self, line: str, start: int) -> int | None:
        """Return where the blocks end that are a line, the first from a place on; None where there are none."""
        words = squeezed(plain_lines(line))
        at = self.text.find(words, start) if words else -1
        while at >= 0:
            if at in self.bounds and at + len(words) in self.bounds:
                return at + len(words)
            at = self.text.find(words, at + 1)
        return None

    def end_within(self, line: str, start: int) -> int | None:
        """Return where the words of a line end, be they a part of a block; None where they stand nowhere."""
        words = squeezed(plain_lines(line))
        at = self.text.find(words, start) if words else -1
        return at + len(words) if at >= 0 else None


class Difference(Struct, frozen=True):
    """The lines that a page that was made lacks, and those that it has beyond the page.

    `known` are such lines that are right, as the page itself shows; `parts` those that a line of `known` has in it.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class _Gap(NamedTuple):
    """The numbers of the lines that are gone, and of those that have come, between two that are the same."""

    gone: list[int]
    come: list[int]


def difference(
    made: Sequence[str], rendered: Sequence[str], shown: ShownText | None, addresses: Collection[str]
) -> Difference:
    """Compare the lines of a page that was made with those that were extracted of it as it was rendered.

    A line that was not extracted is right where the page shows it, between the lines around it, and it leads nowhere
    but to `addresses`. Nor does a line lack of which such lines say all.
    """
    gaps = list(_gaps(made, rendered))
    come = {number for gap in gaps for number in gap.come}
    in_place = () if shown is None or not come else _shown_in_place(made, come, shown)
    right = {number for number in in_place if _targets(made[number]) <= set(addresses)}
    missing: list[str] = []
    known: list[str] = []
    parts: list[str] = []
    for gap in gaps:
        gone = [rendered[number] for number in gap.gone]
        here = [made[number] for number in gap.come if number in right]
        (parts if is_said_by("\n".join(gone), "\n".join(here)) else missing).extend(gone)
        known += here
    extra = [made[number] for gap in gaps for number in gap.come if number not in right]
    return Difference(tuple(missing), tuple(extra), tuple(known), tuple(parts))


def _gaps(made: Sequence[str], rendered: Sequence[str]) -> Iterator[_Gap]:
    gap = _Gap([], [])
    for step in Indel.opcodes(rendered, made):
        if step.tag != "equal":
            gap.gone.extend(range(step.src_start, step.src_end))
            gap.come.extend(range(step.dest_start, step.dest_end))
        elif gap.gone or gap.come:
            yield gap
            gap = _Gap([], [])
    if gap.gone or gap.come:
        yield gap


def _shown_in_place(made: Sequence[str], come: Collection[int], shown: ShownText) -> set[int]:
    """Return which of the lines that have come the page shows behind all lines before them.

    None of them where a line stands on the page before one that it follows.
    """
    right: set[int] = set()
    at = 0
    for number, line in enumerate(made):
        end = shown.end_of(line, at)
        if number in come:
            if end is not None or not _has_content(line):
                right.add(number)
        elif end is None and (end := shown.end_within(line, at)) is None and shown.end_within(line, 0) is not None:
            return set()
        at = at if end is None else end
    return right


def is_said_by(part: str, whole: str) -> bool:
    """Return whether the words of some lines of Markdown are among those of others, in their order."""
    if _IMAGE.search(part):
        return part in whole
    rest = iter(plain_lines(whole).split())
    return all(word in rest for word in plain_lines(part).split())


def _has_content(line: str) -> bool:
    return any(map(str.isalnum, line))


def _targets(line: str) -> set[str]:
    return {match[1] or match[2] or "" for match in _TARGET.finditer(line)}


def squeezed(text: str) -> str:
    """Return a text without white space."""
    return "".join(clean(text).split())
