"""Finds the short answer within a sentence where a question asks for a date, a number or a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from actors.answerer.local.languages import languages
from actors.answerer.local.questions import AnswerSort, Question
from actors.answerer.local.terms import content_terms, stem

_SHORT = frozenset({AnswerSort.DATE, AnswerSort.NUMBER, AnswerSort.PERSON})
_WORD = re.compile(r"[^\W_]+")
_RANGE = re.compile(r" ?[-\u2013\u2014~\uff5e] ?| (?:to|until|bis|au|al|a|до) |[至到]")
_NEXT_WORDS = 24
"""Characters after a number in which what is counted is looked for."""

_COUNTED = 60
"""What it counts, in characters of distance, that the thing asked for follows a number."""


def short_answer(question: Question, sentence: str) -> str:
    """Return what stands nearest to the words of the question and is of the sort that it asks for; "" for none."""
    if question.sort not in _SHORT:
        return ""
    spans = list(_spans(question, sentence))
    places = [match.start() for match in _WORD.finditer(sentence) if stem(match[0].lower()) in question.terms]
    counted = next(iter(content_terms(question.text)), "") if question.sort is AnswerSort.NUMBER else ""

    def distance(span: tuple[int, int]) -> float:
        start, end = span
        near = min((min(abs(start - place), abs(end - place)) for place in places), default=0)
        follows = _WORD.findall(sentence[start : end + _NEXT_WORDS].lower())
        return near - _COUNTED * (bool(counted) and counted in map(stem, follows))

    start, end = min(spans, key=distance, default=(0, 0))
    return sentence[start:end]


def _spans(question: Question, sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where answers of the sort stand that the question does not hold itself; a range is one answer."""
    question_words = set(_WORD.findall(question.text.lower()))
    matches = [match.span() for match in question.sort.written_in(sentence)]
    if question.sort is AnswerSort.PERSON:
        matches = [(_after_stop_words(sentence, start, end), end) for start, end in matches]
    for start, end in _joined(sentence, matches):
        words = set(_WORD.findall(sentence[start:end].lower()))
        if start < end and words and not words <= question_words:
            yield start, end


def _joined(sentence: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans, as one those between which a range is written."""
    joined = list[tuple[int, int]]()
    for start, end in spans:
        if joined and _RANGE.fullmatch(sentence, joined[-1][1], start):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _after_stop_words(sentence: str, start: int, end: int) -> int:
    """Return where a name begins that a capital at the beginning of the sentence is no part of."""
    while start < end and (word := _WORD.match(sentence, start, end)) and word[0].lower() in languages().stop_words:
        start = word.end() + (sentence[word.end() : word.end() + 1] == " ")
    return start
