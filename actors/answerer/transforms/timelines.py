"""Makes a timeline of what sources say: the sentences that name a date, in the order of time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from itertools import chain
from typing import Final

from msgspec import Struct, structs

from actors.answerer.citable_source import fold, words_of
from actors.answerer.transforms.content import DatedEvent, Timeline
from actors.answerer.transforms.material import SourceMaterial, alike, focus_of, focused, says_something
from actors.answerer.transforms.words import transform_words
from actors.extraction.assets import months
from actors.markdown.plain_lines import LineKind
from protocol.texts import TimelineConfig

FIRST_YEAR, LAST_YEAR = 1000, 2199
"""The years that are read of a text: what is written otherwise is hardly ever a year."""

_YEAR: Final = r"(?:1\d|20|21)\d\d"
_NO_YEAR: Final = (
    r"(?![\d%°]|[.,]\d|[-\u2013/]\d{3,}[-\u2013/]| ?(?:[kKMGT]?[WwBbmg]h?|km|kg|cm|mm|mph|km/h|rpm|USD|EUR|€)\b)"
)
_BEFORE: Final = r"(?<![\d.,/$€£¥#:_])(?<![A-Za-z]-)"
_OF: Final = r"\.?,?[\s\u00a0]{1,2}(?:(?:de|del|of|d')\s)?"
_ORDINAL: Final = r"(?:st|nd|rd|th|er|º|ª|\.)?"


@cache
def _forms() -> re.Pattern[str]:
    """Return how dates are written: to the day, to the month, to the year, in that order."""
    month = "|".join(sorted((re.escape(name) for name in months()), key=len, reverse=True))
    return re.compile(
        rf"{_BEFORE}(?P<y1>{_YEAR})-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d)"
        rf"|{_BEFORE}(?P<y2>{_YEAR})\s?[年년]\s?(?:(?P<m2>\d\d?)\s?[月월]\s?(?:(?P<d2>\d\d?)\s?[日일])?)?"
        rf"|\b(?P<d3>\d\d?){_ORDINAL}(?:\s?[-\u2013]\s?\d\d?{_ORDINAL})?{_OF}(?P<m3>{month})\b{_OF}(?P<y3>{_YEAR})"
        rf"{_NO_YEAR}"
        rf"|\b(?P<m4>{month})\b\.?\s(?P<d4>\d\d?){_ORDINAL}(?:\s?[-\u2013]\s?\d\d?)?,?\s(?P<y4>{_YEAR}){_NO_YEAR}"
        rf"|\b(?P<m5>{month})\b{_OF}(?P<y5>{_YEAR}){_NO_YEAR}"
        rf"|{_BEFORE}(?P<d6>\d\d?)\.(?P<m6>\d\d?)\.(?P<y6>{_YEAR})(?!\d)"
        rf"|(?:\b(?:{transform_words().leading})\s(?:the\s)?)(?P<y7>{_YEAR}){_NO_YEAR}"
        rf"|[(\[](?P<y8>{_YEAR})(?=[)\];,]|\s?[-\u2013]\s?(?:{_YEAR}|[)\]]))"
        rf"|^(?P<y9>{_YEAR})(?=s?\s?[:\u2013\u2014,-]|\s+[^\W\d_]{{3}}|年|$)"
        rf"|{_BEFORE}(?P<y0>{_YEAR})(?=\s?[-\u2013]\s?{_YEAR}\b)",
        re.IGNORECASE,
    )


_YEAR_CHARS: Final = 4
_HINT: Final = re.compile(_YEAR)
"""What no written date is without: it is quick to find."""

_MIN_LETTERS: Final = 12
"""What has fewer letters beside its date says nothing that happened."""


MAX_TOLD: Final = 5
"""Sources that are cited of one event."""

_LABELLED: Final = re.compile(r"^[^:\uff1a]{2,50}[:\uff1a]")
_MIN_LABEL: Final = 4
"""A label with a date beside it says what happened in fewer: "Opened: 1966"."""


class _RankedEvent(Struct, frozen=True):
    """An event with what it is ranked by."""

    event: DatedEvent
    sources: tuple[str, ...]
    words: frozenset[str]
    rank: float


def timeline(sources: Sequence[SourceMaterial], config: TimelineConfig) -> Timeline:
    """Return the sentences that name a date; of too many those that several sources have, and exact ones."""
    focus = focus_of(config.focus)
    events = defaultdict[str, list[_RankedEvent]](list)
    for source in sources:
        for event in _events(source):
            rank = focused(event.text, focus)
            if rank and _within(event.date, config):
                rank += 0.1 * event.date.count("-")
                words = frozenset(words_of(fold(event.text)))
                ranked = _RankedEvent(event, (source.source.doc_id,), words, rank)
                _add(events[event.date[:_YEAR_CHARS]], ranked)
    best = sorted(chain.from_iterable(events.values()), key=lambda one: -one.rank)[: config.count]
    return Timeline(events=tuple(sorted((one.event for one in best), key=lambda event: event.date)))


def dates_of(text: str) -> Iterator[str]:
    """Yield the dates that a text names, as of ISO 8601: to the day, the month or the year; a decade is `1990s`."""
    for match in _forms().finditer(text) if _HINT.search(text) else ():
        if iso := _iso({name[0]: value for name, value in match.groupdict().items() if value}):
            decade = len(iso) == _YEAR_CHARS and text.startswith("s", match.end())
            yield f"{iso}s" if decade else iso


def _add(events: list[_RankedEvent], new: _RankedEvent) -> None:
    """Add an event to those of its year; one that another source tells of in the same words is cited beside it."""
    for place, known in enumerate(events):
        if alike(known.words, new.words):
            if new.sources[0] in known.sources or len(known.sources) == MAX_TOLD:
                return
            sentences = (*known.event.sentences, *new.event.sentences)
            event = DatedEvent(
                date=max(known.event.date, new.event.date, key=len), text=known.event.text, sentences=sentences
            )
            sources = (*known.sources, *new.sources)
            events[place] = structs.replace(known, event=event, sources=sources, rank=known.rank + 1)
            return
    events.append(new)


def _events(source: SourceMaterial) -> Iterator[DatedEvent]:
    heading: tuple[str, tuple[int, ...]] = ("", ())
    for line in source.numbered:
        text = line.sentence.text
        if line.sentence.kind is LineKind.HEADING:
            dated = next(dates_of(text), "")
            heading = (dated, (line.number,)) if dated and _rest(text) < _MIN_LETTERS else ("", ())
        elif line.sentence.kind is LineKind.CODE or transform_words().page_talk.search(text):
            continue
        elif (dated := _chief(text)) and _rest(text) >= (_MIN_LABEL if _LABELLED.match(text) else _MIN_LETTERS):
            yield DatedEvent(date=dated, text=text, sentences=(line.number,))
        elif heading[0] and not dated and says_something(text):
            yield DatedEvent(date=heading[0], text=text, sentences=(line.number, *heading[1]))


def _chief(text: str) -> str:
    """Return the date that a sentence is about: the first one to the day, else to the month, else the first."""
    return max(dates_of(text), key=len, default="")


def _rest(text: str) -> int:
    return sum(map(str.isalpha, _forms().sub("", text)))


def _iso(parts: dict[str, str]) -> str:
    year, month, day = int(parts["y"]), parts.get("m"), parts.get("d")
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return ""
    if month is None:
        return str(year)
    number = int(month) if month.isdecimal() else months().get(month.lower(), 0)
    try:
        first = date(year, number, int(day or 1))
    except ValueError:
        return ""
    return first.isoformat() if day else f"{first:%Y-%m}"


def _within(iso: str, config: TimelineConfig) -> bool:
    """Return whether a date is neither before nor behind what is wanted; what is not exact counts as its beginning."""
    after = config.since is None or iso >= config.since or config.since.startswith(iso.removesuffix("s"))
    return after and (config.until is None or iso[: len(config.until)] <= config.until)
