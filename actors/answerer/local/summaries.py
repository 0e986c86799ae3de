"""Summarises sources by their own sentences: those that stand early and say most of what the whole says."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from actors.answerer.local.terms import all_terms
from actors.answerer.sentences import Sentence, read_sentences
from actors.answerer.source import AnswerSource, LocalAnswer, Quote
from actors.markdown.plain_lines import LineKind
from protocol.answers import SummaryStyle

_SENTENCES = {SummaryStyle.CONCISE: 3, SummaryStyle.DETAILED: 5, SummaryStyle.BULLETS: 5}
_READ_FIRST, _READ_LATER = 120, 120
"""Sentences of a source that are weighed: the first ones, and as many of those that follow, evenly spread."""

_LEAST_BYTES = 25
"""In UTF-8, where a Chinese character is as long as it says much."""

_DECAY = 0.1
"""How fast the place of a sentence counts less; between .1 and .5 it makes no difference to ROUGE."""

_NEW = 0.2
"""What it counts against a sentence to say what was said."""

_KINDS = (
    frozenset({LineKind.PROSE}),
    frozenset({LineKind.PROSE, LineKind.ITEM}),
    frozenset({LineKind.PROSE, LineKind.ITEM, LineKind.ROW}),
)
"""What a summary is made of: the first of these of which there is enough, else the last."""

Vector = Mapping[str, float]


def summarize(
    sources: Sequence[AnswerSource], style: SummaryStyle = SummaryStyle.CONCISE, number: int | None = None
) -> LocalAnswer:
    """Return the sentences that say most of the sources, in their order; each source has its share.

    `number` is how many they are all together, where the style is not to say so.
    """
    share = math.ceil((number or _SENTENCES[style]) / max(len(sources), 1))
    quotes = tuple(quote for source in sources for quote in _summary(source, share))
    return LocalAnswer(quotes=quotes, supported=bool(quotes), confidence=float(bool(quotes)))


def _summary(source: AnswerSource, number: int) -> Iterator[Quote]:
    sentences = _weighed(read_sentences(source.markdown).sentences, number)
    vectors = _vectors(sentences)
    scores = _scores(vectors)
    for index in sorted(_chosen(vectors, scores, number)):
        sentence = sentences[index]
        yield Quote(doc_id=source.doc_id, quote=sentence.text, score=round(scores[index], 4), section=sentence.section)


def _weighed(sentences: Sequence[Sentence], number: int) -> list[Sentence]:
    """Return the sentences that may stand in a summary of so many, each once."""
    choices = (list(_once(each for each in sentences if each.kind in kinds)) for kinds in _KINDS)
    candidates = next((each for each in choices if len(each) >= number), None)
    if candidates is None:
        return [each for each in sentences if each.kind not in (LineKind.CODE, LineKind.HEADING)][:_READ_FIRST]
    later = candidates[_READ_FIRST:]
    return candidates[:_READ_FIRST] + later[:: max(math.ceil(len(later) / _READ_LATER), 1)]


def _once(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield sentences that are no mere labels, none twice."""
    texts = set[str]()
    for each in sentences:
        if len(each.text.encode()) >= _LEAST_BYTES and each.text not in texts:
            texts.add(each.text)
            yield each


def _vectors(sentences: Sequence[Sentence]) -> list[Vector]:
    """Return the words of each sentence by TF-IDF, each vector of length 1."""
    counts = [Counter(all_terms(each.text)) for each in sentences]
    spread = Counter(term for terms in counts for term in terms)
    return [
        _unit({term: (1 + math.log(times)) * math.log(1 + len(counts) / spread[term]) for term, times in terms.items()})
        for terms in counts
    ]


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {term: weight / length for term, weight in vector.items()}


def _scores(vectors: Sequence[Vector]) -> list[float]:
    """Return how like all sentences together each one is, and how early it stands; from 0 to 1."""
    centre = defaultdict[str, float](float)
    for vector in vectors:
        for term, weight in vector.items():
            centre[term] += weight
    alike = [_product(vector, centre) for vector in vectors]
    most = max(alike, default=0.0) or 1.0
    return [(each / most + 1 / (1 + _DECAY * place)) / 2 for place, each in enumerate(alike)]


def _product(one: Vector, other: Mapping[str, float]) -> float:
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())


def _chosen(vectors: Sequence[Vector], scores: Sequence[float], number: int) -> list[int]:
    """Choose the best sentences one by one, each for its score and for what the chosen ones do not say (MMR)."""
    chosen, repeated = list[int](), [0.0] * len(scores)
    while len(chosen) < min(number, len(scores)):
        rest = (index for index in range(len(scores)) if index not in chosen)
        best = max(rest, key=lambda index: (1 - _NEW) * scores[index] - _NEW * repeated[index])
        chosen.append(best)
        repeated = [
            max(before, _product(vector, vectors[best])) for before, vector in zip(repeated, vectors, strict=True)
        ]
    return chosen
