"""Makes a comparison of sources: the fields that several of them speak of, each with what they say word for word."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from actors.answerer.extracting.lines import Line
from actors.answerer.extracting.words import meanings
from actors.answerer.local import answer, summarize
from actors.answerer.transforms.content import ComparedField, ComparedValue, Comparison
from actors.answerer.transforms.material import SourceMaterial, focus_of, focused, says_something
from actors.answerer.transforms.words import transform_words
from protocol.answers import SummaryStyle
from protocol.texts import ComparisonConfig

IN_SHORT: Final = "In short"
"""The row of the sentence that says most of each source: there where they have few fields in common."""

ENOUGH: Final = 3
"""Fields in common from which the sources need no sentence."""

MAX_LABEL_CHARS, MAX_LABEL_WORDS, MAX_VALUE_CHARS = 50, 6, 240

_PAIR: Final = re.compile(r"^(?P<label>[^:\uff1a.!?]{2,50}?)\s?[:\uff1a]\s*(?!//)(?P<value>\S.*)$")
_CLOCK: Final = re.compile(r"\d$")

Meaning = frozenset[str]


class _Statement(Struct, frozen=True):
    """What a source says of a field, by the label that it has there."""

    meaning: Meaning
    label: str
    value: ComparedValue


def comparison(sources: Sequence[SourceMaterial], config: ComparisonConfig) -> Comparison:
    """Return what the sources say of the fields that are wanted, or of those that most have in common."""
    statements = [list(_values_of(source)) for source in sources]
    if config.fields:
        rows = [_wanted(field, sources, statements) for field in config.fields]
    else:
        rows = _common(statements, config)
        if len(rows) < ENOUGH and len(sources) > 1:
            rows.append(_in_short(sources))
    return Comparison(rows=tuple(row for row in rows if row.values))


def _common(statements: Sequence[Sequence[_Statement]], config: ComparisonConfig) -> list[ComparedField]:
    """Return the fields that at least two sources have, those that most have first."""
    values, labels = defaultdict[Meaning, list[ComparedValue]](list), defaultdict[Meaning, Counter[str]](Counter)
    for of_source in statements:
        for meaning, statement in _first_of_each(of_source).items():
            values[meaning].append(statement.value)
            labels[meaning][statement.label] += 1
    focus = focus_of(config.focus)
    shared = [meaning for meaning in values if len(values[meaning]) > 1]
    shared.sort(key=lambda meaning: (-focused(_name(labels[meaning]), focus), -len(values[meaning])))
    return [
        ComparedField(field=_name(labels[meaning]), values=tuple(values[meaning])) for meaning in shared[: config.count]
    ]


def _wanted(field: str, sources: Sequence[SourceMaterial], statements: Sequence[Sequence[_Statement]]) -> ComparedField:
    """Return what each source says of a field: by a label, otherwise the sentence that answers the field's name."""
    meaning = meanings(field)
    values = list[ComparedValue]()
    for source, of_source in zip(sources, statements, strict=True):
        exact = next((one for one in of_source if one.meaning == meaning), None)
        near = exact or next((one for one in of_source if meaning and meaning <= one.meaning), None)
        if near is not None:
            values.append(near.value)
        elif (value := _answered(field, source)) is not None:
            values.append(value)
    return ComparedField(field=field, values=tuple(values))


def _answered(field: str, source: SourceMaterial) -> ComparedValue | None:
    answered = answer(field, [source.source])
    quote = answered.quotes[0].quote if answered.supported and answered.quotes else ""
    return _value(source, quote) if says_something(quote) else None


def _in_short(sources: Sequence[SourceMaterial]) -> ComparedField:
    values = list[ComparedValue]()
    for source in sources:
        quotes = summarize([source.source], SummaryStyle.CONCISE).quotes
        best = max(quotes, key=lambda quote: quote.score, default=None)
        if best is not None and (value := _value(source, best.quote)) is not None:
            values.append(value)
    return ComparedField(field=IN_SHORT, values=tuple(values))


def _values_of(source: SourceMaterial) -> Iterator[_Statement]:
    head: tuple[str, ...] = ()
    for place, line in enumerate(source.lines):
        before = source.lines[place - 1] if place else None
        if len(line.cells) != len(head):
            head = line.cells
        for label, text in _pairs(line, before, head):
            name = " ".join(label.split()).strip(f"*{transform_words().dashes}")
            meaning, value = meanings(name), _value(source, text, line.text)
            if meaning and value is not None and _is_label(name) and meanings(value.text) != meaning:
                yield _Statement(meaning, name, value)


def _pairs(line: Line, before: Line | None, head: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the labels of a line, each with what stands beside it; `head` is the first row of its table."""
    if len(line.cells) == 2:  # noqa: PLR2004 - a key and a value
        yield line.cells[0], line.cells[1]
    elif line.cells:
        if line.cells is not head and head[1:]:
            yield from ((f"{line.cells[0]} {name}", cell) for name, cell in zip(head[1:], line.cells[1:], strict=True))
    elif line.defines and before is not None:
        yield before.text, line.text
    elif line.lead and not line.level:
        yield line.lead, line.text[len(line.lead) :].lstrip(transform_words().dashes)
    elif not line.level and (match := _PAIR.match(line.text)) and not _CLOCK.search(match["label"]):
        yield match["label"], match["value"]


def _is_label(text: str) -> bool:
    return 0 < len(text) <= MAX_LABEL_CHARS and len(text.split()) <= MAX_LABEL_WORDS and any(map(str.isalpha, text))


def _value(source: SourceMaterial, text: str, line: str = "") -> ComparedValue | None:
    """Return what a source says, cited by the sentence of its line, which has the label too."""
    words = text.strip()
    anywhere = source.numbers_of(words) if 0 < len(words) <= MAX_VALUE_CHARS else ()
    if not anywhere:
        return None
    first = source.numbered[0].number
    of_line = [number for number in source.numbers_of(line) if words in source.numbered[number - first].sentence.text]
    return ComparedValue(document=source.source.doc_id, text=words, sentences=(*of_line, *anywhere)[:1])


def _first_of_each(statements: Sequence[_Statement]) -> dict[Meaning, _Statement]:
    first = dict[Meaning, _Statement]()
    for statement in statements:
        first.setdefault(statement.meaning, statement)
    return first


def _name(labels: Counter[str]) -> str:
    """Return the label that most sources have."""
    return labels.most_common(1)[0][0]
