"""What a text without a model is made of: the numbered sentences of the sources, and what their layout says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from actors.answerer.citable_source import CitableSource, fold, fold_quote, words_of
from actors.answerer.extracting.lines import Line, read_lines
from actors.answerer.local.terms import all_terms, content_terms
from actors.answerer.packing import Numbered, numbered
from actors.answerer.sentences import Sentence
from actors.answerer.source import AnswerSource
from actors.markdown.plain_lines import LineKind

MIN_WORDS: Final = 4
"""What has fewer words says too little to be quoted by itself."""

MAX_ITEMS: Final = 360
"""Sentences and headings of one text: of many sources each has fewer."""

_ALIKE: Final = 0.8
"""From which share of words two sentences say the same."""


class SourceMaterial(Struct, frozen=True, dict=True):
    """One source: its sentences by the numbers that count through all sources, and its lines."""

    evidence: CitableSource
    numbered: tuple[Numbered, ...]

    @property
    def source(self) -> AnswerSource:
        """The source itself."""
        return self.evidence.source

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Its lines as they are laid out."""
        return tuple(read_lines(self.source.markdown))

    @cached_property
    def terms(self) -> tuple[tuple[Numbered, frozenset[str]], ...]:
        """Its sentences of prose, each with the words that it is about."""
        return tuple((line, frozenset(all_terms(line.sentence.text))) for line in self.sentences(LineKind.PROSE))

    def numbers_of(self, words: str) -> tuple[int, ...]:
        """Return the numbers of the sentences in which some words stand; none where they stand nowhere."""
        wanted = fold_quote(words)
        start = self.evidence.folded.find(wanted) if wanted else -1
        touched = self.evidence.within(start, start + len(wanted)) if start >= 0 else ()
        return tuple(self.number_of(sentence) for sentence in touched)

    def number_of(self, sentence: Sentence) -> int:
        """Return the number of a sentence among those of all sources."""
        return self.numbered[0].number + sentence.number - 1

    def sentences(self, *kinds: LineKind) -> Iterator[Numbered]:
        """Yield the sentences of some kinds that say something."""
        for line in self.numbered:
            if line.sentence.kind in kinds and says_something(line.sentence.text):
                yield line


def materials(sources: Sequence[CitableSource]) -> tuple[SourceMaterial, ...]:
    """Return all sources with their sentences numbered from 1."""
    return tuple(SourceMaterial(one.evidence, one.lines) for one in numbered(sources))


def share_of(sources: Sequence[SourceMaterial], wanted: int) -> int:
    """Return how many items each source has at most, so that all together are no more than a text takes."""
    return max(min(wanted, MAX_ITEMS // max(len(sources), 1)), 1)


def says_something(text: str) -> bool:
    """Return whether a text is more than a label."""
    return len(words_of(fold(text))) >= MIN_WORDS


def focused(text: str, focus: frozenset[str]) -> float:
    """Return which share of the words of a focus a text has; 1 where there is none."""
    return len(focus & frozenset(content_terms(text))) / len(focus) if focus else 1.0


def focus_of(words: str) -> frozenset[str]:
    """Return the words that a text is to be about."""
    return frozenset(content_terms(words))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sentences say the same, by their words."""
    return len(one & other) >= _ALIKE * max(len(one | other), 1)
