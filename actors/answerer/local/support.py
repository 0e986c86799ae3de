"""Describes what speaks for and against a passage as the answer to a question, and how probable that makes it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import msgspec
from rapidfuzz.distance import Levenshtein

from actors.answerer.local.languages import languages
from actors.answerer.local.questions import Question
from actors.answerer.local.ranking import Ranking
from actors.answerer.local.terms import is_unspaced, pairs, stem
from actors.answerer.sentences import MAX_SENTENCE_CHARS

_TOKEN = re.compile(r"\d(?:[\d.,]*\d)?|[^\W_]+")
_NAME = re.compile(r"(?<=[\w,;:] )(?!I\b)[A-Z\u00c0-\u00de\u0410-\u042f][\w-]+")
_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
_GRAM = 4
_MOST_MISSED = 2
_MISSPELT = 2
"""Edits up to which a name is the same, spelt otherwise; of names of more than `_SHORT_NAME` characters."""

_SHORT_NAME = 4
_MAX_BETWEEN = 2
_MOST_ODDS = 12.0


class PassageEvidence(NamedTuple):
    """What speaks for and against the best passage: a sentence, those beside it, their heading and the title.

    `alike`, from 0 to 1, is how many of the question's sequences of 4 characters the passage has (of 2 in scripts
    without blanks). `ahead` is by how much the best sentence leads. `names` and `numbers` count what the question names
    and the passage does not; `negated` is whether one of question and sentence denies something; `replaced` counts
    words in whose place the sentence has another.
    """

    alike: float
    ahead: float
    names: float
    numbers: float
    negated: float
    replaced: float


def describe(question: Question, title: str, ranking: Ranking) -> PassageEvidence:
    """Describe the best passage of a ranking, which must have one."""
    best = ranking.candidates[0]
    text = ranking.texts[best.source]
    near = text.sentences[max(best.place - 1, 0) : best.place + 2]
    passage = "\n".join((title[:MAX_SENTENCE_CHARS], best.sentence.section, *(each.text for each in near)))
    negation = languages().negation
    affirmed = {negation.search(each) is None for each in (question.text, best.sentence.text)}
    runner_up = ranking.candidates[1].score if len(ranking.candidates) > 1 else 0.0
    return PassageEvidence(
        alike=_alike(question, passage),
        ahead=(best.score - runner_up) / (best.score or 1.0),
        names=_missing_names(question.text, passage),
        numbers=_missing_numbers(question.text, f"{title}\n{text.text}"),
        negated=float(len(affirmed) > 1),
        replaced=_replaced(question.text, best.sentence.text),
    )


def _alike(question: Question, passage: str) -> float:
    """Return the mean of what stands of the whole question and of the words that it is about."""
    unspaced = {term for term in question.terms if is_unspaced(term) and len(term) > 1}
    if unspaced:
        return len(unspaced.intersection(pairs(passage))) / len(unspaced)
    query, text = question.text.lower(), passage.lower()
    words = (word for word in _TOKEN.findall(query) if word not in languages().stop_words)
    return (_share(_grams(query), _grams(text)) + _share(_word_grams(words), _word_grams(_TOKEN.findall(text)))) / 2


def _share(wanted: set[str], present: set[str]) -> float:
    return len(wanted & present) / max(len(wanted), 1)


def _word_grams(words: Iterable[str]) -> set[str]:
    return {gram for word in words for gram in _grams(f" {word}")}


def _grams(text: str) -> set[str]:
    return {text[place : place + _GRAM] for place in range(max(len(text) - _GRAM, 0) + 1)}


def _missing_names(question: str, passage: str) -> float:
    words = {word.lower() for word in _TOKEN.findall(passage)}
    stems = set(map(stem, words))
    names = (part.lower() for name in _NAME.findall(question) for part in _TOKEN.findall(name))
    return float(min(sum(not _stands(name, words, stems) for name in names), _MOST_MISSED))


def _stands(name: str, words: set[str], stems: set[str]) -> bool:
    if stem(name) in stems:
        return True
    alike = (word for word in words if word[0] == name[0] and abs(len(word) - len(name)) < _MISSPELT)
    return len(name) > _SHORT_NAME and any(Levenshtein.distance(name, word) <= _MISSPELT for word in alike)


def _missing_numbers(question: str, text: str) -> float:
    return float(min(sum(number not in text for number in _NUMBER.findall(question)), _MOST_MISSED))


def _replaced(question: str, sentence: str) -> float:
    """Count words after which the sentence goes on like the question, and then has another: "speed of light"."""
    stop_words = languages().stop_words
    query, words = (_TOKEN.findall(text.lower()) for text in (question, sentence))
    places = [place for place, word in enumerate(query) if word not in stop_words]
    stems = [stem(word) for word in words]
    count = 0
    for first, second in pairwise(places):
        between = query[first + 1 : second]
        if 0 < len(between) <= _MAX_BETWEEN and stem(query[first]) in stems:
            place = stems.index(stem(query[first])) + 1
            after = words[place : place + len(between) + 1]
            other = after[-1] if after[:-1] == between and len(after) > len(between) else ""
            count += bool(other) and other not in stop_words and stem(other) != stem(query[second])
    return float(min(count, _MOST_MISSED))


class SupportWeights(msgspec.Struct, frozen=True):
    """A logistic model: what the fields of `PassageEvidence` count, in their order."""

    bias: float
    weights: tuple[float, ...]

    def probability(self, evidence: PassageEvidence) -> float:
        """Return the probability that evidence comes to."""
        odds = self.bias + sum(weight * value for weight, value in zip(self.weights, evidence, strict=True))
        return 1 / (1 + math.exp(-max(-_MOST_ODDS, min(odds, _MOST_ODDS))))


class SupportModel(msgspec.Struct, frozen=True):
    """How probable it is that a passage answers, in scripts with and without blanks.

    What is less alike than `about_from` is about something else: that scales the probability down.
    """

    spaced: SupportWeights
    unspaced: SupportWeights
    about_from: float
    supported_from: float

    def probability(self, question: Question, evidence: PassageEvidence) -> float:
        """Return how probable it is that the passage says what was asked."""
        weights = self.unspaced if any(map(is_unspaced, question.terms)) else self.spaced
        return weights.probability(evidence) * min(evidence.alike / self.about_from, 1.0)


@cache
def support_model() -> SupportModel:
    """Return the model that is shipped (`scripts/train-answers` makes it)."""
    source = files("actors.answerer.local").joinpath("package_data", "support.json").read_bytes()
    return msgspec.json.decode(source, type=SupportModel)
