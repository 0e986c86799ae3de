"""Cuts a Markdown document to what a model can take: a part of it, one section, or the passages that answer words."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import UNSET, Struct, UnsetType

from actors.markdown import structure, tables
from actors.markdown.structure import CutPoint, MarkdownOutline, MarkdownSection, read_outline
from protocol.actions import Action
from protocol.faults import Code, Fault, FaultError, fault
from protocol.page import Heading

MAX_TOKENS = 4_000
"""What an answer with an excerpt of the default length may cost a model (`tokens` says how it is estimated)."""

MAX_BYTES = 18_500
"""What the words of such an excerpt may take: with those around it an answer stays below 20 KB."""

_FIRST_TOKENS = 3_400
"""The words of the page in the first part: its headings follow, in up to 300 tokens, and what is said of it."""

_LATER_TOKENS = 3_700
"""The same of every later one, which has no more than a line beside it."""

_AT_LEAST = 0.5
"""Share of what fits that a part must have, or a worse place for its end is taken."""

_SHOWN_HEADINGS = 20
_SHOWN_CHARS = 40
_LISTED_HEADINGS = 40
_MAX_QUOTED = 200
_NOTHING = "*[No passage holds a word of the query.]*\n"
_CURSOR = struct.Struct(">IIQ")
_SPECIAL = re.compile(r"([\\`*_\[\]<>~])")


class Excerpt(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is shown of a document: its characters from `start` to `end`, then a marker that says what follows.

    `cursor` continues at `end`, unless nothing follows. `outline` holds headings that follow (of passages: all
    headings). Where `passages` is not 0, as many passages are shown, which do not stand side by side. The first `lead`
    characters are no part of the document: where it is cut within a table, they repeat its head.
    """

    markdown: str
    total_chars: int
    start: int = 0
    end: int = 0
    cursor: str | UnsetType = UNSET
    outline: tuple[Heading, ...] = ()
    passages: int = 0
    lead: int = 0

    @property
    def part(self) -> str:
        """The characters of the document alone: the parts of all cursors, joined, are the document."""
        return self.markdown[self.lead : self.lead + self.end - self.start]


def excerpt(  # noqa: PLR0913 - the ways in which a part is asked for
    markdown: str,
    *,
    max_chars: int | None = None,
    cursor: str | None = None,
    section: str | None = None,
    query: str | None = None,
    marked: bool = True,
) -> Excerpt:
    """Return what fits of a document: from its beginning, from a cursor, of one section, or what answers a query.

    Without `max_chars`, as many characters are given as cost at most `MAX_TOKENS`. A cursor goes before a section, and
    that before a query. Of long tables the first rows are shown, with a cursor for the others, unless the whole
    document fits `max_chars`. Where it is not `marked`, whoever shows the excerpt says by what cursor it goes on.

    Raises:
        FaultError: the cursor is of another document, or there is no such section.
    """
    if cursor is None and section is None and query is not None:
        return _answering(query, markdown, read_outline(markdown), max_chars)
    fits = max_chars is not None and len(markdown) <= max_chars
    shown = markdown if fits else short(markdown)
    if cursor is None and section is None and len(shown) <= _fitting(shown, 0, max_chars):
        return Excerpt(markdown=shown, total_chars=len(markdown), end=len(shown))
    start, end = 0, len(shown)
    if cursor is not None:
        shown, start, end = _resume(cursor, markdown, shown)
    outline = read_outline(shown)
    if cursor is None and section is not None:
        start, end = _find(section, outline.sections, len(shown))
    stop = _stop(shown, outline, start, end, max_chars)
    return _part(shown, outline, start, stop, end, marked=marked, listed=cursor is None)


def short(markdown: str) -> str:
    """Return a document with the first rows of its long tables, and a cursor for the others of each."""
    return tables.abridged(markdown, lambda start, end: _cursor(start, end, markdown))


def _fitting(markdown: str, start: int, max_chars: int | None) -> int:
    """Return the place up to which a part may reach."""
    if max_chars is not None:
        return start + max(max_chars, 1)
    return fitting(markdown, start, _LATER_TOKENS if start else _FIRST_TOKENS, MAX_BYTES)


def _stop(markdown: str, outline: MarkdownOutline, start: int, end: int, max_chars: int | None) -> int:
    """Find the best place at which a part that begins at `start` can end."""
    most = _fitting(markdown, start, max_chars)
    if most >= end:
        return end
    least = start + int((most - start) * _AT_LEAST)
    for cut in CutPoint:
        places = outline.cuts[cut]
        index = bisect_right(places, most) - 1
        if index >= 0 and places[index] > max(least, start):
            return _before_heading(outline, places[index], least)
    space = markdown.rfind(" ", max(least, start + 1), most)
    return space + 1 if space > 0 else most


def _before_heading(outline: MarkdownOutline, place: int, least: int) -> int:
    # A heading goes with what stands below it.
    starts = [section.start for section in outline.sections]
    index = bisect_left(starts, place) - 1
    blocks = outline.cuts[CutPoint.BLOCK]
    before = bisect_left(blocks, place) - 1
    if index >= 0 and before >= 0 and starts[index] == blocks[before] and starts[index] > least:
        return starts[index]
    return place


def _part(  # noqa: PLR0913 - a place, and how it is shown
    markdown: str, outline: MarkdownOutline, start: int, stop: int, end: int, *, marked: bool, listed: bool
) -> Excerpt:
    lead = tables.lead(markdown, start, stop)
    if stop >= end:
        whole = f"{lead}{markdown[start:end]}"
        return Excerpt(markdown=whole, total_chars=len(markdown), start=start, end=end, lead=len(lead))
    following = [section for section in outline.sections if stop <= section.start < end]
    cursor = _cursor(stop, end, markdown)
    marker = f'*[{end - stop:,} of {len(markdown):,} characters follow; continue with the cursor "{cursor}"]*'
    closing = outline.fences.get(stop, "")
    part = markdown[start:stop]
    gap = "\n\n" if closing else "\n" * max(0, 2 - (len(part) - len(part.rstrip("\n"))))
    after = "\n".join([*([marker] if marked else []), *(_listed(following) if listed else [])])
    return Excerpt(
        markdown=f"{lead}{part}{closing}{gap}{after}\n" if after else f"{lead}{part}{closing}",
        total_chars=len(markdown),
        start=start,
        end=stop,
        cursor=cursor,
        outline=_headings(following),
        lead=len(lead),
    )


def _listed(sections: Sequence[MarkdownSection]) -> Iterator[str]:
    if not sections:
        return
    yield "\nSections that follow:\n"
    top = min(section.level for section in sections)
    for section in islice(sections, _SHOWN_HEADINGS):
        text = section.text if len(section.text) <= _SHOWN_CHARS else f"{section.text[:_SHOWN_CHARS].rstrip()}…"
        yield "  " * (section.level - top) + "- " + _SPECIAL.sub(r"\\\1", text)
    if len(sections) > _SHOWN_HEADINGS:
        yield f"- … {len(sections) - _SHOWN_HEADINGS:,} more"


def _headings(sections: Sequence[MarkdownSection]) -> tuple[Heading, ...]:
    return tuple(Heading(level=section.level, text=section.text) for section in sections[:_LISTED_HEADINGS])


def _cursor(place: int, end: int, markdown: str) -> str:
    return base64.urlsafe_b64encode(_CURSOR.pack(place, end, _digest(markdown))).decode("ascii").rstrip("=")


def _digest(markdown: str) -> int:
    data = markdown.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _resume(cursor: str, *documents: str) -> tuple[str, int, int]:
    """Return the one of the documents that a cursor is of, and the places from which and up to which it reads."""
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place, end, digest = _CURSOR.unpack(data)
    except (struct.error, binascii.Error, ValueError):
        raise FaultError(_stale("The cursor is none that an excerpt gave.")) from None
    for document in documents:
        if digest == _digest(document) and place < end <= len(document):
            return document, place, end
    raise FaultError(_stale("The cursor belongs to another document, or the page has changed since."))


def _stale(message: str) -> Fault:
    again = Action(action="start_again", description="Leave the cursor out to read from the beginning.")
    return fault(Code.VALIDATION_INVALID_REQUEST, message, field="cursor", actions=(again,))


def _find(wanted: str, sections: Sequence[MarkdownSection], length: int) -> tuple[int, int]:
    """Find a section by its heading: the same, the same in other case, or the only one that begins with or holds it."""
    index = _named(" ".join(wanted.strip("# \t").split()), [section.text for section in sections])
    if index is None:
        raise FaultError(_no_section(wanted, sections))
    section = sections[index]
    end = next((other.start for other in sections[index + 1 :] if other.level <= section.level), length)
    return section.start, end


def _named(wanted: str, names: Sequence[str]) -> int | None:
    if wanted in names:
        return names.index(wanted)
    folded = [name.casefold() for name in names]
    wanted = wanted.casefold()
    if wanted in folded:
        return folded.index(wanted)
    for fits in (str.startswith, str.__contains__):
        matching = [index for index, name in enumerate(folded) if wanted and fits(name, wanted)]
        if len(matching) == 1:
            return matching[0]
    return None


def _no_section(wanted: str, sections: Sequence[MarkdownSection]) -> Fault:
    names = "; ".join(section.text for section in sections[:_LISTED_HEADINGS])
    more = f"; and {len(sections) - _LISTED_HEADINGS} more" if len(sections) > _LISTED_HEADINGS else ""
    known = f"The sections are: {names}{more}." if names else "The document has no headings."
    message = f'No section, or more than one, goes by "{wanted[:_MAX_QUOTED]}". {known}'
    return fault(Code.VALIDATION_INVALID_REQUEST, message, field="section")


def _answering(query: str, markdown: str, outline: MarkdownOutline, max_chars: int | None) -> Excerpt:
    """Return the passages that fit the words of a query best, in the order of the document."""
    if rows := tables.named_rows(query, markdown):
        return Excerpt(markdown=f"{rows}\n", total_chars=len(markdown), outline=_headings(outline.sections), passages=1)
    ranked = structure.best_passages(query, markdown, outline)
    if max_chars is None:
        shown = structure.fitting_passages(ranked, _FIRST_TOKENS, tokens)
    else:
        shown = structure.fitting_passages(ranked, max_chars, len)
    total = len(markdown)
    headings = _headings(outline.sections)
    if not shown:
        return Excerpt(markdown=_NOTHING, total_chars=total, outline=headings)
    left = len(ranked) - len(shown)
    note = f"*[{len(shown)} passages of {total:,} characters; {left:,} others hold a word of the query]*"
    text = f"{structure.joined_passages(shown)}\n\n{note}\n"
    return Excerpt(markdown=text, total_chars=total, outline=headings, passages=len(shown))


_WORD, _LONG_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), re.compile(r"[a-z]{13,}|[A-Z]{13,}")
_NUMBER = re.compile(r"[0-9]{1,3}")
_MARK = re.compile(r"[!-/:-@\[-`{-~]")
_LINE_END = re.compile(r"\n+")
_LETTER = re.compile(r"[\u0080-\u024f]")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_OTHER = re.compile(r"[\u0250-\u03ff\u0530-\u1fff]")
_SYMBOL = re.compile(r"[\u2000-\u303f\ufe00-\uffff\U00010000-\U0010ffff]")

_COSTS = (
    (_WORD, 1.1),
    (_NUMBER, 1.3),
    (_MARK, 0.45),
    (_LINE_END, 1.5),
    (_LETTER, 1.8),
    (_IDEOGRAPH, 1.3),
    (_CYRILLIC, 0.6),
    (_OTHER, 1.2),
    (_SYMBOL, 0.8),
)
"""Tokens to each: fitted to cl100k_base and o200k_base on 1,200 pages in ten scripts. Of nine pages in ten the sum is
off by a tenth at most; where a script is written by many tokens, it is rather too large."""

_LONG_LETTERS = 4.0
"""Letters to a token of what is no word of any language: ids, keys, encoded data."""

_LONG_FROM = 12


def tokens(text: str) -> int:
    """Return what a text costs a model, in tokens."""
    cost = sum(len(kind.findall(text)) * each for kind, each in _COSTS)
    cost += sum(len(word) - _LONG_FROM for word in _LONG_WORD.findall(text)) / _LONG_LETTERS
    return round(cost)


def fitting(text: str, start: int, budget: int, max_bytes: int) -> int:
    """Return the place up to which a text can be given from `start`, within a budget of tokens and bytes of UTF-8."""
    place = start
    cost, size = 0, 0
    while place < len(text):
        line_end = text.find("\n", place) + 1 or len(text)
        line_end = min(line_end, place + max_bytes)
        line = text[place:line_end]
        cost, size = cost + tokens(line), size + len(line.encode("utf-8", "surrogatepass"))
        if cost > budget or size > max_bytes:
            return place + _fitting_part(line, budget - (cost - tokens(line)), max_bytes - (size - _size(line)))
        place = line_end
    return place


def _fitting_part(line: str, budget: int, max_bytes: int) -> int:
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens(line[:middle]) <= budget and _size(line[:middle]) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return low


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
