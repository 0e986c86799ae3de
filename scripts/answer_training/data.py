"""Reads questions with the paragraphs that answer them or do not: squad2.jsonl and cmrc2018.jsonl of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from actors.answerer.local.questions import Question, read_question
from actors.answerer.local.ranking import Ranking, rank
from actors.answerer.local.support import PassageEvidence, describe
from actors.answerer.sentences import read_sentences

ENGLISH, CHINESE = "squad2", "cmrc2018"


class GoldQuestion(msgspec.Struct, frozen=True):
    """A question, the paragraph that it is asked of, and the answers in it; there are none where none stands there."""

    question: str
    context: str
    answers: list[str]
    answerable: bool


class Setting(StrEnum):
    """Of what a question is asked: its own paragraph, that without what answers it, or one about something else."""

    OWN = "own paragraph"
    CUT = "without the answer"
    STRANGE = "strange paragraph"


class Example(msgspec.Struct, frozen=True):
    """What the best passage of a paragraph shows, and whether the paragraph answers the question.

    `group` is the paragraph that the question was written for.
    """

    question: Question
    evidence: PassageEvidence
    answers: bool
    group: str
    dataset: str
    setting: Setting


def questions(data_dir: Path, dataset: str) -> list[GoldQuestion]:
    """Read the questions of a set."""
    lines = (data_dir / f"{dataset}.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=GoldQuestion) for line in lines]


def ranking_of(question: str, context: str) -> Ranking:
    """Rank the sentences of a paragraph that has no title."""
    return rank(read_question(question), [""], [read_sentences(context)])


def examples(data_dir: Path) -> list[Example]:
    """Describe every question in all settings, but where no sentence holds a word of it."""
    return [example for dataset in (ENGLISH, CHINESE) for example in _examples(questions(data_dir, dataset), dataset)]


def _examples(asked: list[GoldQuestion], dataset: str) -> Iterator[Example]:
    for place, each in enumerate(asked):
        other = asked[(place + len(asked) // 2) % len(asked)]
        question = read_question(each.question)
        for setting, context in (
            (Setting.OWN, each.context),
            (Setting.CUT, _without_answers(each)),
            (Setting.STRANGE, "" if other.context == each.context else other.context),
        ):
            ranking = ranking_of(each.question, context)
            if ranking.candidates:
                answers = each.answerable and setting is Setting.OWN
                yield Example(question, describe(question, "", ranking), answers, each.context, dataset, setting)


def _without_answers(asked: GoldQuestion) -> str:
    """Return the paragraph of a question without the sentences that answer it; "" where none does alone."""
    sentences = [each.text for each in read_sentences(asked.context).sentences]
    kept = [each for each in sentences if not holds_answer(each, asked)]
    return "\n\n".join(kept) if asked.answerable and len(kept) < len(sentences) else ""


def holds_answer(text: str, asked: GoldQuestion) -> bool:
    """Return whether an answer stands in a text, whatever its blanks."""
    return any(_bare(each) in _bare(text) for each in asked.answers if each)


def _bare(text: str) -> str:
    return "".join(text.lower().split())
