"""Puts Markdown of our own into a tree, past the escaping that a page's text goes through."""

from __future__ import annotations

import re

from turbohtml import Element, Node

TAG = "weft-verbatim"
NOTE = "weft-note"
_PLACE = "place"
_SCHEME = re.compile(r"[^\s/]*:")


class Verbatim:
    """The Markdown that stands for elements of our own.

    Their tags are ours alone once `forged` elements of a page are out of the way.
    """

    def __init__(self) -> None:
        # Told by their number, since elements that are made one by one have hashes that collide.
        self._texts = list[str]()

    def element(self, markdown: str) -> Element:
        """Make an element that is written as it is told."""
        return Element(TAG, {_PLACE: self._place(markdown)})

    def paragraph(self, markdown: str) -> Element:
        """Make a paragraph that is written as it is told."""
        return Element("p", None, [self.element(markdown)])

    def note(self, label: str, text: list[Node]) -> Element:
        """Make a footnote of what stands in some nodes."""
        return Element(NOTE, {_PLACE: self._place(label)}, text)

    def write(self, element: Element, _: str) -> str:
        """Return what was told, as a converter of turbohtml."""
        return self._told(element)

    def write_note(self, element: Element, inner: str) -> str:
        """Return a footnote with its label, as a converter of turbohtml."""
        text = inner.strip().replace("\n", "\n    ")
        # Who does not know footnotes would take a note that begins so for the address of a link.
        apart = "\u21a9 " if _SCHEME.match(text) and not text.startswith(("http:", "https:")) else ""
        return f"[^{self._told(element)}]: {apart}{text}"

    def _place(self, text: str) -> str:
        self._texts.append(text)
        return str(len(self._texts) - 1)

    def _told(self, element: Element) -> str:
        return self._texts[int(element.attr(_PLACE) or 0)]


def expel(body: Element) -> None:
    """Take elements that bear our tags out of a page's tree; what stands in them stays."""
    for forged in body.select(f"{TAG},{NOTE}"):
        forged.unwrap()


def is_own(element: Element) -> bool:
    """Return whether an element is one of ours, or a paragraph around one."""
    if element.tag != "p":
        return element.tag == TAG
    first = element.children[0] if element.children else None
    return isinstance(first, Element) and first.tag == TAG
