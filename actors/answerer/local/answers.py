"""Answers a question by the sentences nearest to it; where they seem not to answer it, says what to read next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urldefrag, urljoin, urlsplit

from actors.answerer.local.questions import Question, read_question
from actors.answerer.local.ranking import Ranking, rank
from actors.answerer.local.short_answers import short_answer
from actors.answerer.local.summaries import summarize
from actors.answerer.local.support import describe, support_model
from actors.answerer.local.terms import content_terms, is_unspaced, stem
from actors.answerer.sentences import read_sentences
from actors.answerer.source import AnswerSource, LocalAnswer, Quote
from actors.markdown.structure import plain_words

MAX_QUOTES = 2
"""Of 100 questions of SQuAD 96 have their answer in the best two sentences, 90 in the best one."""

MAX_LINKS = 3
_MAX_READ = 2_000
"""Links of a source that are looked at."""

_LINK = re.compile(r"(?<![!\\])\[([^\[\]]{1,200})\]\(<?([^()<>\s]{1,2000})")
_MAX_TEXT = 80
_MAX_SEARCH = 200

_WORD = re.compile(r"[^\W_]+")


def answer(question: str, sources: Sequence[AnswerSource]) -> LocalAnswer:
    """Quote what the sources say to a question; what it asks of a page as a whole, its summary answers."""
    query = read_question(question)
    if not query.terms:
        return summarize(sources)
    ranking = rank(query, [source.title for source in sources], [read_sentences(each.markdown) for each in sources])
    if not ranking.candidates:
        return LocalAnswer(quotes=(), supported=False, confidence=0.0, collect=_next_reading(query, sources, ()))
    best = ranking.candidates[0]
    model = support_model()
    confidence = model.probability(query, describe(query, sources[best.source].title, ranking))
    supported = confidence >= model.supported_from
    return LocalAnswer(
        quotes=tuple(_quotes(ranking, sources)),
        supported=supported,
        confidence=round(confidence, 4),
        value=short_answer(query, best.sentence.text) if supported else "",
        collect=() if supported else _next_reading(query, sources, _missing(query, ranking)),
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


def _next_reading(question: Question, sources: Sequence[AnswerSource], missing: Sequence[str]) -> tuple[str, ...]:
    """Return addresses to read, each with the text of its link, and the words to search for."""
    wanted, read = set(question.terms), {_absolute(source.url, "") for source in sources}
    scores = dict[str, tuple[float, str]]()
    for source in sources:
        for address, text in islice(_links(source), _MAX_READ):
            url = _absolute(source.url, address)
            share = len(wanted.intersection(content_terms(text))) / max(len(wanted), 1)
            if share and url and url not in read:
                scores[url] = max(scores.get(url, (0.0, "")), (share, text))
    best = sorted(scores, key=lambda url: -scores[url][0])[:MAX_LINKS]
    links = tuple(f'read {url} ("{scores[url][1][:_MAX_TEXT]}")' for url in best)
    words = " ".join(missing) or question.text
    return (*links, f'search for "{words[:_MAX_SEARCH]}"')


def _absolute(base: str, address: str) -> str:
    """Return where a link leads to in the web; "" for nowhere."""
    try:
        url = urldefrag(urljoin(base, address)).url
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:  # "http://[" is no address
        return ""


def _links(source: AnswerSource) -> Iterator[tuple[str, str]]:
    for match in _LINK.finditer(source.markdown):
        yield match[2], plain_words(match[1])
    for link in source.parts.navigation:
        yield link.url, link.text
