"""Answers a question from sources by the sentences that come nearest to it, and says whether they seem to answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from actors.answerer.local.next_reading import next_reading
from actors.answerer.local.questions import Question, read_question
from actors.answerer.local.ranking import Ranking, rank
from actors.answerer.local.summaries import summarize
from actors.answerer.local.support import describe, support_model
from actors.answerer.local.values import short_answer
from actors.answerer.local.words import is_unspaced, stem
from actors.answerer.sentences import read_sentences
from actors.answerer.source import AnswerSource, LocalAnswer, Quote

MAX_QUOTES = 2
"""Of 100 questions of SQuAD 96 have their answer in the best two sentences, 90 in the best one."""

_WORD = re.compile(r"[^\W_]+")


def answer(question: str, sources: Sequence[AnswerSource]) -> LocalAnswer:
    """Quote what the sources say to a question; what it asks of a page as a whole, its summary answers."""
    query = read_question(question)
    if not query.terms:
        return summarize(sources)
    ranking = rank(query, [source.title for source in sources], [read_sentences(each.markdown) for each in sources])
    if not ranking.candidates:
        return LocalAnswer(quotes=(), supported=False, confidence=0.0, collect=next_reading(query, sources, ()))
    best = ranking.candidates[0]
    model = support_model()
    confidence = model.probability(query, describe(query, sources[best.source].title, ranking))
    supported = confidence >= model.supported_from
    return LocalAnswer(
        quotes=tuple(_quotes(ranking, sources)),
        supported=supported,
        confidence=round(confidence, 4),
        value=short_answer(query, best.sentence.text) if supported else "",
        collect=() if supported else next_reading(query, sources, _missing(query, ranking)),
    )


def _quotes(ranking: Ranking, sources: Sequence[AnswerSource]) -> Iterator[Quote]:
    """Yield the best sentences, none twice."""
    shown = set[str]()
    for each in ranking.candidates:
        if each.sentence.text not in shown:
            shown.add(each.sentence.text)
            score = round(ranking.share(each), 4)
            doc_id = sources[each.source].doc_id
            yield Quote(doc_id=doc_id, quote=each.sentence.text, score=score, section=each.sentence.section)
        if len(shown) == MAX_QUOTES:
            return


def _missing(question: Question, ranking: Ranking) -> list[str]:
    """Return the words of the question if some stand nowhere in the sources: what a search is to find beside them."""
    matched = {term for counts in ranking.counts for terms in counts.values() for term in terms}
    words = [word for word in _WORD.findall(question.text) if stem(word.lower()) in question.terms]
    missing = [word for word in words if stem(word.lower()) not in matched]
    return words if missing and not any(map(is_unspaced, question.terms)) else []
