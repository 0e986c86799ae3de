"""Reads the links in the head of a page: its canonical address, its picture."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CHARS = 2_000

_FIELDS = {"canonical": PageField.CANONICAL_URL, "image_src": PageField.IMAGE}


def claims(page: Page) -> Iterable[Claim]:
    """Return what the links say; addresses are as the page writes them."""
    for element in page.root.select("link[rel][href]"):
        rel = element.attrs.get("rel") or ""
        href = "".join((element.attr("href") or "").split())[:MAX_CHARS]
        for word in (rel if isinstance(rel, str) else " ".join(rel)).lower().split():
            if href and (field := _FIELDS.get(word)):
                yield Claim(field, href, ClaimPlace(PlaceKind.LINK, word), Source.META_TAGS)
