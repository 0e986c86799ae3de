"""Finds the Markdown that a page offers of itself."""

from __future__ import annotations

from urllib.parse import urlsplit

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.tree import Page

TYPES = frozenset({"text/markdown", "text/x-markdown"})


def markdown_link(page: Page) -> str:
    """Return the address of the same page in Markdown, of the same origin, as the head of the page links it."""
    for link in page.root.select("link[href][type][rel]"):
        kind = (link.attr("type") or "").partition(";")[0].strip().lower()
        if kind in TYPES and "alternate" in (link.attr("rel") or "").lower().split():
            url = on_the_web(page.base, link.attr("href") or "")
            if same_origin(url, page.url):
                return url
    return ""


def same_origin(one: str, other: str) -> bool:
    """Return whether two addresses are of one scheme, host and port."""
    try:
        mine, theirs = urlsplit(one), urlsplit(other)
    except ValueError:
        return False
    return bool(mine.netloc) and (mine.scheme, mine.netloc.lower()) == (theirs.scheme, theirs.netloc.lower())
