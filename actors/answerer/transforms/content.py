"""What a text consists of before it is written: the same for a model, which fills it in, and for what quotes.

`sentences` are numbers of sentences of the sources, which are what a claim is held to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from protocol.render import escaped

NOTHING_SAID: Final = "\u2014"
"""What stands in a comparison for a source that does not say."""

BLANK: Final = "_____"
_LETTERS: Final = "ABCDEF"


class CitedPoint(Struct, frozen=True, kw_only=True):
    """Words that sentences bear out."""

    text: str
    sentences: tuple[int, ...]


class TextSection(Struct, frozen=True, kw_only=True):
    """A heading with what stands below it."""

    heading: str
    points: tuple[CitedPoint, ...]


class Sections(Struct, frozen=True, kw_only=True):
    """An executive brief or a report."""

    sections: tuple[TextSection, ...]


class DatedEvent(Struct, frozen=True, kw_only=True):
    """What happened at a date, as of ISO 8601: a year, a month or a day; a decade is `1990s`."""

    date: str
    text: str
    sentences: tuple[int, ...]


class Timeline(Struct, frozen=True, kw_only=True):
    """What happened, in the order of time."""

    events: tuple[DatedEvent, ...]


class ComparedValue(Struct, frozen=True, kw_only=True):
    """What a document says of a field."""

    document: str
    text: str
    sentences: tuple[int, ...]


class ComparedField(Struct, frozen=True, kw_only=True):
    """A row of a comparison."""

    field: str
    values: tuple[ComparedValue, ...]


class Comparison(Struct, frozen=True, kw_only=True):
    """What several documents say of the same fields."""

    rows: tuple[ComparedField, ...]


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """A heading at its level, counted from 1."""

    level: int
    text: str
    sentences: tuple[int, ...]


class Outline(Struct, frozen=True, kw_only=True):
    """Headings below headings."""

    entries: tuple[OutlineEntry, ...]


class Card(Struct, frozen=True, kw_only=True):
    """A term, or a question, and what it means."""

    front: str
    back: str
    sentences: tuple[int, ...]


class Cards(Struct, frozen=True, kw_only=True):
    """Flashcards."""

    cards: tuple[Card, ...]


class QuizQuestion(Struct, frozen=True, kw_only=True):
    """A question with answers to choose from; `answer` is the place of the right one, from 0."""

    question: str
    choices: tuple[str, ...]
    answer: int
    sentences: tuple[int, ...]


class Quiz(Struct, frozen=True, kw_only=True):
    """Questions to choose an answer of."""

    questions: tuple[QuizQuestion, ...]


class StudyGuide(Struct, frozen=True, kw_only=True):
    """An outline, terms with what they mean, and questions with their answers."""

    entries: tuple[OutlineEntry, ...]
    terms: tuple[Card, ...]
    questions: tuple[Card, ...]


TextContent: TypeAlias = Sections | Timeline | Comparison | Outline | Cards | Quiz | StudyGuide

Titles: TypeAlias = Sequence[tuple[str, str]]
"""The ids of documents with their titles, in their order."""


def is_empty(content: TextContent) -> bool:
    """Return whether nothing is in it."""
    parts: Sequence[object]
    match content:
        case Sections():
            parts = [point for section in content.sections for point in section.points]
        case Timeline():
            parts = content.events
        case Comparison():
            parts = [value for row in content.rows for value in row.values]
        case Outline():
            parts = content.entries
        case Cards():
            parts = content.cards
        case Quiz():
            parts = content.questions
        case StudyGuide():
            parts = (*content.entries, *content.terms)
        case _:
            assert_never(content)
    return not parts


def to_text(content: TextContent, titles: Titles) -> str:
    """Write a text as Markdown, with the numbers of sentences as its marks; words stay words."""
    match content:
        case Sections():
            blocks = [block for section in content.sections for block in _section(section)]
        case Timeline():
            blocks = [
                _lines(f"- **{_dated(event)}** {_marked(event.text, event.sentences)}" for event in content.events)
            ]
        case Comparison():
            blocks = list(_comparison(content, titles))
        case Outline():
            blocks = [_outline(content.entries)]
        case Cards():
            blocks = list(_cards(content.cards))
        case Quiz():
            blocks = list(_quiz(content.questions))
        case StudyGuide():
            blocks = list(_study_guide(content))
        case _:
            assert_never(content)
    return "\n\n".join(block for block in blocks if block)


def _section(section: TextSection) -> Iterator[str]:
    if section.points:
        if section.heading:
            yield f"## {escaped(section.heading)}"
        yield _lines(f"- {_marked(point.text, point.sentences)}" for point in section.points)


def _dated(event: DatedEvent) -> str:
    return f"{escaped(event.date)}:"


def _comparison(content: Comparison, titles: Titles) -> Iterator[str]:
    """Write a table: a column for each document where they are few, otherwise a row for each."""
    rows = [row for row in content.rows if row.values]
    names = [(name, title or name) for name, title in titles if any(_value_of(row, name) for row in rows)]
    if not rows or not names:
        return
    if len(names) <= _MAX_COLUMNS:
        head = ["", *(title for _, title in names)]
        body = [[escaped(row.field), *(_cell(row, name) for name, _ in names)] for row in rows]
    else:
        shown = rows[:_MAX_COLUMNS]
        head = ["", *(row.field for row in shown)]
        body = [[escaped(title), *(_cell(row, name) for row in shown)] for name, title in names]
    lines = [_row(map(escaped, head)), _row("---" for _ in head), *map(_row, body)]
    yield "\n".join(lines)


_MAX_COLUMNS: Final = 6


def _value_of(row: ComparedField, document: str) -> ComparedValue | None:
    return next((value for value in row.values if value.document == document), None)


def _cell(row: ComparedField, document: str) -> str:
    value = _value_of(row, document)
    return NOTHING_SAID if value is None else _marked(value.text, value.sentences)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _outline(entries: Sequence[OutlineEntry]) -> str:
    least = min((entry.level for entry in entries), default=1)
    return _lines(f"{'  ' * (entry.level - least)}- {_marked(entry.text, entry.sentences)}" for entry in entries)


def _cards(cards: Sequence[Card]) -> Iterator[str]:
    for number, card in enumerate(cards, 1):
        yield f"### {number}. {escaped(card.front)}"
        yield _marked(card.back, card.sentences)


def _quiz(questions: Sequence[QuizQuestion]) -> Iterator[str]:
    for number, question in enumerate(questions, 1):
        yield f"### {number}. {escaped(question.question)}"
        yield _lines(
            f"- {letter}. {escaped(choice)}" for letter, choice in zip(_LETTERS, question.choices, strict=False)
        )
    if questions:
        yield "## Answers"
        yield _lines(
            f"{number}. {_LETTERS[question.answer]}. {_marked(question.choices[question.answer], question.sentences)}"
            for number, question in enumerate(questions, 1)
        )


def _study_guide(guide: StudyGuide) -> Iterator[str]:
    if guide.entries:
        yield "## Outline"
        yield _outline(guide.entries)
    if guide.terms:
        yield "## Terms"
        yield _lines(f"- **{escaped(term.front)}**: {_marked(term.back, term.sentences)}" for term in guide.terms)
    if guide.questions:
        yield "## Questions"
        yield _lines(f"{number}. {escaped(card.front)}" for number, card in enumerate(guide.questions, 1))
        yield "## Answers"
        yield _lines(
            f"{number}. {_marked(card.back, card.sentences)}" for number, card in enumerate(guide.questions, 1)
        )


def _marked(text: str, sentences: Iterable[int]) -> str:
    words = escaped(text)
    marks = "".join(f"[{number}]" for number in dict.fromkeys(sentences))
    return f"{words} {marks}" if marks else words


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)
