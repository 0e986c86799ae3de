"""Cuts a document into numbered sentences, the smallest pieces that are quoted, in whatever language it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from actors.markdown.plain_lines import LineKind, plain_lines

MAX_CHARS = 2_000_000
"""Characters of a document that are read."""

MAX_SENTENCE_CHARS = 600
"""Longer sentences are cut where a clause or a word ends, so that a quote can be shown."""

_CLOSING = "\"'\u201d\u2019\u00bb)\\]"
_OPENING = "\"'\u201c\u201e\u2018\u00ab\u00bf\u00a1(\\["
_SMALL = "a-z\u00df-\u00f6\u00f8-\u00ff\u0430-\u045f"
_STOP, _FULL_STOP, _OTHER_STOP = ".!?\u2026", "\u3002\uff01\uff1f\uff61", "\u061f\u06d4\u0964\u0965\u1362\u17d4\u104b"
_END = re.compile(  # it begins with one class, so that the expression engine passes over all else quickly
    rf"[{_STOP}{_FULL_STOP}{_OTHER_STOP}](?:"
    # in the scripts that set blanks between words,
    rf"(?<=[{_STOP}])(?<![{_STOP}].)[{_STOP}]{{0,8}}[{_CLOSING}]{{0,3}}(?:\[[\w ]{{1,20}}\]){{0,3}}"
    rf"(?= )(?! [{_OPENING}]*[{_SMALL}])"
    # in Chinese and Japanese,
    rf"|(?<=[{_FULL_STOP}])[{_FULL_STOP}]*[\u300d\u300f\u201d\u2019\uff09\u300b]*"
    # in Arabic, the Indic scripts, Ethiopic, Khmer and Burmese
    rf"|(?<=[{_OTHER_STOP}])(?= ))"
)
_MAX_WORD = 24
_AROUND = "\"'\u201c\u201e\u2018\u00ab([,;:.!?"
_WRITTEN = frozenset({LineKind.PROSE, LineKind.ITEM})
_CLAUSE = re.compile(r"[;:,\uff1b\uff1a\uff0c\u3001\u060c](?=\s|[^\x00-\u2fff])")
_THAI = re.compile(r"(?<=[\u0e00-\u0e7f]) (?=[\u0e00-\u0e7f])")
_THAI_CHARS = 60
"""Thai sets blanks where a sentence or a clause ends: what is shorter is joined to what follows."""

_SHORTENED = (
    "mr mrs ms dr prof st sr jr gen col lt sgt capt rev hon gov sen rep pres vs etc approx est inc ltd corp dept univ "
    "fig no vol pp p ed eds al cf ca e.g i.e u.s u.k a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mt ft "
    "nr bzw z.b u.a d.h ggf evtl vgl std abs art str bd hrsg mme mlle mm av bd env cad sra srta núm pág dott sig "
    "г гг ул др т.д т.п см стр руб им"  # noqa: RUF001 - Russian
)
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_MONTHS = frozenset(
    [
        "januar",
        "februar",
        "märz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
    ]
)
"""Before these a number with a period is a day."""


class Sentence(Struct, frozen=True, gc=False):
    """A sentence, or a heading, row or line of code: `text` is what stands from `start` to `end` in the plain text.

    `number` counts from 1. `section` is the heading above it, "" before the first.
    """

    number: int
    text: str
    start: int
    end: int
    kind: LineKind
    section: str


class SourceText(Struct, frozen=True):
    """The plain text of a document, a line for each of its blocks, and its sentences in their order."""

    text: str
    sentences: tuple[Sentence, ...]


def read_sentences(markdown: str) -> SourceText:
    """Cut a document into sentences; every quote is to stand in the plain text that comes with them."""
    lines, sentences = list[str](), list[Sentence]()
    start, section = 0, ""
    for line in plain_lines(markdown[:MAX_CHARS]):
        if line.kind is LineKind.HEADING:
            section = line.text[:MAX_SENTENCE_CHARS]
        for begin, end in _cuts(line.text, line.kind):
            number = len(sentences) + 1
            sentences.append(Sentence(number, line.text[begin:end], start + begin, start + end, line.kind, section))
        lines.append(line.text)
        start += len(line.text) + 1
    return SourceText("\n".join(lines), tuple(sentences))


def _cuts(text: str, kind: LineKind) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a line begin and end, without the blanks between them."""
    start = 0
    if kind in _WRITTEN:
        for match in _END.finditer(text):
            end = match.end()
            if match[0] != "." or not _is_abbreviated(text, end - 1):
                yield from _shorter(text, start, end)
                start = end + (text[end : end + 1] == " ")
    if start < len(text):
        yield from _shorter(text, start, len(text))


def _is_abbreviated(text: str, period: int) -> bool:
    """Return whether a period belongs to the word before it."""
    least = max(period - _MAX_WORD, 0)
    word = text[text.rfind(" ", least, period) + 1 or least : period].lstrip(_AROUND)
    if len(word) == 1 and word.isalpha():
        return word.isupper()  # the initial of a name
    if word.isdigit():
        following = text[period + 2 : period + _MAX_WORD].split(" ", 1)[0].rstrip(_AROUND)
        return len(word) < 3 and following.lower() in _MONTHS  # noqa: PLR2004 - a day has two figures
    return word.lower() in _ABBREVIATIONS


def _shorter(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    """Cut a sentence that is too long; what has no blanks is cut anywhere."""
    return _clauses(text, start, end) if end - start > _THAI_CHARS else ((start, end),)


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if "\u0e00" <= text[start] <= "\u0e7f":
        for blank in _THAI.finditer(text, start, end):
            if blank.start() - start >= _THAI_CHARS:
                yield from _pieces(text, start, blank.start())
                start = blank.end()
    yield from _pieces(text, start, end)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_SENTENCE_CHARS:
        most = start + MAX_SENTENCE_CHARS
        stop = max(
            (clause.end() for clause in _CLAUSE.finditer(text, start + MAX_SENTENCE_CHARS // 2, most)), default=0
        )
        stop = stop or text.rfind(" ", start + 1, most)
        stop = stop if stop > start else most
        yield start, stop
        start = stop + (text[stop : stop + 1] == " ")
    if start < end:
        yield start, end
