"""Reads what a question asks for: the words that it is about, and whether a date, a number, a person or else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cache

from msgspec import Struct

from actors.answerer.local.languages import languages
from actors.answerer.local.terms import content_terms


class AnswerSort(StrEnum):
    """What a question asks for, in the order in which they are tried."""

    DATE = "date"
    NUMBER = "number"
    PERSON = "person"
    PLACE = "place"
    CAUSE = "cause"
    OTHER = "other"

    def written_in(self, text: str) -> Iterator[re.Match[str]]:
        """Yield what may be an answer of this sort."""
        return iter(()) if self is AnswerSort.OTHER else _answer_pattern(self).finditer(text)


class Question(Struct, frozen=True):
    """A question: `terms` are the stems, or the characters and pairs of them, that it is about."""

    text: str
    terms: tuple[str, ...]
    sort: AnswerSort


def read_question(text: str) -> Question:
    """Read a question in any language that sets its words apart or is written in characters."""
    sorts = (sort for sort in AnswerSort if sort is not AnswerSort.OTHER and _question_pattern(sort).search(text))
    return Question(text, tuple(content_terms(text)), next(sorts, AnswerSort.OTHER))


@cache
def _question_pattern(sort: AnswerSort) -> re.Pattern[str]:
    return languages().sorts[sort].question_pattern()


@cache
def _answer_pattern(sort: AnswerSort) -> re.Pattern[str]:
    return languages().sorts[sort].answer_pattern()
