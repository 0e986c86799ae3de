"""Has a model fill in a text: the task and the schema of each type, and the check of what it has written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, structs

from actors.answerer.citable_source import CitableSource
from actors.answerer.citations import Cited, chosen, numbers_of
from actors.answerer.claims import bears_out
from actors.answerer.packing import Part
from actors.answerer.prompts import sentence_numbers, wanted_words
from actors.answerer.transforms import content as of
from actors.answerer.transforms.timelines import dates_of
from actors.model_prompts import object_schema
from protocol.agent import TransformType
from protocol.models import OutputSchema
from protocol.texts import (
    BriefConfig,
    ComparisonConfig,
    FlashcardsConfig,
    OutlineConfig,
    QuizConfig,
    ReportConfig,
    StudyGuideConfig,
    TimelineConfig,
    TransformConfig,
)

MAX_WORDS_CHARS: Final = 1_200
"""What one item of a text may have."""

KINDS: Final[Mapping[TransformType, type[of.TextContent]]] = MappingProxyType(
    {
        TransformType.COMPARISON: of.Comparison,
        TransformType.TIMELINE: of.Timeline,
        TransformType.EXECUTIVE_BRIEF: of.Sections,
        TransformType.REPORT: of.Sections,
        TransformType.OUTLINE: of.Outline,
        TransformType.STUDY_GUIDE: of.StudyGuide,
        TransformType.QUIZ: of.Quiz,
        TransformType.FLASHCARDS: of.Cards,
    }
)
"""What each type of text consists of."""

S = TypeVar("S", bound=Struct)


def task_of(config: TransformConfig) -> str:
    """Return what a model is asked for."""
    task = _task(config)
    if config.focus:
        task += f" It is to be about: {wanted_words(config.focus)}."
    return f"{task} Write in the language {config.language or 'of the documents'}."


def _task(config: TransformConfig) -> str:  # noqa: PLR0911 - a sentence for each type
    match config:
        case ComparisonConfig():
            wanted = wanted_words(", ".join(config.fields))
            fields = f"these fields: {wanted}" if wanted else f"{config.count} fields at most"
            return (
                f"Compare the documents by {fields}. For each field give what each document says of it, as short as "
                "can be; `document` is the id of the document. Leave out documents that do not say."
            )
        case TimelineConfig():
            return (
                f"List what happened when, {config.count} events at most, in the order of time"
                f"{_between(config)}. `date` is as exact as the documents say: 1966, 1966-03 or 1966-03-05."
            )
        case BriefConfig():
            return f"Write a brief of {config.count} points at most, the most important first."
        case ReportConfig():
            return f"Write a report in sections, with {config.count} points for each document at most."
        case StudyGuideConfig():
            return (
                f"Write a study guide: an outline down to level {config.depth}, the terms with what they mean, and "
                f"{config.questions} questions with their answers."
            )
        case OutlineConfig():
            return f"Write an outline of what the documents say, down to level {config.depth}; levels count from 1."
        case QuizConfig():
            return (
                f"Write a quiz of {config.count} questions, each with {config.choices} answers to choose from, one "
                "of which alone is right; `answer` is its place, counted from 0."
            )
        case FlashcardsConfig():
            return f"Write {config.count} flashcards: a term or a question on the front, what it means on the back."
        case _:
            raise AssertionError(config)


def _between(config: TimelineConfig) -> str:
    since = f" from {config.since}" if config.since else ""
    return since + (f" until {config.until}" if config.until else "")


def schema_of(kind: TransformType, part: Part) -> OutputSchema:
    """Return the schema of a text, whose citations can be nothing but sentences of this part."""
    return OutputSchema(name=kind.value, schema=_schema(KINDS[kind], sentence_numbers(part)))


def _schema(kind: Any, numbers: dict[str, Any]) -> dict[str, Any]:
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _schema(get_args(kind)[0], numbers)}
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    hints = get_type_hints(kind)
    fields = structs.fields(kind)
    return object_schema(
        **{one.name: numbers if one.name == "sentences" else _schema(hints[one.name], numbers) for one in fields}
    )


_SIMPLE: Final[Mapping[Any, str]] = MappingProxyType({str: "string", int: "integer"})


# -- checking ----------------------------------------------------------------------------------------------------------


@dataclass
class CheckedContent:
    """What is left of a text whose every item is borne out by sentences, and what was left out."""

    content: of.TextContent
    unsupported: tuple[str, ...]


@dataclass
class _Check:
    """What is known while a text is gone through; `lines` are the sentences by their numbers."""

    lines: Mapping[int, Cited]
    known: frozenset[str]
    unsupported: list[str] = field(default_factory=list[str])

    def kept(self, item: S, *texts: str) -> S | None:
        """Return an item with the sentences that there are; None where they do not bear it out."""
        numbers: Sequence[int] = getattr(item, "sentences", ())
        existing = tuple(number for number in dict.fromkeys(numbers) if number in self.lines)
        words = " ".join(texts)
        if bears_out(words, [self.lines[number] for number in existing], self.known) and len(words) <= MAX_WORDS_CHARS:
            return structs.replace(item, sentences=existing)
        self.unsupported.append(words[:MAX_WORDS_CHARS])
        return None


def read_content(kind: TransformType, data: Any) -> of.TextContent:
    """Return what a model has written.

    Raises:
        msgspec.ValidationError: it is of another form.
    """
    content: of.TextContent = msgspec.convert(data, KINDS[kind])
    return content


def checked_content(content: of.TextContent, part: Part, sources: Sequence[CitableSource]) -> CheckedContent:
    """Return what the sentences that are cited bear out; a figure that none of them has is no claim of theirs."""
    lines = {line.number: chosen(one.evidence, line.sentence) for one in part for line in one.lines}
    known = frozenset[str]().union(*(numbers_of(one.source.title) for one in sources))
    check = _Check(lines, known)
    documents = frozenset(one.source.doc_id for one in sources)
    return CheckedContent(_checked(content, check, documents), tuple(dict.fromkeys(check.unsupported)))


def _checked(  # noqa: PLR0911 - one for each form
    content: of.TextContent, check: _Check, documents: frozenset[str]
) -> of.TextContent:
    match content:
        case of.Sections():
            sections = (
                structs.replace(one, points=_all(check.kept(point, point.text) for point in one.points))
                for one in content.sections
            )
            return of.Sections(sections=tuple(sections))
        case of.Timeline():
            events = sorted(_events(content, check), key=lambda event: event.date)
            return of.Timeline(events=tuple(events))
        case of.Comparison():
            return of.Comparison(rows=tuple(_row(row, check, documents) for row in content.rows))
        case of.Quiz():
            return of.Quiz(questions=_all(_question(question, check) for question in content.questions))
        case of.Cards():
            return of.Cards(cards=_cards(content.cards, check))
        case of.Outline():
            return of.Outline(entries=_entries(content.entries, check))
        case of.StudyGuide():
            return of.StudyGuide(
                entries=_entries(content.entries, check),
                terms=_cards(content.terms, check),
                questions=_cards(content.questions, check),
            )


def _row(row: of.ComparedField, check: _Check, documents: frozenset[str]) -> of.ComparedField:
    named = (value for value in row.values if value.document in documents)
    return structs.replace(row, values=_all(check.kept(value, value.text) for value in named))


def _events(content: of.Timeline, check: _Check) -> Iterator[of.DatedEvent]:
    """Yield the events whose year stands where they are cited from."""
    for event in content.events:
        dates = list(dates_of(event.date)) or ([event.date] if event.date[:4].isdigit() else [])
        kept = check.kept(event, event.text) if dates else None
        if kept is not None and all(date[:4] in _figures(kept.sentences, check) for date in dates[:1]):
            yield structs.replace(kept, date=dates[0])
        elif kept is not None or not dates:
            check.unsupported.append(f"{event.date}: {event.text}")


def _figures(numbers: Iterable[int], check: _Check) -> str:
    return " ".join(figure for number in numbers for figure in check.lines[number].figures)


def _question(question: of.QuizQuestion, check: _Check) -> of.QuizQuestion | None:
    """Return a question whose right answer is one of those to choose from, none of which stands twice."""
    choices = question.choices
    if not 0 <= question.answer < len(choices) <= _MAX_CHOICES or len(set(choices)) < len(choices):
        return None
    return check.kept(question, question.question, choices[question.answer])


_MAX_CHOICES: Final = 6


def _cards(cards: Iterable[of.Card], check: _Check) -> tuple[of.Card, ...]:
    return _all(check.kept(card, card.front, card.back) for card in cards)


def _entries(entries: Iterable[of.OutlineEntry], check: _Check) -> tuple[of.OutlineEntry, ...]:
    bounded = (structs.replace(one, level=min(max(one.level, 1), _MAX_LEVEL)) for one in entries)
    return _all(check.kept(one, one.text) for one in bounded)


_MAX_LEVEL: Final = 7


def _all(items: Iterable[S | None]) -> tuple[S, ...]:
    return tuple(one for one in items if one is not None)
