"""Finds what sources define, and makes flashcards and quizzes of it: terms, and what they mean word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

from msgspec import Struct

from actors.answerer.citable_source import fold, words_of
from actors.answerer.local.languages import languages
from actors.answerer.local.summaries import summarize
from actors.answerer.transforms.content import BLANK, Card, Cards, Quiz, QuizQuestion
from actors.answerer.transforms.material import SourceMaterial, focus_of, focused, says_something
from actors.answerer.transforms.words import MAX_TERM_CHARS, transform_words
from actors.markdown.plain_lines import LineKind
from protocol.answers import SummaryStyle
from protocol.texts import FlashcardsConfig, QuizConfig

MAX_TERM_WORDS: Final = 6
MAX_MEANING_CHARS: Final = 400

_LISTED, _LED, _TABLE, _SENTENCE, _GAP = 1.0, 0.8, 0.8, 0.6, 0.2
"""How sure it is that something defines: a term with its definition, in bold before it, in a row, in a sentence."""

_FIGURE: Final = re.compile(r"(?<![\w.,-])(?P<gap>\d{2,}(?:[.,]\d+)*%?)(?![\w-]|[.,]\d)")
_NAME: Final = re.compile(
    r"(?<![\w'\u2019-])[a-z\u00e0-\u00ff]{2,} "
    r"(?P<gap>[A-Z\u00c0-\u00de]\w+(?:[ -][A-Z\u00c0-\u00de]\w+){0,3})(?![\w'\u2019-]| [A-Z\u00c0-\u00de])"
)
_YEAR: Final = re.compile(r"1\d{3}|20\d{2}")
_SENTENCE_END: Final = re.compile(r"[.!?\u3002\u2026][\"'\u201d\u2019)\]]*$")


class _Candidate(Struct, frozen=True):
    card: Card
    rank: float


def flashcards(sources: Sequence[SourceMaterial], config: FlashcardsConfig) -> Cards:
    """Return terms with what they mean; where too few are defined, sentences with a gap for a figure or a name."""
    focus = focus_of(config.focus)
    cards = list(best_terms(sources, config.count, focus))
    cards += best_gaps(sources, config.count - len(cards), focus)
    return Cards(cards=tuple(cards))


def quiz(sources: Sequence[SourceMaterial], config: QuizConfig) -> Quiz:
    """Return questions whose answers are terms, figures or names of the sources; the wrong ones are those of others."""
    focus = focus_of(config.focus)
    terms = best_terms(sources, 3 * config.count, focus)
    gaps = best_gaps(sources, 3 * config.count, focus)
    questions = [*_questions([_gapped(card) for card in terms], config), *_questions(gaps, config)]
    return Quiz(questions=tuple(questions[: config.count]))


def best_terms(sources: Sequence[SourceMaterial], count: int, focus: frozenset[str]) -> list[Card]:
    """Return the terms that are defined most surely and spoken of most, each once, in the order of the sources."""
    spoken = [frozenset(source.evidence.folded.split()) for source in sources]
    chosen = dict[str, _Candidate]()
    for candidate in (each for source in sources for each in _defined(source)):
        share = focused(f"{candidate.card.front} {candidate.card.back}", focus)
        words = fold(candidate.card.front).split()
        spread = sum(all(word in each for word in words) for each in spoken) / max(len(spoken), 1)
        ranked = _Candidate(candidate.card, candidate.rank * share + 0.2 * spread)
        key = " ".join(words)
        if share and (key not in chosen or chosen[key].rank < ranked.rank):
            chosen[key] = ranked
    best = sorted(chosen.values(), key=lambda one: -one.rank)[: max(count, 0)]
    return [one.card for one in sorted(best, key=lambda one: one.card.sentences)]


def best_gaps(sources: Sequence[SourceMaterial], count: int, focus: frozenset[str]) -> list[Card]:
    """Return sentences that say most of their sources, each with a gap where a figure or a name stands."""
    cards = dict[str, Card]()
    for source in sources:
        for quote in summarize([source.source], SummaryStyle.DETAILED, 2 * MIN_GAPS).quotes:
            card = _gap(source, quote.quote) if focused(quote.quote, focus) else None
            if card is not None:
                cards.setdefault(card.front, card)
    return list(cards.values())[: max(count, 0)]


MIN_GAPS: Final = 4


def _gap(source: SourceMaterial, text: str) -> Card | None:
    """Return a sentence as a question: its figure that says most, or a name, is to be filled in."""
    match = max(_FIGURE.finditer(text), key=lambda one: len(one["gap"]), default=None) or _NAME.search(text)
    known = transform_words()
    points_back = known.no_term.match(text) and not known.article.match(text)
    if match is None or points_back or not _SENTENCE_END.search(text) or not says_something(text):
        return None
    start, end = match.span("gap")
    return Card(front=f"{text[:start]}{BLANK}{text[end:]}", back=match["gap"], sentences=source.numbers_of(text))


def _defined(source: SourceMaterial) -> Iterator[_Candidate]:
    yield from _laid_out(source)
    known, heading = transform_words(), ""
    for line in source.sentences(LineKind.PROSE, LineKind.ITEM, LineKind.HEADING):
        text = line.sentence.text
        if line.sentence.kind is LineKind.HEADING:
            question = known.asks.match(text)
            heading = _term(question["term"]) if question else ""
            continue
        match = known.defines.match(text) or known.defines_unspaced.match(text)
        if match is not None and (term := _term(match["term"])) and len(text) <= MAX_MEANING_CHARS:
            yield _Candidate(Card(front=term, back=text, sentences=(line.number,)), _SENTENCE)
        elif heading and len(text) <= MAX_MEANING_CHARS:
            yield _Candidate(Card(front=heading, back=text, sentences=(line.number,)), _SENTENCE)
        heading = ""


def _laid_out(source: SourceMaterial) -> Iterator[_Candidate]:
    """Yield terms whose definition stands beside them: below, behind them in bold, or in the next cell."""
    lines = source.lines
    for place, line in enumerate(lines):
        before = lines[place - 1] if place else None
        if line.defines and before is not None and not before.defines:
            yield from _beside(source, before.text, line.text, _LISTED)
        elif line.lead and not line.cells:
            yield from _beside(source, line.lead, line.text[len(line.lead) :], _LED)
        elif len(line.cells) == 2:  # noqa: PLR2004 - a term and what it means
            yield from _beside(source, *line.cells, _TABLE)


def _beside(source: SourceMaterial, front: str, back: str, rank: float) -> Iterator[_Candidate]:
    term, meaning = _term(front), back.strip(transform_words().dashes)
    numbers = source.numbers_of(meaning)
    if term and says_something(meaning) and len(meaning) <= MAX_MEANING_CHARS and numbers:
        yield _Candidate(Card(front=term, back=meaning, sentences=numbers), rank)


def _term(words: str) -> str:
    """Return words as a term, without an article; "" where they are none."""
    known = transform_words()
    term = words.strip(f"{known.dashes}{known.quotes}.")
    bare = known.article.sub("", term)
    telling = [word for word in words_of(fold(bare)) if word not in languages().stop_words]
    if known.no_term.match(term) or not telling or not any(map(str.isalpha, bare)):
        return ""
    return bare if 1 < len(bare) <= MAX_TERM_CHARS and len(bare.split()) <= MAX_TERM_WORDS else ""


def _gapped(card: Card) -> Card:
    """Return the question that a definition is: its words with a gap in place of the term, which is the answer."""
    gap = re.compile(rf"(?<!\w){re.escape(card.front)}(?:s|es|n|en)?(?!\w)", re.IGNORECASE)
    return Card(front=gap.sub(BLANK, card.back), back=card.front, sentences=card.sentences)


def _questions(cards: Sequence[Card], config: QuizConfig) -> Iterator[QuizQuestion]:
    for card in cards:
        others = _distractors(card, cards)[: config.choices - 1]
        if others:
            choices = sorted((card.back, *others), key=lambda choice: _chance(f"{card.front} {choice}"))
            yield QuizQuestion(
                question=card.front, choices=tuple(choices), answer=choices.index(card.back), sentences=card.sentences
            )


def _distractors(card: Card, cards: Iterable[Card]) -> list[str]:
    """Return the answers of other questions, the likest first; none that stands in the question."""
    folded, question = fold(card.back), fold(card.front)
    others = dict.fromkeys(one.back for one in cards if fold(one.back) != folded and fold(one.back) not in question)

    def unlikeness(answer: str) -> tuple[bool, bool, int, str]:
        figures = answer[:1].isdigit() != card.back[:1].isdigit()
        years = _is_year(answer) != _is_year(card.back)
        return figures, years, abs(len(answer) - len(card.back)) // 4, _chance(f"{card.front} {answer}")

    return sorted(others, key=unlikeness)


def _is_year(answer: str) -> bool:
    return _YEAR.fullmatch(answer) is not None


def _chance(text: str) -> str:
    """Return what orders texts in a way that says nothing of them, and is the same each time."""
    return sha256(text.encode()).hexdigest()
