"""Finds by whom and when a page was written, as its readers see it: bylines, time elements, dates in short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from turbohtml import Element

from actors.extraction.assets import vocabulary
from actors.extraction.evidence.bylines import author_claims, called_authors
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.dates import HINT, MAX_CHARS, dates_in, day
from actors.extraction.evidence.text_runs import HolderNames, TextRuns, short_text, text_runs, texts_matching
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

TIMES = "time, relative-time, [datetime], abbr.published[title], abbr.updated[title]"
MAX_CLAIMS = 24
"""How many dates of one page are claimed; a forum or a calendar has hundreds."""

_MAX_TIMES = 80
_MAX_LINES = 28
_PIECE = 24
"""A date may stand in pieces (day, month, year) of at most so many characters each."""

_MAX_LABEL = 48
_CREDITS_LINE = 200
"""A longer run of text is prose."""

_NEAREST = 3
"""Elements farther out than this say little of a date by their names."""

_MARKS = (
    ("copyright", re.compile(r"\u00a9|\(c\)|copyright|rights reserved")),
    (
        "event",
        re.compile(
            r"event|expire|deadline|retrieved|accessed|joined|member since|born|valid|until|effective|abgerufen"
        ),
    ),
)
_NAMES = (
    ("dated", re.compile(r"date|time|publish|posted|pubdate|datum|fecha|updated|stamp|created")),
    ("credits", re.compile(r"byline|author|autor|meta|info|credit|dateline|subtitle|subline|eyebrow|kicker")),
    ("called-published", re.compile(r"publi|post")),
    ("called-updated", re.compile(r"modif|updat")),
)
_REGIONS = (
    ("remark", re.compile(r"comment|reply|response|disqus")),
    (
        "other",
        re.compile(r"related|recommend|sidebar|widget|footer|teaser|card|list|popular|latest|recent|more-|archive|nav"),
    ),
)
_ZONES = frozenset({"footer", "aside", "nav", "article", "header", "main"})
_WEIGHTS = {
    "near": 4,
    "above": 2,
    "around": 1,
    "dated": 2,
    "label-published": 2,
    "label-updated": 1,
    "credits": 1,
    "time": 1,
    "remark": -3,
    "other": -2,
    "far": -2,
    "copyright": -4,
}
"""What a date is worth by where it stands: only decides which are claimed first, and which not at all."""


def claims(page: Page) -> Iterable[Claim]:
    """Return the names and the dates that are seen, those near a title first."""
    view = text_runs(page)
    yield from author_claims(view, called_authors(page))
    yield from date_claims(view, page.root.select(TIMES))


def date_claims(view: TextRuns, times: list[Element]) -> list[Claim]:
    """Return the dates that are seen, those near a title and those that are called so first."""
    entries = [*_of_times(view, times), *_of_runs(view)]
    entries.sort(key=lambda entry: -entry[0])
    return [claim for _, claim in entries[:MAX_CLAIMS]]


def _of_times(view: TextRuns, times: list[Element]) -> Iterator[tuple[int, Claim]]:
    first = ["first"]
    for element in times[:_MAX_TIMES]:
        shown = short_text(element, MAX_CHARS)
        value = element.attr("datetime") or element.attr("title") or shown
        if element not in view.begins or not day(value):
            continue
        index = view.begins[element]
        words = ["time", view.distance(index), *_context(view.around(element)), *first]
        words += ["shown"] if day(shown) else []
        first = []
        yield _entry(value, words, _label_before(view, index))


def _of_runs(view: TextRuns) -> Iterator[tuple[int, Claim]]:
    dated = texts_matching(view.texts, HINT)
    close = view.close()
    count = 0
    for index in sorted(dated, key=lambda at: at not in close):
        line = view.texts[index] if len(view.texts[index]) > _PIECE else _joined(view, index)
        start, end, _ = next(dates_in(line), (0, 0, ""))
        holders = view.around(view.nodes[index]) if end else []
        if not view.seen(holders):
            continue
        words = ["text", view.distance(index), *_context(holders)]
        words += ["first"] if index == dated[0] else []
        words += ["alone"] if end - start >= len(" ".join(line.split())) - 2 else []
        words += ["prose"] if len(line) > _CREDITS_LINE else []
        yield _entry(
            line[start:end], words, line[max(0, start - _MAX_LABEL) : start] + "|" + _label_before(view, index)
        )
        count += 1
        if count >= _MAX_LINES:
            return


def _joined(view: TextRuns, index: int) -> str:
    """Join a short run with the short ones before it, when it holds no whole date itself."""
    data = view.texts[index]
    if day(data):
        return data
    before = [text for text in view.texts[max(0, index - 2) : index] if len(text) <= _PIECE]
    return " ".join([*before, data])


def _label_before(view: TextRuns, index: int) -> str:
    """Return the label that may stand in the run before."""
    text = view.texts[index - 1] if 0 < index <= len(view.texts) else ""
    return text if len(text) <= _MAX_LABEL else ""


def _context(holders: list[HolderNames]) -> Iterator[str]:
    """Return what the elements around are called."""
    for depth, holder in enumerate(holders):
        if depth < _NEAREST and holder.tag not in ("body", "html"):
            yield from _named(holder.called)
        yield from _region(holder.called)
        if holder.tag in _ZONES:
            yield "in-" + holder.tag


@lru_cache(1024)
def _named(called: str) -> tuple[str, ...]:
    return tuple(word for word, pattern in _NAMES if pattern.search(called))


@lru_cache(1024)
def _region(called: str) -> tuple[str, ...]:
    return tuple(word for word, pattern in _REGIONS if pattern.search(called))


def _entry(value: str, words: list[str], label: str) -> tuple[int, Claim]:
    kept = tuple(dict.fromkeys([*words, *_marks(label.lower())]))
    place = ClaimPlace(PlaceKind(f"visible {kept[0]}"), " ".join(kept[1:]))
    claim = Claim(PageField.PUBLISHED, collapsed(value, MAX_CHARS), place, Source.HEURISTIC)
    return sum(_WEIGHTS.get(word, 0) for word in kept), claim


def _marks(label: str) -> Iterator[str]:
    """Return what a label says of its date."""
    if any(word in label for word in vocabulary().updated):
        yield "label-updated"
    rest = label.replace("updat", "")  # it holds "date", which stands before a date of publication
    if any(word in rest for word in vocabulary().published):
        yield "label-published"
    yield from (word for word, pattern in _MARKS if pattern.search(label))
