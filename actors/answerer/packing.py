"""Packs sources into what a model reads at once: all of them where they fit, otherwise in parts, the least in short."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from actors.answerer.citable_source import CitableSource, fold, words_of
from actors.answerer.sentences import Sentence

MAX_PARTS: Final = 12
"""Parts that one pass reads; what is more than they hold is read in short."""

_LETTER = re.compile(r"[A-Za-z ]")
_LETTERS_A_TOKEN = 4.0
_TOKENS_A_MARK = 0.7
"""Marks and figures are tokens of their own, or share one with a few others."""

_TOKENS_A_WIDE_CHAR = 1.5
_TOKENS_A_LINE = 5
"""What the number before a sentence takes, and the end of its line."""

_SHORT_TOKENS = 400
"""What a source gets at least that is read in short."""


class Numbered(Struct, frozen=True, kw_only=True):
    """A sentence with the number by which a model names it: it counts through all sources."""

    number: int
    sentence: Sentence


class SourceExcerpt(Struct, frozen=True, kw_only=True):
    """Sentences of a source in their order; `whole` where none is left out."""

    evidence: CitableSource
    lines: tuple[Numbered, ...]
    whole: bool = True

    @property
    def tokens(self) -> int:
        """How many tokens its lines take at most."""
        return sum(line_tokens(line) for line in self.lines)


Part = tuple[SourceExcerpt, ...]
"""What a model reads at once."""


def tokens_of(text: str) -> int:
    """Estimate how many tokens a text takes; it takes hardly ever more."""
    wide = sum(not character.isascii() for character in text)
    letters = len(_LETTER.findall(text))
    marks = len(text) - wide - letters
    return math.ceil(letters / _LETTERS_A_TOKEN + marks * _TOKENS_A_MARK + wide * _TOKENS_A_WIDE_CHAR)


def line_tokens(line: Numbered) -> int:
    """Estimate how many tokens a numbered sentence takes."""
    return tokens_of(line.sentence.text) + _TOKENS_A_LINE


def numbered(sources: Sequence[CitableSource]) -> tuple[SourceExcerpt, ...]:
    """Return all sources with their sentences numbered from 1."""
    excerpts, number = list[SourceExcerpt](), 0
    for evidence in sources:
        lines = tuple(Numbered(number=number + one.number, sentence=one) for one in evidence.text.sentences)
        excerpts.append(SourceExcerpt(evidence=evidence, lines=lines))
        number += len(lines)
    return tuple(excerpts)


def pack(excerpts: Sequence[SourceExcerpt], question: str, window_tokens: int) -> tuple[Part, ...]:
    """Divide sources into parts of at most `window_tokens`, in their order.

    Where that would be more than MAX_PARTS, the sources that have most to do with the question (without one: the
    first) are read whole, and of each other one the sentences that have.
    """
    return tuple(_divided(_bounded(excerpts, question, window_tokens * MAX_PARTS), window_tokens))


def picked(excerpts: Iterable[SourceExcerpt], numbers: frozenset[int]) -> tuple[SourceExcerpt, ...]:
    """Return what is left of sources when only some sentences are kept; headings stay above what is kept."""
    kept = list[SourceExcerpt]()
    for excerpt in excerpts:
        lines = tuple(line for line in excerpt.lines if line.number in numbers)
        if lines:
            kept.append(structs.replace(excerpt, lines=lines, whole=excerpt.whole and len(lines) == len(excerpt.lines)))
    return tuple(kept)


def shortened(excerpts: Sequence[SourceExcerpt], question: str, tokens: int) -> tuple[SourceExcerpt, ...]:
    """Leave out of all sources alike what has least to do with the question, until they fit."""
    total = sum(one.tokens for one in excerpts)
    if total <= tokens:
        return tuple(excerpts)
    return tuple(_in_short(one, question, one.tokens * tokens // total) for one in excerpts)


def _bounded(excerpts: Sequence[SourceExcerpt], question: str, tokens: int) -> tuple[SourceExcerpt, ...]:
    if sum(one.tokens for one in excerpts) <= tokens:
        return tuple(excerpts)
    left, result = tokens, dict[int, SourceExcerpt]()
    ranked = sorted(range(len(excerpts)), key=lambda index: -_relevance(excerpts[index], question))
    for position, index in enumerate(ranked):
        reserved = _SHORT_TOKENS * (len(ranked) - position - 1)
        result[index] = _in_short(excerpts[index], question, max(left - reserved, _SHORT_TOKENS))
        left -= result[index].tokens
    return tuple(result[index] for index in range(len(excerpts)))


def _in_short(excerpt: SourceExcerpt, question: str, tokens: int) -> SourceExcerpt:
    """Keep the sentences that have most to do with the question, the first ones where they are alike."""
    if excerpt.tokens <= tokens:
        return excerpt
    wanted = frozenset(words_of(fold(question)))
    words = excerpt.evidence.words
    ranked = sorted(excerpt.lines, key=lambda line: -len(wanted & words[line.sentence.number - 1]))
    kept, left = set[int](), tokens
    for line in ranked:
        left -= line_tokens(line)
        if left < 0:
            break
        kept.add(line.number)
    lines = tuple(line for line in excerpt.lines if line.number in kept)
    return structs.replace(excerpt, lines=lines, whole=False)


def _relevance(excerpt: SourceExcerpt, question: str) -> float:
    """Return which share of the words of a question a source has."""
    wanted = frozenset(words_of(fold(question)))
    return len(wanted & frozenset[str]().union(*excerpt.evidence.words)) / max(len(wanted), 1)


def _divided(excerpts: Iterable[SourceExcerpt], tokens: int) -> Iterable[Part]:
    part, left = list[SourceExcerpt](), tokens
    for excerpt in excerpts:
        lines = list[Numbered]()
        for line in excerpt.lines:
            if line_tokens(line) > left and (part or lines):
                yield (*part, *_rest(excerpt, lines))
                part, lines, left = [], [], tokens
            lines.append(line)
            left -= line_tokens(line)
        part += _rest(excerpt, lines)
    if part:
        yield tuple(part)


def _rest(excerpt: SourceExcerpt, lines: Sequence[Numbered]) -> list[SourceExcerpt]:
    whole = excerpt.whole and len(lines) == len(excerpt.lines)
    return [structs.replace(excerpt, lines=tuple(lines), whole=whole)] if lines else []
