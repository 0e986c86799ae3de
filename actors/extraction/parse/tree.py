"""Parses a page once, into the tree that everything else reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from turbohtml import Document, Element, parse

from actors.extraction.parse.addresses import whole
from actors.extraction.parse.long_tables import LaterRows, take_later_rows
from actors.extraction.parse.text import repair
from actors.extraction.parse.visibility import Hiding, hidden
from protocol.browse import MAX_URL_CHARS
from protocol.faults import Code, FaultError, fault

T = TypeVar("T")


@dataclass(frozen=True)
class Page:
    """A parsed page. `base` is what links are resolved against; `hidden` holds the outermost elements not seen.

    `source` is the markup as it was parsed, apart from `later_rows` of very long tables, which stand not in the tree.
    """

    url: str
    source: str
    document: Document
    root: Element
    base: str
    hidden: Mapping[Element, Hiding] = field(default_factory=dict[Element, Hiding])
    later_rows: Mapping[Element, LaterRows] = field(default_factory=dict[Element, LaterRows])
    _read: dict[object, Any] = field(default_factory=dict[object, Any], repr=False, compare=False)

    def once(self, reader: Callable[[Page], T]) -> T:
        """Return what a reader makes of the page; each reader is called once."""
        if reader not in self._read:
            self._read[reader] = reader(self)
        value: T = self._read[reader]
        return value


MAX_TAGS = 1_000_000
"""The most tags of a page that is parsed: to read so many takes 8 s, several times of what any page may have.

Tags take 8 to 20 µs each, and hold 150 to 800 bytes; the cells of tables, which are mostly taken out, take 3 µs.
"""

_CELLS = ("<td", "<th", "<tr")
_PER_CELL = 0.4
_MAX_SCRIPTS = 10_000


def read(source: str, url: str) -> Page:
    """Parse a page; whatever comes in, a tree comes out.

    Raises:
        FaultError: CONTENT_TOO_LARGE, before anything is parsed, where no bound on time would let it be read.
    """
    if len(source) > MAX_TAGS * len("<p>") and estimated_tags(source) > MAX_TAGS:
        message = f"The page has over {MAX_TAGS} tags: more than can be read in the time that any page may have."
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, message))
    document = parse(source, positions=False)
    root = document.root
    if root is None:
        document = parse("<html><body></body></html>", positions=False)
        root = document.root
    assert root is not None  # noqa: S101 - the fallback has one
    repair(root, source)
    base = whole(document.base_url(url))
    if not base or len(base) > MAX_URL_CHARS:  # each link would be as long
        base = whole(url)
    later = take_later_rows(root, base)
    return Page(url, root.html if later else source, document, root, base, hidden(root), later)


def estimated_tags(source: str) -> float:
    """Estimate how many tags of a page are to be read, those of its scripts left out; 20 MB take 80 ms."""
    weight, at = 0.0, 0
    for _ in range(_MAX_SCRIPTS):
        start = source.find("<script", at)
        if start < 0:
            break
        weight += _weight(source, at, start)
        at = source.find("</script", start)
        if at < 0:
            return weight
    return weight + _weight(source, at, len(source))


def _weight(source: str, start: int, end: int) -> float:
    """Return what is opened between two places, where a cell counts less than any other element."""
    tags = source.count("<", start, end) - source.count("</", start, end)
    cells = sum(source.count(cell, start, end) for cell in _CELLS)
    return tags - (1 - _PER_CELL) * cells
