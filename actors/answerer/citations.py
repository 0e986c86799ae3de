"""Verifies citations: what leaves stands in the source that it names, in the page's own words, or does not leave."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET, Struct
from rapidfuzz import fuzz

from actors.answerer.citable_source import CitableSource, fold_quote, words_of
from actors.answerer.fragments import text_directive
from actors.answerer.sentences import Sentence
from actors.markdown.plain_lines import inline
from protocol.packets import Citation, Locator

MAX_QUOTE_CHARS: Final = 1_200
"""Longer quotes of a model are cut before they are looked for; what leaves is whole sentences."""

CHOSEN: Final = 0.97
"""How sure a citation is whose sentence was chosen by its number, or that stands in its source word for word."""

_MAX_WORD_CHARS = 64
_SHORT_CHARS, _SHORT = 12, 0.6
"""Shorter quotes stand in many places, so that one more says less."""

_NEAR = 2
"""Sentences before and behind a citation that a claim may draw a figure from, too."""

_MIN_LETTERS = 3
_ELLIPSIS = re.compile(r"\s*(?:\[\s*)?(?:\.{3,}|\u2026)(?:\s*\])?\s*")
_MIN_PIECE_CHARS, _MAX_GAP_CHARS = 5, 800
_CANDIDATES = 24
_WINDOW_SENTENCES = 4
_NAME = re.compile(r"(?<=[^\W\d_A-Z] )[A-Z][^\W\d_]{2,}")
_SAME_NAME = 75.0
"""How alike (0 to 100) a name is to itself with a typo."""

_NUMBER = re.compile(r"\d(?:[\d.,\u2009\u202f ]*\d)?")
_NEGATIONS = frozenset({
    "not", "no", "never", "none", "nor", "cannot", "without", "don't", "doesn't", "didn't", "isn't", "aren't",
    "wasn't", "weren't", "won't", "can't", "couldn't", "nicht", "kein", "keine", "keinen", "nie", "ohne", "pas",
    "jamais", "sans", "nunca", "sin", "jamás", "non", "mai", "senza", "bez", "не", "нет", "不", "没", "无",
})  # fmt: skip

_SLOPE, _OFFSET = 0.476, -41.34
"""How alike (0 to 100) becomes how probable it is that the page says what the quote says: a logistic curve.

Fitted by scripts/calibrate_citations.py on made-up corruptions of the sentences of 103 passages: worn ones (typos, left
out words, cut ends, other marks) and false ones (another figure or name, a negation, another order, two halves). Of 103
other passages 99 % of the worn are kept and 1.5 % of the false; the Brier score is .010.
"""

MIN_CONFIDENCE: Final = 0.5
"""A quote that is less sure than this is not the page's."""


class Passage(Struct, frozen=True, kw_only=True):
    """Where a quote stands in the plain text of a source, and how sure that is what was meant."""

    start: int
    end: int
    confidence: float


class Cited(Struct, frozen=True, kw_only=True):
    """A citation that holds, and the figures in the sentences around it: what a claim that it carries may say."""

    citation: Citation
    figures: frozenset[str]


def chosen(evidence: CitableSource, sentence: Sentence) -> Cited:
    """Return the citation of a sentence that was chosen by its number."""
    return _cited(evidence, Passage(start=sentence.start, end=sentence.end, confidence=CHOSEN))


def verified(claimed: Citation, sources: Sequence[CitableSource]) -> Cited | None:
    """Return what a model cites as it stands in the source that it names; None where it does not."""
    names = [name for name in (claimed.doc_id, claimed.source_id) if isinstance(name, str) and name]
    if not names or not isinstance(claimed.quote, str):
        return None
    named = (one for one in sources if all(one.knows(name) for name in names))
    evidence = next(named, None)
    passage = find(claimed.quote, evidence) if evidence is not None else None
    return _cited(evidence, passage) if evidence is not None and passage is not None else None


def citation(evidence: CitableSource, passage: Passage) -> Citation:
    """Return the citation of a passage: words, address and locator are those of the source, never of a model."""
    source = evidence.source
    directive = text_directive(evidence, passage.start, passage.end)
    return Citation(
        doc_id=evidence.doc_id_of(passage.start, passage.end),
        source_id=source.source_id or UNSET,
        url=source.url or UNSET,
        quote=" ".join(evidence.text.text[passage.start : passage.end].split("\n")),
        locator=Locator(type="text_fragment", value=directive),
        confidence=round(passage.confidence, 3),
    )


def find(quote: str, evidence: CitableSource) -> Passage | None:
    """Find a quote in a source: word for word, in parts with something left out between, or as what it resembles."""
    quote = quote[:MAX_QUOTE_CHARS]
    words, wanted = (
        fold_quote(one.replace("|", " ")).strip(" \"'") for one in (quote, inline(quote))
    )  # as plain text, and as Markdown
    if sum(character.isalnum() for character in wanted) < _MIN_LETTERS and not _has_wide(wanted):
        return None
    return (
        _exact(words, evidence)
        or _exact(wanted, evidence)
        or _elided(wanted, evidence)
        or _alike(quote, wanted, evidence)
    )


def numbers_of(text: str) -> frozenset[str]:
    """Return the figures in a text, without what sets their digits apart."""
    return frozenset(re.sub(r"\D", "", match[0]) for match in _NUMBER.finditer(text))


def _cited(evidence: CitableSource, passage: Passage) -> Cited:
    touched, sentences = evidence.within(passage.start, passage.end), evidence.text.sentences
    near = sentences[max(touched[0].number - 1 - _NEAR, 0) : touched[-1].number + _NEAR] if touched else ()
    figures = numbers_of("\n".join(one.text for one in near))
    return Cited(citation=citation(evidence, passage), figures=figures)


def _exact(wanted: str, evidence: CitableSource, after: int = 0) -> Passage | None:
    start = evidence.folded.find(wanted, after)
    if start < 0:
        return None
    start, end = _whole_words(evidence.folded, start, start + len(wanted))
    short = len(wanted) < _SHORT_CHARS and not _has_wide(wanted)
    return Passage(start=start, end=end, confidence=_SHORT if short else CHOSEN)


def _elided(wanted: str, evidence: CitableSource) -> Passage | None:
    """Find the parts of a quote, one behind the other and not far apart; the passage is all from first to last."""
    parts = [part for part in _ELLIPSIS.split(wanted) if len(part) >= _MIN_PIECE_CHARS]
    if not parts or parts == [wanted]:
        return None
    first = last = _exact(parts[0], evidence)
    for part in parts[1:]:
        last = _exact(part, evidence, last.end) if last is not None else None
    if first is None or last is None or last.end - first.start > _MAX_GAP_CHARS:
        return None
    return Passage(start=first.start, end=last.end, confidence=CHOSEN)


def _alike(quote: str, wanted: str, evidence: CitableSource) -> Passage | None:
    """Find the sentences that a quote resembles, unless it says another figure or name, or the contrary."""
    alike, start, end = resemblance(wanted, evidence)
    confidence, touched = probability(alike), evidence.within(start, end)
    if confidence < MIN_CONFIDENCE or not touched or not agree(quote, evidence, start, end):
        return None
    return Passage(start=touched[0].start, end=touched[-1].end, confidence=confidence)


def resemblance(wanted: str, evidence: CitableSource) -> tuple[float, int, int]:
    """Return how alike (0 to 100) a folded quote and the words are that it is most alike, and where they stand."""
    best, place = 0.0, (0, 0)
    for start, end in _candidates(wanted, evidence):
        alignment = fuzz.partial_ratio_alignment(wanted, evidence.folded[start:end], score_cutoff=best)
        if alignment is not None and alignment.score > best:
            best, place = alignment.score, (start + alignment.dest_start, start + alignment.dest_end)
    return (best, *_whole_words(evidence.folded, *place))


def probability(alike: float) -> float:
    """Return how probable it is that words which are so alike (0 to 100) say the same."""
    return 1.0 / (1.0 + math.exp(-(_SLOPE * alike + _OFFSET)))


def _candidates(wanted: str, evidence: CitableSource) -> list[tuple[int, int]]:
    """Return the windows of sentences that share most words with a quote, none shorter than it where possible."""
    words = set(words_of(wanted))
    best = heapq.nlargest(_CANDIDATES, _windows(evidence, words, len(wanted)))
    return [(start, end) for shared, start, end in best if 2 * shared >= len(words)]


def _windows(evidence: CitableSource, words: set[str], length: int) -> Iterator[tuple[int, int, int]]:
    """Yield how many words of a quote stand in a few sentences that follow each other, and where these are."""
    sentences = evidence.text.sentences
    shared = [words & of_sentence for of_sentence in evidence.words]
    for index, first in enumerate(sentences):
        count, end = set[str](), first.end
        for further, sentence in zip(
            shared[index : index + _WINDOW_SENTENCES], sentences[index : index + _WINDOW_SENTENCES], strict=True
        ):
            count, end = count | further, sentence.end
            if end - first.start >= length:
                break
        if count:
            yield len(count), first.start, end


def agree(quote: str, evidence: CitableSource, start: int, end: int) -> bool:
    """Return whether words of a source have the figures and names of a quote, and negate as often as it does."""
    touched = evidence.within(start, end)
    sentences = evidence.folded[touched[0].start : touched[-1].end] if touched else ""
    denials = [_denials(text) for text in (fold_quote(quote), evidence.folded[start:end])]
    names = [fold_quote(name) for name in _NAME.findall(quote)]
    known = words_of(sentences)
    return (
        numbers_of(quote) <= numbers_of(sentences)
        and denials[0] == denials[1]
        and all(any(fuzz.ratio(name, word) >= _SAME_NAME for word in known) for name in names)
    )


def _denials(folded: str) -> int:
    return sum(word in _NEGATIONS for word in re.findall(r"[\w']+", folded))


def _whole_words(folded: str, start: int, end: int) -> tuple[int, int]:
    """Widen a match so that it cuts no word in two; one that goes on beyond all words stays cut."""
    before, behind = range(start, max(start - _MAX_WORD_CHARS, -1), -1), range(end, end + _MAX_WORD_CHARS)
    return (
        next((place for place in before if place == 0 or not _is_inside(folded, place)), start),
        next((place for place in behind if place >= len(folded) or not _is_inside(folded, place)), end),
    )


def _is_inside(folded: str, place: int) -> bool:
    pair = folded[place - 1 : place + 1]
    return pair.isalnum() and not _has_wide(pair)


def _has_wide(text: str) -> bool:
    return any("\u3040" <= character <= "\u9fff" or "\u0e00" <= character <= "\u0e7f" for character in text)
