"""Finds the feeds that a page offers."""

from __future__ import annotations

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from protocol.page import FeedLink

MAX_FEEDS = 20
MAX_CHARS = 200

_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})
_VAGUE = frozenset({"application/json", "application/xml", "text/xml"})
"""Types of feeds and of much else: of those, what calls itself a feed is one."""


def feeds(page: Page) -> tuple[FeedLink, ...]:
    """Return the feeds that the head of a page links, each address once."""
    found: dict[str, FeedLink] = {}
    for link in page.root.select("link[href][type]"):
        rel = (link.attr("rel") or "").lower().split()
        kind = (link.attr("type") or "").partition(";")[0].strip().lower()
        href, title = link.attr("href") or "", one_line(link.attr("title") or "", MAX_CHARS)
        named = any(word in f"{href} {title}".lower() for word in ("feed", "rss", "atom"))
        if not {"alternate", "feed"} & set(rel) or not (kind in _TYPES or (kind in _VAGUE and named)):
            continue
        if (url := on_the_web(page.base, href)) and "oembed" not in url:
            found.setdefault(url, FeedLink(url=url, type=kind, title=title))
        if len(found) == MAX_FEEDS:
            break
    return tuple(found.values())
