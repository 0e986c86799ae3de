"""Puts Markdown of our own into a tree, past the escaping that a page's text goes through."""

from __future__ import annotations

from turbohtml import Element, Node

TAG = "weft-verbatim"
NOTE = "weft-note"


class Verbatim:
    """The Markdown that stands for elements of our own; an element of the page that bears the tag has none."""

    def __init__(self) -> None:
        self._texts = dict[Element, str]()
        self._paragraphs = set[Element]()
        self._labels = dict[Element, str]()

    def element(self, markdown: str) -> Element:
        """Make an element that is written as it is told."""
        element = Element(TAG)
        self._texts[element] = markdown
        return element

    def paragraph(self, markdown: str) -> Element:
        """Make a paragraph that is written as it is told."""
        paragraph = Element("p", None, [self.element(markdown)])
        self._paragraphs.add(paragraph)
        return paragraph

    def note(self, label: str, text: list[Node]) -> Element:
        """Make a footnote of what stands in some nodes."""
        note = Element(NOTE, None, text)
        self._labels[note] = label
        return note

    def write_note(self, element: Element, inner: str) -> str:
        """Give a footnote with its label, as a converter of turbohtml."""
        label = self._labels.get(element)
        return inner if label is None else f"[^{label}]: " + inner.strip().replace("\n", "\n    ")

    def write(self, element: Element, inner: str) -> str:
        """Give what was told, as a converter of turbohtml."""
        return self._texts.get(element, inner)

    def __contains__(self, element: object) -> bool:
        return element in self._texts or element in self._paragraphs
