"""Makes overviews of sources by their own words: outlines, briefs, reports and study guides."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from actors.answerer.citable_source import fold, words_of
from actors.answerer.local import summarize
from actors.answerer.local.terms import all_terms
from actors.answerer.source import Quote
from actors.answerer.transforms.content import CitedPoint, Outline, OutlineEntry, Sections, StudyGuide, TextSection
from actors.answerer.transforms.definitions import best_gaps, best_terms
from actors.answerer.transforms.material import SourceMaterial, alike, focus_of, focused, share_of
from actors.markdown.plain_lines import LineKind
from protocol.answers import SummaryStyle
from protocol.texts import BriefConfig, OutlineConfig, ReportConfig, StudyGuideConfig

MAX_THEMES: Final = 5
MIN_THEME_CHARS: Final = 4

THEMES: Final = "What several sources speak of"
KEY_POINTS: Final = "Key points"
TERMS_OF_GUIDE: Final = 30


def brief(sources: Sequence[SourceMaterial], config: BriefConfig) -> Sections:
    """Return the sentences that say most of all sources, no two of which say the same, and what they have in common."""
    focus = focus_of(config.focus)
    each = math.ceil(config.count / max(len(sources), 1)) + 1
    ranked = sorted(
        (
            (quote.score * focused(quote.quote, focus), source, quote)
            for source in sources
            for quote in _quotes(source, each)
        ),
        key=lambda one: -one[0],
    )
    points, known = list[CitedPoint](), list[frozenset[str]]()
    for score, source, quote in ranked:
        words = _words(quote.quote)
        if score and len(points) < config.count and not any(alike(words, other) for other in known):
            known.append(words)
            points.append(CitedPoint(text=quote.quote, sentences=source.numbers_of(quote.quote)))
    return Sections(
        sections=(
            TextSection(heading=KEY_POINTS, points=tuple(points)),
            TextSection(heading=THEMES, points=tuple(_themes(sources, points))),
        )
    )


def report(sources: Sequence[SourceMaterial], config: ReportConfig) -> Sections:
    """Return what several sources speak of, and of each source the sentences that say most of it, in their order."""
    focus = focus_of(config.focus)
    sections = [TextSection(heading=THEMES, points=tuple(_themes(sources)))]
    for source in sources:
        points = tuple(
            CitedPoint(text=quote.quote, sentences=source.numbers_of(quote.quote))
            for quote in _quotes(source, share_of(sources, config.count))
            if focused(quote.quote, focus)
        )
        sections.append(TextSection(heading=source.source.title or source.source.url, points=points))
    return Sections(sections=tuple(sections))


def outline(sources: Sequence[SourceMaterial], config: OutlineConfig) -> Outline:
    """Return the headings of the sources, each with the sentence that stands first below it."""
    count = share_of(sources, config.count)
    return Outline(entries=tuple(entry for source in sources for entry in _outline_of(source, config, count)))


def study_guide(sources: Sequence[SourceMaterial], config: StudyGuideConfig) -> StudyGuide:
    """Return an outline, what is defined, and sentences with a gap to be filled."""
    focus = focus_of(config.focus)
    return StudyGuide(
        entries=outline(sources, config).entries,
        terms=tuple(best_terms(sources, TERMS_OF_GUIDE, focus)),
        questions=tuple(best_gaps(sources, config.questions, focus)),
    )


def _quotes(source: SourceMaterial, count: int) -> Sequence[Quote]:
    """Return so many sentences of a source, which say most of it: its summary, asked for in parts of a whole."""
    quotes = summarize([source.source], SummaryStyle.DETAILED, count).quotes
    return [quote for quote in quotes if source.numbers_of(quote.quote)]


def _outline_of(source: SourceMaterial, config: OutlineConfig, count: int) -> Iterator[OutlineEntry]:
    title = source.source.title or source.source.url
    headings = [line for line in source.lines if line.level]
    # A first heading that says what the title says stands for it.
    levels = {line.text: line.level for line in reversed(headings)}
    least = min((line.level for line in headings if fold(line.text) != fold(title)), default=1)
    first = summarize([source.source], SummaryStyle.CONCISE, 1).quotes
    yield OutlineEntry(level=1, text=title, sentences=source.numbers_of(first[0].quote) if first else ())
    focus, shown, open_level = focus_of(config.focus), 0, 0
    for line in source.numbered:
        sentence = line.sentence
        if sentence.kind is LineKind.HEADING and fold(sentence.text) != fold(title):
            level = 2 + levels.get(sentence.text, least) - least
            open_level = level if level <= config.depth + 1 and focused(sentence.text, focus) else 0
            if open_level and shown < count - 1:
                shown += 1
                yield OutlineEntry(level=level, text=sentence.text, sentences=(line.number,))
            else:
                open_level = 0
        elif open_level and sentence.kind in {LineKind.PROSE, LineKind.ITEM}:
            yield OutlineEntry(level=open_level + 1, text=sentence.text, sentences=(line.number,))
            open_level = 0


def _themes(sources: Sequence[SourceMaterial], shown: Sequence[CitedPoint] = ()) -> Iterator[CitedPoint]:
    """Yield sentences of several sources about one thing: the words that most of them have and speak of most.

    None of them says what is `shown` already.
    """
    if len(sources) < 2:  # noqa: PLR2004 - several
        return
    counts = [Counter(all_terms(source.evidence.text.text)) for source in sources]
    spread = Counter(term for terms in counts for term in terms if len(term) >= MIN_THEME_CHARS)
    shared = [term for term, number in spread.items() if number > 1]
    shared.sort(key=lambda term: -spread[term] * math.log(1 + sum(terms[term] for terms in counts)))
    known = [_words(claim.text) for claim in shown]
    themes = 0
    for term in shared[:_MAX_TERMS]:
        claims = _of_term(term, sources, known)
        if claims:
            themes += 1
            known += [_words(claim.text) for claim in claims]
            yield from claims
        if themes == MAX_THEMES:
            return


def _of_term(term: str, sources: Sequence[SourceMaterial], known: Sequence[frozenset[str]]) -> list[CitedPoint]:
    """Return sentences of two sources that speak of something; one, with both cited, where they say the same."""
    claims = list[CitedPoint]()
    for source in sources:
        claim = _about(source, term, known)
        claims += [claim] if claim is not None else []
        if len(claims) == 2:  # noqa: PLR2004 - of two sources
            one, other = claims
            same = alike(_words(one.text), _words(other.text))
            return [CitedPoint(text=one.text, sentences=(*one.sentences, *other.sentences))] if same else claims
    return []


_MAX_TERMS: Final = 40


def _about(source: SourceMaterial, term: str, known: Sequence[frozenset[str]]) -> CitedPoint | None:
    """Return the first sentence of a source that speaks of something, and says nothing that is known."""
    for line, terms in source.terms:
        text = line.sentence.text
        if term in terms and not any(alike(_words(text), other) for other in known):
            return CitedPoint(text=text, sentences=(line.number,))
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(fold(text)))
