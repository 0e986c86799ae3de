"""Reads the structure of a Markdown document: where it can be cut, its sections, the passages that answer a query."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from importlib import import_module
from itertools import islice

from msgspec import Struct, structs

_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")
_FENCES = re.compile(r"^ {0,3}(?:`{3,}|~{3,})[^`\n]*$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+([^\n]*)")
_SPECIAL = re.compile(r"[\\`*~\[#_]")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
# No link begins at an escaped bracket: looking on from there would cost the square of a text that is full of them.
_TEXT = r"\[((?:[^\[\]\\]|\\.)*)\]"
_TO = r"(?:[^()\\\s]|\\.|\([^()]*\))*"
_TITLE = r"(?:[ \t]+\"[^\"]*\")?"
_IMAGE = re.compile(rf"(?<!\\)!{_TEXT}\({_TO}{_TITLE}\)")
_LINK = re.compile(rf"(?<!\\){_TEXT}\((?:<[^<>]*>|{_TO}){_TITLE}\)")
_MARKS = re.compile(
    r"(?<!\\)(?:\*{2,3}|(?<![\w\s])\*|\*(?![\w\s])|(?<=\s)\*(?=\w)|(?<=\w)\*(?=\s)"
    r"|`+|~~|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w))"
)
"""A star between two figures or two blanks is no mark, nor is a line within a word."""

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_MAX_CHARS = 1_500
"""Characters from which a block is parted at its items, rows or lines."""

_MIN_CHARS = 200
"""Characters up to which blocks of one section are joined to one passage."""

_MAX_SEARCHED = 2_000_000
"""Characters of a document that are searched: more would take longer than a second."""

_MAX_PASSAGES = 10_000

_LEAST_SCORE = 0.25
"""Share of the best score that a passage must have: what has less holds a word that stands all over the document."""

_TELLING_SHARE = 0.5
"""Share of the rows of a table up to which a word tells them apart."""

_MAX_QUERY = 1_000
_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
_PLURAL = re.compile(r"(?<=[a-z]{3})(?<!s)s$")
_GAP = "\n\n[…]\n\n"
_ROWS = re.compile(r"^\|[^\n]*\n\|[ :|-]+\n", re.MULTILINE)

Cost = Callable[[str], int]


class CutPoint(IntEnum):
    """How well a document can be cut at a place; the smaller, the better."""

    BLOCK = 0
    ITEM = 1
    ROW = 2
    LINE = 3


class MarkdownSection(Struct, frozen=True):
    """A heading: where it begins, its level from 1 to 6, and its plain text."""

    start: int
    level: int
    text: str


class MarkdownOutline(Struct, frozen=True):
    """The places where lines of a document begin, by how well it can be cut there, and its headings.

    `fences` are the places of lines within blocks of code, with the line that closes each.
    """

    cuts: tuple[list[int], list[int], list[int], list[int]]
    sections: list[MarkdownSection]
    fences: dict[int, str]


def read_outline(document: str) -> MarkdownOutline:
    """Read a document line by line, once."""
    cuts: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    sections = list[MarkdownSection]()
    fences = dict[int, str]()
    fence = ""
    after_blank = True
    place = 0
    for line in document.split("\n"):
        text = line.strip(" >\t\r")
        first = text[:1]
        if fence:
            cuts[CutPoint.LINE].append(place)
            fences[place] = fence
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif first:
            heading = _HEADING.match(line) if first == "#" else None
            if heading is not None:
                sections.append(MarkdownSection(place, len(heading[1]), plain_words(_without_closing(heading[2]))))
            whole = heading is not None or (after_blank and line[0] not in " \t")
            cuts[CutPoint.BLOCK if whole else _cut_of_line(text)].append(place)
            opening = _FENCE.match(text) if first in "`~" else None
            fence = opening[1] if opening is not None else ""
        after_blank = not first
        place += len(line) + 1
    return MarkdownOutline(cuts, sections, fences)


def plain_words(markdown: str) -> str:
    """Return the words of some Markdown."""
    if _SPECIAL.search(markdown) is not None:
        markdown = _LINK.sub(r"\1", _IMAGE.sub(r"\1", _FENCES.sub("", markdown)))
        markdown = _ESCAPED.sub(r"\1", _MARKS.sub("", markdown))
    return " ".join(markdown.split())


def without_images(markdown: str) -> str:
    """Return some Markdown without its images and what they are called."""
    return _IMAGE.sub("", markdown)


def _without_closing(heading: str) -> str:
    # A heading may end as it begins: "## One ##".
    words = heading.rstrip()
    bare = words.rstrip("#")
    return bare if bare[-1:] in ("", " ", "\t") else words


def _cut_of_line(text: str) -> CutPoint:
    if text[0] == "|":
        return CutPoint.ROW
    return CutPoint.ITEM if _ITEM.match(text) is not None else CutPoint.LINE


class MarkdownPassage(Struct, frozen=True):
    """Some characters of a document, the headings above them, and the head of their table where that is cut off."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...]
    head: str = ""


def best_passages(query: str, markdown: str, outline: MarkdownOutline) -> list[MarkdownPassage]:
    """Return the passages that hold words of a query, best first."""
    wanted = _query_words(query[:_MAX_QUERY])
    passages = list(islice(passages_of(markdown[:_MAX_SEARCHED], outline), _MAX_PASSAGES))
    texts = [_query_words(" ".join((*each.headings, each.text))) for each in passages]
    if not wanted or not any(texts):
        return []
    scores = _scores(texts, wanted)
    least = max(scores) * _LEAST_SCORE
    ranked = sorted(range(len(passages)), key=lambda index: (-scores[index], index))
    return _with_answering_rows([passages[index] for index in ranked if scores[index] > least], set(wanted))


def passages_of(markdown: str, outline: MarkdownOutline) -> Iterator[MarkdownPassage]:
    """Cut a document into passages of 200 to 1,500 characters, at its blocks as far as it can be."""
    above = list[tuple[int, str]]()
    sections = {section.start: section for section in outline.sections}
    starts = outline.cuts[CutPoint.BLOCK][: bisect_right(outline.cuts[CutPoint.BLOCK], len(markdown) - 1)]
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


def _with_answering_rows(passages: list[MarkdownPassage], wanted: set[str]) -> list[MarkdownPassage]:
    """Return of passages of tables the rows alone that answer; where some do, passages whose rows do not are none."""
    cut = [(passage, _answering_rows(passage, wanted)) for passage in passages]
    rows_answer = any(rows is not None and rows is not passage for passage, rows in cut)
    return [passage if rows is None else rows for passage, rows in cut if not rows_answer or rows is not passage]


def _answering_rows(passage: MarkdownPassage, wanted: set[str]) -> MarkdownPassage | None:
    """Return a passage of a table with those rows alone that hold words of the query which not every row holds.

    It is the same where there are none, and None where it is no passage of a table.
    """
    head, body, before = passage.head, passage.text, ""
    if not head and (match := _ROWS.search(body)) is not None:
        before, head, body = body[: match.start()], match[0], body[match.end() :]
    rows = body.splitlines(keepends=True)
    if not head or not all(row.startswith("|") for row in rows if row.strip()):
        return None
    words = [wanted.intersection(_query_words(row)) for row in rows]
    telling = {word for word in wanted if 0 < sum(word in each for each in words) <= len(rows) * _TELLING_SHARE}
    most = max((len(each & telling) for each in words), default=0)
    if not most:
        return passage
    kept = "".join(row for row, each in zip(rows, words, strict=True) if len(each & telling) == most)
    return structs.replace(passage, text=kept, head=before + head)


def fitting_passages(ranked: Iterable[MarkdownPassage], budget: int, cost: Cost) -> list[MarkdownPassage]:
    """Return the best passages that fit a budget together, in the order of the document; the first one always."""
    shown = list[MarkdownPassage]()
    left = budget
    for passage in ranked:
        left -= cost("\n\n".join((*passage.headings, passage.head, passage.text))) + cost(_GAP)
        if left < 0 and shown:
            break
        shown.append(passage)
    return sorted(shown, key=lambda passage: passage.start)


def joined_passages(shown: Sequence[MarkdownPassage]) -> str:
    """Write passages under their headings, each heading once, with a mark where something lies between."""
    text, head = "", ""
    end = 0
    written_headings = set[str]()
    for passage in shown:
        apart = passage.start > end
        if text and apart:
            text = text.rstrip() + _GAP
        for heading in passage.headings:
            if heading not in written_headings:
                text += f"{heading}\n\n"
                written_headings.add(heading)
        repeated = not apart and passage.head == head
        text += ("" if repeated else passage.head) + (passage.text.lstrip("\n") if apart else passage.text)
        end, head = passage.end, passage.head
    return text.rstrip()


def _scores(texts: list[list[str]], wanted: list[str]) -> list[float]:
    # Imported when first asked for, which few do: beside NumPy it takes 7 MB and .1 s (28 MB where SciPy is installed).
    library = import_module("bm25s")
    library.logger.setLevel("WARNING")  # by default it logs everything
    ranking = library.BM25(csc_backend="numpy")
    ranking.index(texts, show_progress=False)
    return [float(score) for score in ranking.get_scores(wanted)]


def _query_words(text: str) -> list[str]:
    # A plural counts as its singular.
    return [_PLURAL.sub("", word) for word in _WORD.findall(plain_words(text).lower())]


def _split(
    markdown: str, start: int, end: int, headings: tuple[str, ...], outline: MarkdownOutline
) -> Iterator[MarkdownPassage]:
    """Part what is long at its items, rows or lines."""
    table = _ROWS.search(markdown, start, end)
    place = start
    while end - place > _MAX_CHARS:
        cut = max(
            _last_place(outline.cuts[kind], place, place + _MAX_CHARS)
            for kind in (CutPoint.ITEM, CutPoint.ROW, CutPoint.LINE)
        )
        stop = cut if cut > place else min(place + _MAX_CHARS, end)
        head = table[0] if table and place >= table.end() else ""
        yield MarkdownPassage(markdown[place:stop], place, stop, headings, head)
        place = stop
    head = table[0] if table and place >= table.end() else ""
    yield MarkdownPassage(markdown[place:end], place, end, headings, head)


def _last_place(places: list[int], above: int, most: int) -> int:
    index = bisect_right(places, most) - 1
    return places[index] if index >= 0 and places[index] > above else -1
