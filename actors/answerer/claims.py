"""Follows the marks in an answer, such as [3]: which claim they stand behind, and what is left of them when checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from actors.answerer.citations import numbers_of

UNSUPPORTED_MARK: Final = "[unsupported]"
"""Stands behind a claim in place of the citations that it has lost."""

MAX_CLAIM_CHARS: Final = 400

_MARKS = re.compile(r"\s*\[\d{1,6}(?:\s*,\s*\d{1,6})*\](?!\()(?:\s*\[\d{1,6}(?:\s*,\s*\d{1,6})*\](?!\())*")
_SENTENCE_END = re.compile(r"[.!?\u2026](?=\s)|[\u3002\uff01\uff1f]")
_LEADING = re.compile(r"^[\s>*#+.\-\d)]*\s+")
_MIN_FIGURES = 3
"""Shorter figures stand everywhere, and are counted as often as read."""


@dataclass(frozen=True)
class CheckedText:
    """An answer whose marks count the citations that hold, from 1; `unsupported` are the claims that have none left."""

    markdown: str
    unsupported: tuple[str, ...]


@dataclass
class _Writing:
    """What is known while an answer is gone through."""

    places: Mapping[int, int]
    figures: Collection[str]
    unsupported: list[str] = field(default_factory=list[str])


def checked(markdown: str, places: Mapping[int, int], figures: Collection[str]) -> CheckedText:
    """Put the numbers of citations that hold in place of the model's marks.

    `places` are the numbers of the citations by what the model called them; a mark that is not among them holds
    nothing. A claim with a figure that is not among the sources' `figures` has no citation that carries it.
    """
    writing = _Writing(places, figures)
    lines, in_code = list[str](), False
    for line in markdown.split("\n"):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        lines.append(line if in_code else _checked_line(line, writing))
    return CheckedText("\n".join(lines), tuple(dict.fromkeys(writing.unsupported)))


def marks_of(markdown: str) -> tuple[int, ...]:
    """Return the numbers that an answer is marked with, each once, in their order."""
    return tuple(dict.fromkeys(number for found in _MARKS.finditer(markdown) for number in _numbers(found[0])))


def _checked_line(line: str, writing: _Writing) -> str:
    pieces, start = list[str](), 0
    for found in _MARKS.finditer(line):
        words = line[start : found.start()]
        pieces += [words, _mark(found[0], _claim(words), writing)]
        start = found.end()
    return "".join([*pieces, line[start:]])


def _mark(marks: str, claim: str, writing: _Writing) -> str:
    kept = dict.fromkeys(writing.places[number] for number in _numbers(marks) if number in writing.places)
    invented = [one for one in numbers_of(claim) if len(one) >= _MIN_FIGURES and one not in writing.figures]
    if kept and not invented:
        return " " + "".join(f"[{number}]" for number in kept)
    if claim:
        writing.unsupported.append(claim)
    return f" {UNSUPPORTED_MARK}"


def _claim(words: str) -> str:
    """Return the sentence that ends with some words."""
    words = words.rstrip()
    ends = [end.end() for end in _SENTENCE_END.finditer(words[:-1])]
    return _LEADING.sub("", words[ends[-1] if ends else 0 :] if ends else f" {words}").strip()[:MAX_CLAIM_CHARS]


def _numbers(marks: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", marks)]
