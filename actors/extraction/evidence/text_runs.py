"""Lays out the runs of text of a page in reading order, so that one can tell how far something stands from a title."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Struct
from turbohtml import Element, Node, Text

from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding

UNREAD = frozenset({"script", "style", "noscript", "template", "textarea", "option", "svg", "title", "iframe"})
"""Elements whose text nobody reads."""

MAX_RUN = 600
"""A longer run of text is prose or a script: no byline, no date line."""

MAX_NODES = 100_000
MAX_NAMES_CHARS = 300

_NEAR, _AROUND = 8, 30
"""How many runs of text away something still belongs to a title, or to its head."""

_ANCESTORS = 7
_NAMING = ("class", "id", "itemprop", "rel", "data-testid", "data-qa")

_BORDER = "\0"
"""Stands in no text of a tree: a parser of HTML replaces it."""

MAX_SHORT_NODES = 60_000
MAX_SHORT_CHARS = 160

UNREAD_SHORT = frozenset({"script", "style", "noscript", "template", "option", "svg", "title", "textarea"})
"""Elements whose text is not read as a text of the page."""

_CODE_TAGS = frozenset({"script", "style"})
"""Elements whose text is long, and is never asked for: it would be copied."""

_ATTRIBUTES = ("class", "id", "itemprop", "data-testid")


class HolderNames(Struct, frozen=True):
    """An element that something stands in: its tag, and what it is called (class, id and the like, in lower case)."""

    element: Element
    tag: str
    called: str


@dataclass(frozen=True)
class TextRuns:
    """The runs of text of a page in order, where its titles stand among them, and where its elements begin.

    `nodes` and `texts` are parallel: the texts are those of the nodes without blanks around them.
    """

    hidden: Mapping[Element, Hiding]
    nodes: list[Text]
    texts: list[str]
    titles: list[int]
    begins: Mapping[Element, int]
    known: dict[Element, HolderNames] = field(default_factory=dict[Element, HolderNames], repr=False)

    def distance(self, index: int) -> str:
        """Return how far a run stands from the titles: "above", "near", "around", "before" or "far"."""
        at = bisect_left(self.titles, index + 1)
        after = index - self.titles[at - 1] if at else None
        ahead = self.titles[at] - index if at < len(self.titles) else None
        if after is not None and after <= _NEAR:
            return "near"
        if ahead is not None and ahead <= _NEAR:
            return "above"
        if after is None:
            return "before"
        return "around" if after <= _AROUND else "far"

    def close(self) -> set[int]:
        """Return the runs that stand near a title or right above it."""
        return {index for title in self.titles for index in range(title - _NEAR, title + _NEAR + 1)}

    def around(self, node: Text | Element) -> list[HolderNames]:
        """Return the nearest elements that hold a node, innermost first; an element holds itself."""
        element = node if isinstance(node, Element) else node.parent
        holders: list[HolderNames] = []
        while isinstance(element, Element) and len(holders) < _ANCESTORS:
            holder = self.known.get(element)
            if holder is None:
                holder = self.known[element] = HolderNames(element, element.tag, names_of(element))
            holders.append(holder)
            element = element.parent
        return holders

    def seen(self, holders: list[HolderNames]) -> bool:
        """Return whether somebody reads what stands in these elements."""
        if not holders or holders[0].tag in UNREAD:
            return False
        return not self.hidden or all(self.hidden.get(one.element) is not Hiding.INVISIBLE for one in holders)


def text_runs(page: Page) -> TextRuns:
    """Walk a page once."""
    headings = set(page.root.select("h1")) or set(page.root.select("h2")[:1])
    nodes: list[Text] = []
    texts: list[str] = []
    starts: dict[Element, int] = {}
    for node in islice(page.root.descendants, MAX_NODES):
        if type(node) is Text:
            data = node.data.strip()
            if data and len(data) <= MAX_RUN:
                nodes.append(node)
                texts.append(data)
        elif type(node) is Element:
            starts[node] = len(texts)
    titles = sorted(starts[heading] for heading in headings if heading in starts)
    return TextRuns(page.hidden, nodes, texts, titles, starts)


def names_of(element: Element) -> str:
    """Return what an element is called: class, id and the like, in lower case."""
    attrs = element.attrs
    values = [value for name in _NAMING if (value := attrs.get(name))]
    return " ".join([value if isinstance(value, str) else " ".join(value) for value in values])[
        :MAX_NAMES_CHARS
    ].lower()


def short_text(element: Element, most: int) -> str:
    """Return the text of an element on one line, read no further than `most` characters."""
    parts: list[str] = []
    length = 0
    for text in element.strings:
        parts.append(text[: 2 * most])
        length += len(text)
        if length > 2 * most:
            break
    return " ".join("".join(parts).split())[:most].rstrip()


def texts_containing(texts: Sequence[str], words: Iterable[str]) -> list[int]:
    """Return the places of the texts that hold one of some words, written in lower case."""
    whole = _BORDER.join(texts).lower()
    return _texts_hit(whole, sorted(at for word in words for at in _occurrences(whole, word)))


def texts_matching(texts: Sequence[str], pattern: re.Pattern[str]) -> list[int]:
    """Return the places of the texts in which a pattern is found that matches no control character."""
    whole = _BORDER.join(texts)
    return _texts_hit(whole, [match.start() for match in pattern.finditer(whole)])


class ShortText(Struct, frozen=True):
    """A short text on one line, the element that it stands in, and how many texts stand before it."""

    text: str
    holder: Element
    order: int


class ShortTexts(Struct, frozen=True):
    """The short texts of a page, and where its marked elements begin among them."""

    runs: list[ShortText]
    begins: Mapping[Element, int]


def short_texts(page: Page, marked: set[Element]) -> ShortTexts:
    """Walk a page once; `marked` are elements whose places are wanted."""
    runs: list[ShortText] = []
    begins: dict[Element, int] = {}
    order = 0
    before: Node | None = None
    for number, node in enumerate(page.root.descendants):
        before, previous = node, before
        if number >= MAX_SHORT_NODES:
            break
        if isinstance(node, Text):
            order += 1
            if isinstance(previous, Element) and previous.tag in _CODE_TAGS:
                continue
            data = node.data
            if len(data) <= 2 * MAX_SHORT_CHARS and not data.isspace():
                holder = node.parent
                if isinstance(holder, Element) and holder.tag not in UNREAD_SHORT:
                    text = " ".join(data.split())
                    if len(text) <= MAX_SHORT_CHARS:
                        runs.append(ShortText(text, holder, order))
        elif node in marked and isinstance(node, Element):
            begins[node] = order
    return ShortTexts(runs, begins)


def code_names(element: Element) -> str:
    """Return what an element is called, in lower case."""
    called = [name for attribute in _ATTRIBUTES if (name := element.attr(attribute))]
    return " ".join(name[:200] for name in called).lower()


def ancestry(element: Element, count: int) -> list[Element]:
    """Return an element and those that hold it, innermost first."""
    holders: list[Element] = []
    holder: object = element
    while isinstance(holder, Element) and len(holders) < count:
        holders.append(holder)
        holder = holder.parent
    return holders


def _occurrences(whole: str, word: str) -> Iterator[int]:
    """Return where a word stands, once for each text."""
    at = whole.find(word)
    while at >= 0:
        yield at
        border = whole.find(_BORDER, at)
        at = whole.find(word, border) if border >= 0 else -1


def _texts_hit(whole: str, hits: Iterable[int]) -> list[int]:
    """Return which texts hold the hits, which are in their order."""
    texts: dict[int, None] = {}
    place = last = 0
    for at in hits:
        place += whole.count(_BORDER, last, at)
        last = at
        texts[place] = None
    return list(texts)
