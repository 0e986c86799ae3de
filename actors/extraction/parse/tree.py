"""Parses a page once, into the tree that everything else reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from turbohtml import Document, Element, parse

from actors.extraction.parse.addresses import whole
from actors.extraction.parse.visibility import Hiding, hidden

T = TypeVar("T")


@dataclass(frozen=True)
class Page:
    """A parsed page. `base` is what links are resolved against; `hidden` holds the outermost elements not seen.

    `source` is the markup as it was parsed.
    """

    url: str
    source: str
    document: Document
    root: Element
    base: str
    hidden: Mapping[Element, Hiding] = field(default_factory=dict[Element, Hiding])
    _read: dict[object, Any] = field(default_factory=dict[object, Any], repr=False, compare=False)

    def once(self, reader: Callable[[Page], T]) -> T:
        """Return what a reader makes of the page; each reader is called once."""
        if reader not in self._read:
            self._read[reader] = reader(self)
        value: T = self._read[reader]
        return value


def read(source: str, url: str) -> Page:
    """Parse a page; whatever comes in, a tree comes out."""
    document = parse(source, positions=False)
    root = document.root
    if root is None:
        document = parse("<html><body></body></html>", positions=False)
        root = document.root
    assert root is not None  # noqa: S101 - the fallback has one
    return Page(url, source, document, root, whole(document.base_url(url)) or whole(url), hidden(root))
