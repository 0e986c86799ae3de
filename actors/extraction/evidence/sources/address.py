"""Reads what the address of a page says: a date, words of a title, the site, a home page or a search."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.dates import dates_in
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_CHARS = 300
_HOME = re.compile(r"/?(?:index|default|home)?(?:\.\w{2,5})?/?$|/[a-z]{2}(?:-[a-z]{2})?/?$", re.IGNORECASE)
_QUERY = frozenset({"q", "query", "search", "s", "keyword", "keywords", "k", "text", "term", "search_query", "_nkw"})
_SEARCH = re.compile(r"/(?:search|suche|recherche|buscar|find|results?)(?:/|$|\.)", re.IGNORECASE)
_ENDING = re.compile(r"\.(?:s?html?|php|aspx?|jsp|cfm)$|[-_.,]\d{5,}$|^\d+[-_]", re.IGNORECASE)
_ARCHIVED = re.compile(r"^https?://web\.archive\.org/web/\d+[a-z_]*/", re.IGNORECASE)


def claims(page: Page) -> Iterable[Claim]:
    """Return what the address says."""
    try:
        parts = urlsplit(_ARCHIVED.sub("", page.url))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return
    path = unquote(parts.path)[-MAX_CHARS:]
    for _, _, day in dates_in(path):
        yield Claim(PageField.PUBLISHED, day, ClaimPlace(PlaceKind.ADDRESS, "date"), Source.HEURISTIC)
        break
    if words := _words(path):
        yield Claim(PageField.TITLE, words, ClaimPlace(PlaceKind.ADDRESS, "slug"), Source.FALLBACK)
    if host:
        yield Claim(PageField.SITE_NAME, host, ClaimPlace(PlaceKind.ADDRESS, "host"), Source.FALLBACK)
        if kind := _kind(parts, path):
            yield Claim(PageField.PAGE_TYPE, kind, ClaimPlace(PlaceKind.ADDRESS, "path"), Source.HEURISTIC)


def _words(path: str) -> str:
    """Make words of the last part of a path that has some."""
    for part in reversed(path.rstrip("/").split("/")):
        words = " ".join(re.split(r"[-_+\s]+", _ENDING.sub("", _ENDING.sub("", part)))).strip()
        if sum(map(str.isalpha, words)) > 2 * sum(map(str.isdigit, words)) and words:
            return words
    return ""


def _kind(parts: SplitResult, path: str) -> str:
    query = {name.lower() for name, value in parse_qsl(parts.query[:MAX_CHARS]) if value}
    if query & _QUERY and (_SEARCH.search(path) or _HOME.fullmatch(path) or query & {"q", "search_query", "_nkw"}):
        return "search"
    return "home" if _HOME.fullmatch(path) and not query else ""
