"""Parses a page once, into the tree that everything else reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from turbohtml import Document, Element, parse

from actors.extraction.evidence.embedded import Embedded
from actors.extraction.parse.addresses import whole
from actors.extraction.parse.visibility import Hiding, hidden


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

    @cached_property
    def embedded(self) -> Embedded:
        """The data that stand in the page beside its text, read when first asked for."""
        return Embedded.of(self.document, self.root, self.base)


def read(source: str, url: str) -> Page:
    """Parse a page; whatever comes in, a tree comes out."""
    document = parse(source, positions=False)
    root = document.root
    if root is None:
        document = parse("<html><body></body></html>", positions=False)
        root = document.root
    assert root is not None  # noqa: S101 - the fallback has one
    return Page(url, source, document, root, whole(document.base_url(url)) or whole(url), hidden(root))
