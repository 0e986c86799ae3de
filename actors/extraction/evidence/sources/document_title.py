"""Reads the title element of a page."""

from __future__ import annotations

from collections.abc import Iterable

from turbohtml import Element

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.parse.text import collapsed
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CHARS = 500
MAX_TITLES = 20


def claims(page: Page) -> Iterable[Claim]:
    """Return the first title that is not that of a drawing."""
    for element in page.root.select("title")[:MAX_TITLES]:
        value = collapsed(element.text, MAX_CHARS)
        parent = element.parent
        if value and not (isinstance(parent, Element) and parent.tag in ("svg", "g", "symbol", "a", "path")):
            yield Claim(PageField.TITLE, value, ClaimPlace(PlaceKind.TITLE), Source.META_TAGS)
            return
