"""Reads the data that stand in a page beside its text: JSON-LD, microdata, RDFa, Open Graph, state of frameworks."""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Document, Element


@dataclass(frozen=True)
class Embedded:
    """The data of one page."""

    @staticmethod
    def of(document: Document, root: Element) -> Embedded:
        """Read everything once."""
        raise NotImplementedError(document, root)
