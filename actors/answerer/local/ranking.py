"""Ranks the sentences of sources by how well they answer a question: BM25, with what a question makes of a page."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from actors.answerer.local.questions import Question
from actors.answerer.local.terms import all_terms, is_unspaced, pairs, stem
from actors.answerer.sentences import Sentence, SourceText
from actors.markdown.plain_lines import LineKind

_K1, _B = 1.2, 0.3
"""BM25's parameters; sentences differ little in length, so that it counts little."""

_SINGLE = 0.5
"""What a character counts beside a pair of them."""

_TOPIC = 0.4
"""What a word counts that the title or the first sentence has: what a page is about, its sentences leave out."""

_OF_SECTION = 0.5
"""What a word counts that stands in the heading above a sentence."""

_FITTING = 0.8
"""What a date or number counts where one is asked for, against the rarest word of the question."""

_HEADING = 0.5
"""What is left of the score of a heading itself: it seldom is an answer."""

_REPEATED = 0.1
"""What is left of a sentence that says nothing but words of the question."""

Finder = Callable[[str], Counter[str]]
_NOTHING = Counter[str]()


class RankedSentence(NamedTuple):
    """A sentence that may answer: `place` is where it stands in the source `source`, `score` BM25's."""

    source: int
    place: int
    sentence: Sentence
    score: float


class Ranking(Struct, frozen=True):
    """The sentences of some sources against a question, the best first, and what of it stands where.

    `weights` says how rare each word of the question is, `counts` in which sentences of each source it stands.
    """

    texts: Sequence[SourceText]
    counts: Sequence[Mapping[int, Counter[str]]]
    weights: Mapping[str, float]
    candidates: Sequence[RankedSentence]

    def share(self, sentence: RankedSentence) -> float:
        """Return what part of the question stands in a sentence, by the weight of its words."""
        hits = self.counts[sentence.source].get(sentence.place, ())
        return sum(self.weights[term] for term in hits) / (sum(self.weights.values()) or 1.0)


def rank(question: Question, titles: Sequence[str], texts: Sequence[SourceText]) -> Ranking:
    """Rank all sentences that hold a word of a question; takes time in proportion to the text and its hits."""
    find = _finder(question.terms)
    counts = [_counts(find, text) for text in texts]
    hits = Counter(term for of_source in counts for terms in of_source.values() for term in terms)
    number = sum(len(text.sentences) for text in texts)
    typical = sum(len(text.text) for text in texts) / max(number, 1)
    weights = {term: _rarity(number, hits[term]) * _size(term) for term in question.terms}
    candidates = list[RankedSentence]()
    for source, (title, text, of_source) in enumerate(zip(titles, texts, counts, strict=True)):
        scoring = Scoring(question, find, weights, frozenset(_topic(find, title, text)), typical)
        candidates += _scored(scoring, source, text, of_source)
    candidates.sort(key=lambda each: (-each.score, each.source, each.place))
    return Ranking(texts, counts, weights, candidates)


class Scoring(Struct, frozen=True, dict=True):
    """BM25 of one source, which is about the words of `topic`; `typical` characters has a sentence."""

    question: Question
    find: Finder
    weights: Mapping[str, float]
    topic: frozenset[str]
    typical: float

    def score(self, sentence: Sentence, hits: Mapping[str, int], above: Mapping[str, int]) -> float:
        """Return how well a sentence answers; `above` is what the heading above it holds."""
        size = _K1 * (1 - _B + _B * len(sentence.text) / self.typical)
        score = sum(self._own(term) * times * (_K1 + 1) / (times + size) for term, times in hits.items())
        if self._repeats(sentence):
            return score * _REPEATED
        if sentence.kind is LineKind.HEADING:
            return score * _HEADING
        score += _OF_SECTION * sum(self._own(term) for term in above if term not in hits)
        if next(self.question.sort.written_in(sentence.text), None) is not None:
            score += _FITTING * max(self.weights.values())
        return score + self._of_topic

    @cached_property
    def _of_topic(self) -> float:
        """What every sentence of a source has, since the source is about it."""
        return (1 - _TOPIC) * sum(self.weights[term] for term in self.topic)

    def _own(self, term: str) -> float:
        """Return what a word counts that stands in a sentence itself."""
        return self.weights[term] * (_TOPIC if term in self.topic else 1.0)

    def _repeats(self, sentence: Sentence) -> bool:
        """Return whether a sentence says nothing but words of the question, as a link to the answer does."""
        short = len(sentence.text) <= 2 * len(self.question.text)
        return short and set(all_terms(sentence.text)) <= set(self.question.terms)


def _size(term: str) -> float:
    return _SINGLE if len(term) == 1 and is_unspaced(term) else 1.0


def _rarity(number: int, hits: int) -> float:
    return math.log(1 + (number - hits + 0.5) / (hits + 0.5))


def _topic(find: Finder, title: str, text: SourceText) -> Counter[str]:
    first = next((each.text for each in text.sentences if each.kind is LineKind.PROSE), "")
    return find(f"{title}\n{first}")


def _finder(terms: Sequence[str]) -> Finder:
    """Return a function that counts the terms of a question in a text."""
    spaced = {term for term in terms if not is_unspaced(term)}
    unspaced = set(terms) - spaced
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(spaced)))})[^\W_]*") if spaced else None
    runs = re.compile(f"[{''.join(map(re.escape, sorted(set(''.join(unspaced)))))}]+") if unspaced else None

    def find(text: str) -> Counter[str]:
        lower = text.lower()
        hits = [term for word in words.findall(lower) if (term := stem(word)) in spaced] if words else []
        for run in runs.findall(lower) if runs else ():
            hits += [term for term in (*run, *pairs(run)) if term in unspaced]
        return Counter(hits) if hits else _NOTHING

    return find


def _counts(find: Finder, text: SourceText) -> dict[int, Counter[str]]:
    return {place: hits for place, each in enumerate(text.sentences) if (hits := find(each.text))}


def _scored(
    scoring: Scoring, source: int, text: SourceText, counts: Mapping[int, Counter[str]]
) -> Iterator[RankedSentence]:
    """Yield the sentences of a source that hold a word of the question, or stand below a heading that does."""
    sections = dict[str, Counter[str]]()
    for place, sentence in enumerate(text.sentences):
        if sentence.section not in sections:
            sections[sentence.section] = scoring.find(sentence.section)
        hits, above = counts.get(place), sections[sentence.section]
        if hits or above:
            yield RankedSentence(source, place, sentence, scoring.score(sentence, hits or Counter(), above))
