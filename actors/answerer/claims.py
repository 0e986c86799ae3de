"""Follows the marks in an answer, such as [3]: which claim they stand behind, and what is left of them when checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from actors.answerer.citations import Cited, numbers_of
from actors.markdown.plain_lines import inline
from protocol.packets import Citation

UNSUPPORTED_MARK: Final = "[unsupported]"
"""Stands behind a claim in place of the citations that it has lost."""

MAX_CLAIM_CHARS: Final = 400

_NUMBERS = r"\d{1,6}(?: ?[-\u2013] ?\d{1,6})?"
_MARK = rf"[\[\u3010]{_NUMBERS}(?: ?[,;] ?{_NUMBERS}){{0,50}}[\]\u3011](?!\()"
_MARKS = re.compile(rf"[ \t]{{0,4}}{_MARK}(?:[ \t]{{0,4}}{_MARK})*")
_SENTENCE_END = re.compile(r"[.!?\u2026](?=\s)|[\u3002\uff01\uff1f]")
_NEW_BLOCK = re.compile(r"\s*(?:$|[#>|]|[-*+]\s|\d{1,3}[.)]\s)")
_LEADING = re.compile(r"^[\s>*#+.\-\d)]*\s+")
_MIN_LETTERS = 12
"""Fewer are no claim, but "Yes." and the like."""

_MAX_SPAN = 10
_MIN_FIGURES = 3
"""Shorter figures stand everywhere, and are counted as often as read."""


class CheckedText(Struct, frozen=True):
    """An answer whose marks count its citations from 1, and the claims that have none left."""

    markdown: str
    citations: tuple[Citation, ...]
    unsupported: tuple[str, ...]


@dataclass
class _Writing:
    """What is known while an answer is gone through."""

    held: Mapping[int, Cited]
    known: frozenset[str]
    citations: list[Citation] = field(default_factory=list[Citation])
    unsupported: list[str] = field(default_factory=list[str])


def checked(markdown: str, held: Mapping[int, Cited], known: frozenset[str]) -> CheckedText:
    """Put the numbers of citations in place of the model's marks, by which `held` names those that hold.

    A claim has no citation left where none of its marks holds, or where it has a figure that neither is `known` nor
    stands around what it cites. It never had one where it stands behind the last mark of a paragraph, or in a paragraph
    without any. What is cited without a mark anywhere follows at the end, and then no claim needs one.
    """
    writing = _Writing(held, known)
    marked = set(marks_of(markdown))
    written, lines, in_code = markdown.split("\n"), list[str](), False
    for line, following in zip(written, [*written[1:], ""], strict=True):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        ends_block = bool(marked) and _NEW_BLOCK.match(following) is not None
        lines.append(line if in_code else _checked_line(line, writing, ends_block=ends_block))
    rest = [one.citation for number, one in held.items() if number not in marked]
    citations = tuple(dict.fromkeys((*writing.citations, *rest)))
    return CheckedText("\n".join(lines), citations, tuple(dict.fromkeys(writing.unsupported)))


def bears_out(text: str, cited: Collection[Cited], known: frozenset[str]) -> bool:
    """Return whether something is cited for a text, and its figures are `known` or stand around what is cited."""
    figures = known.union(*(one.figures for one in cited))
    return bool(cited) and all(len(one) < _MIN_FIGURES or one in figures for one in numbers_of(text))


def counted(markdown: str, held: Mapping[int, Cited]) -> CheckedText:
    """Put the numbers of citations in place of the marks of what quotes and claims nothing of its own."""
    citations = list[Citation]()

    def mark(match: re.Match[str]) -> str:
        kept = [held[number].citation for number in _numbers(match[0]) if number in held]
        citations.extend(one for one in dict.fromkeys(kept) if one not in citations)
        return (" " if kept else "") + "".join(f"[{citations.index(one) + 1}]" for one in dict.fromkeys(kept))

    text = _MARKS.sub(mark, markdown)
    return CheckedText(text, tuple(citations), ())


def marks_of(markdown: str) -> tuple[int, ...]:
    """Return the numbers that an answer is marked with, each once, in their order."""
    return tuple(dict.fromkeys(number for match in _MARKS.finditer(markdown) for number in _numbers(match[0])))


def _checked_line(line: str, writing: _Writing, *, ends_block: bool) -> str:
    pieces, start = list[str](), 0
    for match in _MARKS.finditer(line):
        words = line[start : match.start()]
        pieces += [words, _mark(match[0], _claim(words), writing)]
        start = match.end()
    rest = line[start:]
    if ends_block and (_is_claim(rest) or _has_invented(rest, writing)):
        writing.unsupported.append(_claim(rest))
        rest = f"{rest.rstrip()} {UNSUPPORTED_MARK}"
    return "".join([*pieces, rest])


def _is_claim(words: str) -> bool:
    """Return whether words are a sentence: neither a heading, nor a line that leads to what follows, nor a remnant."""
    ends = _SENTENCE_END.search(f"{words.rstrip()} ")
    return ends is not None and not words.lstrip().startswith("#") and sum(map(str.isalnum, words)) >= _MIN_LETTERS


def _has_invented(words: str, writing: _Writing) -> bool:
    """Return whether words that end in no sentence have a figure that stands near nothing that is cited."""
    known = writing.known.union(*(one.figures for one in writing.held.values()))
    has_letters = sum(map(str.isalnum, words)) >= _MIN_LETTERS
    return has_letters and any(len(one) >= _MIN_FIGURES and one not in known for one in numbers_of(words))


def _mark(marks: str, claim: str, writing: _Writing) -> str:
    kept = [writing.held[number] for number in _numbers(marks) if number in writing.held]
    known = writing.known.union(*(one.figures for one in kept))
    invented = [one for one in numbers_of(claim) if len(one) >= _MIN_FIGURES and one not in known]
    if kept and not invented:
        writing.citations += [one.citation for one in kept if one.citation not in writing.citations]
        places = dict.fromkeys(writing.citations.index(one.citation) + 1 for one in kept)
        return " " + "".join(f"[{number}]" for number in places)
    if claim:
        writing.unsupported.append(claim)
    return f" {UNSUPPORTED_MARK}"


def _claim(words: str) -> str:
    """Return the sentence that ends with some words."""
    words = words.rstrip()
    ends = [end.end() for end in _SENTENCE_END.finditer(words[:-1])]
    claim = _LEADING.sub("", words[ends[-1] :] if ends else f" {words}")
    return inline(claim).strip()[:MAX_CLAIM_CHARS]


def _numbers(marks: str) -> list[int]:
    """Return the numbers of some marks; a range such as [3-5] is all that it spans."""
    numbers = list[int]()
    for match in re.finditer(r"(\d+)(?: ?[-\u2013] ?(\d+))?", marks):
        first, last = int(match[1]), int(match[2] or match[1])
        numbers += range(first, min(last, first + _MAX_SPAN) + 1) if last >= first else (first, last)
    return numbers
