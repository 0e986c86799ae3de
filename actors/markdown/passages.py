"""Finds the passages of a Markdown document that answer words, by BM25."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice

from actors.markdown.outline import Cut, Outline, plain

_MAX_CHARS = 1_500
"""Characters from which a block is parted at its items, rows or lines."""

_MIN_CHARS = 200
"""Characters up to which blocks of one section are joined to one passage."""

_MAX_SEARCHED = 2_000_000
"""Characters of a document that are searched: more would take longer than a second."""

_MAX_PASSAGES = 10_000

_MAX_QUERY = 1_000
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?<!s)s$")
_GAP = "\n\n[…]\n\n"
_ROWS = re.compile(r"\|[^\n]*\n\|[ :|-]+\n")

Cost = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Passage:
    """Some characters of a document, the headings above them, and the head of their table where that is cut off."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    head: str = ""


def best(query: str, markdown: str, outline: Outline) -> list[Passage]:
    """Return the passages that hold words of a query, best first."""
    wanted = _words(query[:_MAX_QUERY])
    found = list(islice(_passages(markdown[:_MAX_SEARCHED], outline), _MAX_PASSAGES))
    texts = [_words(" ".join((*each.headings, each.text))) for each in found]
    if not wanted or not any(texts):
        return []
    scores = _scores(texts, wanted)
    ranked = sorted(range(len(found)), key=lambda index: (-scores[index], index))
    return [found[index] for index in ranked if scores[index] > 0]


def fitting(ranked: Iterable[Passage], budget: int, cost: Cost) -> list[Passage]:
    """Return the best passages that fit a budget together, in the order of the document; the first one always."""
    shown = list[Passage]()
    left = budget
    for passage in ranked:
        left -= cost("\n\n".join((*passage.headings, passage.head, passage.text))) + cost(_GAP)
        if left < 0 and shown:
            break
        shown.append(passage)
    return sorted(shown, key=lambda passage: passage.start)


def joined(shown: Sequence[Passage]) -> str:
    """Write passages under their headings, each heading once, with a mark where something lies between."""
    text = ""
    end = 0
    said = set[str]()
    for passage in shown:
        apart = passage.start > end
        if text and apart:
            text = text.rstrip() + _GAP
        for heading in passage.headings:
            if heading not in said:
                text += f"{heading}\n\n"
                said.add(heading)
        text += passage.head + (passage.text.lstrip("\n") if apart else passage.text)
        end = passage.end
    return text.rstrip()


def _scores(texts: list[list[str]], wanted: list[str]) -> list[float]:
    # Imported when first asked for, which few do: beside NumPy it takes 7 MB and .1 s (28 MB where SciPy is installed).
    library = import_module("bm25s")
    library.logger.setLevel("WARNING")  # it asks for all that it has to say to be heard
    ranking = library.BM25(csc_backend="numpy")
    ranking.index(texts, show_progress=False)
    return [float(score) for score in ranking.get_scores(wanted)]


def _words(text: str) -> list[str]:
    # A plural counts as its singular.
    return [_PLURAL.sub("", word) for word in _WORD.findall(plain(text).lower())]


def _passages(markdown: str, outline: Outline) -> Iterator[Passage]:
    above = list[tuple[int, str]]()
    sections = {section.start: section for section in outline.sections}
    starts = outline.cuts[Cut.BLOCK][: bisect_right(outline.cuts[Cut.BLOCK], len(markdown) - 1)]
    least = max(_MIN_CHARS, len(markdown) // _MAX_PASSAGES)
    first = 0
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(markdown)
        section = sections.get(start)
        if section is not None:
            line = markdown[start:end].split("\n", 1)[0].strip()
            above = [each for each in above if each[0] < section.level] + [(section.level, line)]
            first = min(start + len(markdown[start:end].split("\n", 1)[0]) + 1, end)
        follows = index + 1 < len(starts) and starts[index + 1] not in sections
        if (follows and end - first < least) or not markdown[first:end].strip():
            continue
        yield from _split(markdown, first, end, tuple(line for _, line in above), outline)
        first = end


def _split(markdown: str, start: int, end: int, headings: tuple[str, ...], outline: Outline) -> Iterator[Passage]:
    """Part what is long at its items, rows or lines."""
    table = _ROWS.match(markdown, start)
    place = start
    while end - place > _MAX_CHARS:
        cut = max(_last(outline.cuts[kind], place, place + _MAX_CHARS) for kind in (Cut.ITEM, Cut.ROW, Cut.LINE))
        stop = cut if cut > place else min(place + _MAX_CHARS, end)
        yield Passage(markdown[place:stop], place, stop, headings, table[0] if table and place > start else "")
        place = stop
    yield Passage(markdown[place:end], place, end, headings, table[0] if table and place > start else "")


def _last(places: list[int], above: int, most: int) -> int:
    index = bisect_right(places, most) - 1
    return places[index] if index >= 0 and places[index] > above else -1
