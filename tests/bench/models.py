"""How well and how fast answers come without a model: `scripts/bench models DATA_DIR`; and what models cost beside.

Whether a question is answered at all is judged by a model that has not seen its paragraph; the rest is what is shipped.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec
from anyio import to_thread

from actors.answerer.local import answer, summarize
from actors.answerer.local.ranking import RankedSentence
from actors.answerer.sentences import read_sentences
from actors.answerer.source import AnswerSource, LocalAnswer
from scripts.answer_training import fitting
from scripts.answer_training.data import (
    CHINESE,
    ENGLISH,
    GoldQuestion,
    Setting,
    examples,
    holds_answer,
    questions,
    ranking_of,
)
from tests.bench import models_extract, models_learner, models_router
from tests.bench.table import Row

HIT_1 = {ENGLISH: 0.85, CHINESE: 0.75}
HIT_2 = {ENGLISH: 0.94, CHINESE: 0.90}
AUROC, ECE = 0.70, 0.08
STRANGE = 0.10
CPU_MS, CPU_LONG_MS = 5.0, 200.0
LONG_CHARS = 1_000_000
LEAD = 3
"""Sentences at the beginning of an article, which are hard to beat as its summary."""

_WORD = re.compile(r"[a-z0-9]+")
Words = Sequence[str]


class GoldSummary(msgspec.Struct, frozen=True):
    """An article, and what its editors made of it."""

    article: str
    highlights: str


async def measure(data_dir: Path) -> list[Row]:
    """Measure everything; takes a minute."""
    rows = await to_thread.run_sync(_measure, data_dir)
    costs = [*await models_router.measure(), *await models_learner.measure()]
    return [*rows, *await models_extract.measure(data_dir), *costs]


def _measure(data_dir: Path) -> list[Row]:
    asked = {dataset: questions(data_dir, dataset) for dataset in (ENGLISH, CHINESE)}
    lines = (data_dir / "summaries.jsonl").read_bytes().splitlines()
    articles = [msgspec.json.decode(line, type=GoldSummary) for line in lines]
    return [
        *(row for dataset, each in asked.items() for row in _hits(dataset, each)),
        *_support(data_dir),
        *_summaries(articles),
        *_quotes([each for of_set in asked.values() for each in of_set], articles),
    ]


# -- answers -----------------------------------------------------------------------------------------------------------


def _hits(dataset: str, asked: Sequence[GoldQuestion]) -> Iterable[Row]:
    """Look whether an answer stands in the best sentences, beside the first sentences of the paragraph."""
    answerable = [each for each in asked if each.answerable]
    best = {each.question: [one.sentence.text for one in _ranked(each)] for each in answerable}
    first = {each.question: [one.text for one in read_sentences(each.context).sentences] for each in answerable}
    for number, bounds in ((1, HIT_1), (2, HIT_2)):
        ours, floor = (
            fmean(any(holds_answer(text, each) for text in texts[each.question][:number]) for each in answerable)
            for texts in (best, first)
        )
        yield _share(f"local: answer in the best {number}, {dataset}", ours, bounds[dataset], floor)


def _ranked(asked: GoldQuestion) -> Sequence[RankedSentence]:
    return ranking_of(asked.question, asked.context).candidates


def _support(data_dir: Path) -> Iterable[Row]:
    results = fitting.held_out(examples(data_dir))
    for dataset in (ENGLISH, CHINESE):
        yield _share(f"local: does the source say so, {dataset}, AUROC", fitting.auroc(results, dataset), AUROC)
        error = fitting.calibration_error(results, dataset)
        yield Row(f"local: does the source say so, {dataset}, ECE", f"{error:.3f}", "-", error, ECE, "<=", "")
        taken = fitting.supported(results, dataset, Setting.STRANGE, answers=False)
        yield Row(f"local: strange pages taken for an answer, {dataset}", f"{taken:.1%}", "-", taken, STRANGE, "<=", "")


# -- summaries ---------------------------------------------------------------------------------------------------------


def _summaries(articles: Sequence[GoldSummary]) -> Iterable[Row]:
    """Compare summaries with those of editors by ROUGE F1, beside the first sentences of the same articles."""
    ours = [" ".join(each.quote for each in summarize([_source(article.article)]).quotes) for article in articles]
    lead = [" ".join(each.text for each in read_sentences(article.article).sentences[:LEAD]) for article in articles]
    for name, score in (("1", _rouge_n(1)), ("2", _rouge_n(2)), ("L", _rouge_l)):
        here, floor = (
            fmean(score(_words(text), _words(gold.highlights)) for text, gold in zip(texts, articles, strict=True))
            for texts in (ours, lead)
        )
        yield _share(f"local: summary, ROUGE-{name}, at least that of the first {LEAD}", here, round(floor, 3), floor)


def _words(text: str) -> Words:
    return _WORD.findall(text.lower())


def _rouge_n(size: int) -> Callable[[Words, Words], float]:
    """Return ROUGE-N of a text and a reference, as F1 (Lin, 2004)."""

    def grams(words: Words) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[place : place + size]) for place in range(len(words) - size + 1))

    def score(text: Words, reference: Words) -> float:
        one, other = grams(text), grams(reference)
        return _f1((one & other).total(), one.total(), other.total())

    return score


def _rouge_l(text: Words, reference: Words) -> float:
    """Return ROUGE-L: the F1 of the longest common subsequence."""
    above = [0] * (len(reference) + 1)
    for word in text:
        row = [0]
        for place, other in enumerate(reference):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[-1]))
        above = row
    return _f1(above[-1], len(text), len(reference))


def _f1(common: int, one: int, other: int) -> float:
    return 2 * common / (one + other) if one + other else 0.0


# -- quotes and costs --------------------------------------------------------------------------------------------------


def _quotes(asked: Sequence[GoldQuestion], articles: Sequence[GoldSummary]) -> Iterable[Row]:
    """Take every answer and summary: whether it quotes word for word, and what it costs."""
    tasks: list[tuple[str, Callable[[Sequence[AnswerSource]], LocalAnswer]]]
    tasks = [(each.context, partial(answer, each.question)) for each in asked]
    tasks += [(each.article, summarize) for each in articles]
    quoted, verbatim, times = 0, 0, list[float]()
    for text, task in tasks:
        source = _source(text)
        started = time.process_time()
        result = task([source])
        times.append((time.process_time() - started) * 1000)
        quoted += len(result.quotes)
        verbatim += sum(each.quote in read_sentences(text).text for each in result.quotes)
    yield _share("local: quotes that stand in the source word for word", verbatim / quoted, 1.0)
    yield Row("local: CPU a document", f"{fmean(times):.2f} ms", "-", fmean(times), CPU_MS, "<=", "ms")
    article = "\n\n".join(each.article for each in articles)
    long = _source((article * (LONG_CHARS // len(article) + 1))[:LONG_CHARS])
    for name, task in (("answer", partial(answer, asked[0].question)), ("summary", summarize)):
        started = time.process_time()
        task([long])
        spent = (time.process_time() - started) * 1000
        yield Row(f"local: CPU of a document of 1 MB, {name}", f"{spent:.0f} ms", "-", spent, CPU_LONG_MS, "<=", "ms")


def _source(text: str) -> AnswerSource:
    return AnswerSource(doc_id="doc_1", url="https://bench.example/", title="", markdown=text)


def _share(what: str, ours: float, bound: float, floor: float | None = None) -> Row:
    beside = "-" if floor is None else f"{floor:.3f}"
    return Row(what, f"{ours:.3f}", beside, ours, bound, ">=", "")
