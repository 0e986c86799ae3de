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

from actors.markdown import structure
from actors.markdown.structure import CutPoint, MarkdownOutline, MarkdownSection, read_outline
from protocol.faults import Action, Code, Fault, FaultError, fault
from protocol.page import Heading

MAX_TOKENS = 4_000
"""What an excerpt of the default length may cost a model, with its marker (`tokens` says how it is estimated)."""

_MARKER_TOKENS = 500
_PER_TOKEN = 3
"""Characters of ASCII to a token, at least: prose has more than 4, addresses and tables about 3."""

_OTHER = 1.2
"""Tokens to any other character, at most: Chinese has from .7 to 1.2 by the tokeniser, Cyrillic and accents less."""

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
    headings). Where `passages` is not 0, as many passages are shown, which do not stand side by side.
    """

    markdown: str
    total_chars: int
    start: int = 0
    end: int = 0
    cursor: str | UnsetType = UNSET
    outline: tuple[Heading, ...] = ()
    passages: int = 0

    @property
    def part(self) -> str:
        """The characters of the document alone: the parts of all cursors, joined, are the document."""
        return self.markdown[: self.end - self.start]


def excerpt(
    markdown: str,
    *,
    max_chars: int | None = None,
    cursor: str | None = None,
    section: str | None = None,
    query: str | None = None,
) -> Excerpt:
    """Return what fits of a document: from its beginning, from a cursor, of one section, or what answers a query.

    Without `max_chars`, as many characters are given as cost at most `MAX_TOKENS`. A cursor goes before a section, and
    that before a query.

    Raises:
        FaultError: the cursor is of another document, or there is no such section.
    """
    if cursor is None and section is None and query is None and len(markdown) <= _fitting(markdown, 0, max_chars):
        return Excerpt(markdown=markdown, total_chars=len(markdown), end=len(markdown))
    outline = read_outline(markdown)
    start, end = 0, len(markdown)
    if cursor is not None:
        start, end = _resume(cursor, markdown)
    elif section is not None:
        start, end = _find(section, outline.sections, len(markdown))
    elif query is not None:
        return _answering(query, markdown, outline, max_chars)
    stop = _stop(markdown, outline, start, end, max_chars)
    return _part(markdown, outline, start, stop, end)


def tokens(text: str) -> int:
    """Estimate what a text costs a model at most: a third of its ASCII characters, and 1.2 for every other."""
    plain = len(text.encode("ascii", "ignore"))
    return round(plain / _PER_TOKEN + (len(text) - plain) * _OTHER)


def _fitting(markdown: str, start: int, max_chars: int | None) -> int:
    """Return the place up to which a part may reach."""
    if max_chars is not None:
        return start + max(max_chars, 1)
    budget = MAX_TOKENS - _MARKER_TOKENS
    window = markdown[start : start + budget * _PER_TOKEN]
    if tokens(window) <= budget:
        return start + len(window)
    return start + bisect_right(range(1, len(window)), budget, key=lambda count: tokens(window[:count]))


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


def _part(markdown: str, outline: MarkdownOutline, start: int, stop: int, end: int) -> Excerpt:
    if stop >= end:
        return Excerpt(markdown=markdown[start:end], total_chars=len(markdown), start=start, end=end)
    following = [section for section in outline.sections if stop <= section.start < end]
    cursor = _cursor(stop, end, markdown)
    marker = f'*[{end - stop:,} of {len(markdown):,} characters follow; continue with the cursor "{cursor}"]*'
    closing = outline.fences.get(stop, "")
    part = markdown[start:stop]
    gap = "\n\n" if closing else "\n" * max(0, 2 - (len(part) - len(part.rstrip("\n"))))
    return Excerpt(
        markdown="\n".join([f"{part}{closing}{gap}{marker}", *_listed(following)]) + "\n",
        total_chars=len(markdown),
        start=start,
        end=stop,
        cursor=cursor,
        outline=_headings(following),
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


def _resume(cursor: str, markdown: str) -> tuple[int, int]:
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place, end, digest = _CURSOR.unpack(data)
    except (struct.error, binascii.Error, ValueError):
        raise FaultError(_stale("The cursor is none that an excerpt gave.")) from None
    if digest != _digest(markdown) or not place < end <= len(markdown):
        raise FaultError(_stale("The cursor belongs to another document, or the page has changed since."))
    return place, end


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
    ranked = structure.best_passages(query, markdown, outline)
    if max_chars is None:
        shown = structure.fitting_passages(ranked, MAX_TOKENS - _MARKER_TOKENS, tokens)
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
