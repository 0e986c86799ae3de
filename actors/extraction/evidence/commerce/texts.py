"""Lays out the short texts of a page in reading order: labels, amounts and buttons are all short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turbohtml import Element, Node, Text

from actors.extraction.parse.tree import Page

MAX_NODES = 60_000
MAX_CHARS = 160

UNREAD = frozenset({"script", "style", "noscript", "template", "option", "svg", "title", "textarea"})
"""Elements whose text is not read as a text of the page."""

_CODE = frozenset({"script", "style"})
"""Elements whose text is long, and is never asked for: it would be copied."""

_ATTRIBUTES = ("class", "id", "itemprop", "data-testid")


@dataclass(frozen=True, slots=True)
class Run:
    """A short text on one line, the element that it stands in, and how many texts stand before it."""

    text: str
    holder: Element
    order: int


@dataclass(frozen=True, slots=True)
class Texts:
    """The short texts of a page, and where its marked elements begin among them."""

    runs: list[Run]
    begins: Mapping[Element, int]


def texts(page: Page, marked: set[Element]) -> Texts:
    """Walk a page once; `marked` are elements whose places are wanted."""
    runs: list[Run] = []
    begins: dict[Element, int] = {}
    order = 0
    before: Node | None = None
    for number, node in enumerate(page.root.descendants):
        before, previous = node, before
        if number >= MAX_NODES:
            break
        if isinstance(node, Text):
            order += 1
            if isinstance(previous, Element) and previous.tag in _CODE:
                continue
            data = node.data
            if len(data) <= 2 * MAX_CHARS and not data.isspace():
                holder = node.parent
                if isinstance(holder, Element) and holder.tag not in UNREAD:
                    text = " ".join(data.split())
                    if len(text) <= MAX_CHARS:
                        runs.append(Run(text, holder, order))
        elif node in marked and isinstance(node, Element):
            begins[node] = order
    return Texts(runs, begins)


def names(element: Element) -> str:
    """Return what an element is called, in lower case."""
    called = [name for attribute in _ATTRIBUTES if (name := element.attr(attribute))]
    return " ".join(name[:200] for name in called).lower()


def around(element: Element, count: int) -> list[Element]:
    """Return an element and those that hold it, innermost first."""
    found: list[Element] = []
    holder: object = element
    while isinstance(holder, Element) and len(found) < count:
        found.append(holder)
        holder = holder.parent
    return found
