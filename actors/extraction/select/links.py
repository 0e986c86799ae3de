"""Reads the links of a page: those of its content, those around it, its feeds, and its Markdown version."""

from __future__ import annotations

from urllib.parse import urlsplit

from turbohtml import Element

from actors.extraction.decide.content import Content
from actors.extraction.parse.addresses import joined, on_the_web
from actors.extraction.parse.text import INLINE, one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from protocol.documents import ExtractedLink
from protocol.page import FeedLink
from protocol.pages import Outlinks

MAX_LINKS = 200
"""Links of the content, and as many of the navigation, that are given."""

MAX_OUTLINKS = 2_000
"""Links of a whole page that are given to who walks through its site."""

MAX_URL_CHARS = 2_048
MAX_LINK_CHARS = 200

_MAX_AROUND_CHARS = 2_000
_MAX_ANCESTORS = 8
_SCHEMES = ("http://", "https://", "mailto:", "tel:")

MAX_FEEDS = 20
MAX_FEED_TITLE_CHARS = 200

_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})
_AMBIGUOUS_TYPES = frozenset({"application/json", "application/xml", "text/xml"})
"""Types of feeds and of much else: of those, what calls itself a feed is one."""

MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})


def links(page: Page, content: Content) -> tuple[list[ExtractedLink], list[ExtractedLink]]:
    """Return the links of the main content, and all others: absolute, each address once, with the words around."""
    invisible = {
        link for hidden, why in page.hidden.items() if why is Hiding.INVISIBLE for link in hidden.iter_elements("a")
    }
    own: dict[str, tuple[Element, str]] = {}
    other: dict[str, tuple[Element, str]] = {}
    for link in page.root.iter_elements("a"):
        group = own if link in content.holders else other
        if len(group) >= MAX_LINKS or link in invisible or not (url := _address(link, page)) or url in group:
            continue
        if url not in own and (text := _text(link, page)):
            group[url] = (link, text)
    around = _Surroundings(page)
    inner = [ExtractedLink(url=url, text=text, context=around.of(link, text)) for url, (link, text) in own.items()]
    outer = [ExtractedLink(url=url, text=text) for url, (_, text) in other.items() if url not in own]
    return inner, outer


class _Addresses(dict[str, str]):
    """The absolute addresses of the links of one page by what the page writes, "" for what leads nowhere."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def __missing__(self, href: str) -> str:
        address = self[href] = _whole_address(self._base, href)
        return address


def _addresses(page: Page) -> _Addresses:
    return _Addresses(page.base)


def _address(link: Element, page: Page) -> str:
    return page.once(_addresses)[link.attr("href") or ""]


def _whole_address(base: str, href: str) -> str:
    if not href or href.startswith("#") or len(href) > MAX_URL_CHARS:
        return ""
    url = joined(base, href)
    return url if url.startswith(_SCHEMES) and len(url) <= MAX_URL_CHARS else ""


def _text(link: Element, page: Page) -> str:
    """Return the words of a link; of a picture without words its name."""
    if text := words(link, page.hidden, MAX_LINK_CHARS):
        return text
    names = (link.attr("aria-label"), link.attr("title"), *(image.attr("alt") for image in link.select("img[alt]")[:3]))
    return next((line for name in names if name and (line := one_line(name, MAX_LINK_CHARS))), "")


class _Surroundings:
    """Reads the text around links, of each block once."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._texts: dict[Element, str] = {}

    def of(self, link: Element, text: str) -> str:
        """Return the words around a link, "" where there are no others."""
        block = link.parent
        for _ in range(_MAX_ANCESTORS):
            if not isinstance(block, Element) or block.tag not in INLINE:
                break
            block = block.parent
        if not isinstance(block, Element):
            return ""
        if block not in self._texts:
            self._texts[block] = words(block, self._page.hidden, _MAX_AROUND_CHARS)
        around = self._texts[block]
        return "" if around == text else _excerpt_around(around, text)


def _excerpt_around(around: str, text: str) -> str:
    """Cut a long text to the words before and after a part of it."""
    if len(around) <= MAX_LINK_CHARS:
        return around
    place = max(around.find(text), 0)
    start = max(min(place - (MAX_LINK_CHARS - len(text)) // 2, len(around) - MAX_LINK_CHARS), 0)
    part = around[start : start + MAX_LINK_CHARS]
    before = part.partition(" ")[2] if start else part
    return (before.rpartition(" ")[0] if start + MAX_LINK_CHARS < len(around) else before).strip()


def feeds(page: Page) -> tuple[FeedLink, ...]:
    """Return the feeds that the head of a page links, each address once."""
    feeds_by_url: dict[str, FeedLink] = {}
    for link in page.root.select("link[href][type]"):
        rel = (link.attr("rel") or "").lower().split()
        kind = (link.attr("type") or "").partition(";")[0].strip().lower()
        href, title = link.attr("href") or "", one_line(link.attr("title") or "", MAX_FEED_TITLE_CHARS)
        named = any(word in f"{href} {title}".lower() for word in ("feed", "rss", "atom"))
        if not {"alternate", "feed"} & set(rel) or not (kind in _FEED_TYPES or (kind in _AMBIGUOUS_TYPES and named)):
            continue
        if (url := on_the_web(page.base, href)) and "oembed" not in url:
            feeds_by_url.setdefault(url, FeedLink(url=url, type=kind, title=title))
        if len(feeds_by_url) == MAX_FEEDS:
            break
    return tuple(feeds_by_url.values())


def outlinks(page: Page) -> Outlinks:
    """Return all that a page leads to, and whether it lets programs follow that, and list it."""
    unseen = {
        link
        for hidden, why in page.hidden.items()
        if why is Hiding.INVISIBLE
        for link in (hidden, *hidden.iter_elements("a"))
    }
    places: dict[str, None] = {}
    for link in page.root.iter_elements(("a", "area")):
        if len(places) == MAX_OUTLINKS:
            break
        if link not in unseen and "nofollow" not in _rel(link) and (url := _address(link, page)):
            places.setdefault(url)
    alternates: dict[str, str] = {}
    for link in page.root.select("link[href][rel]"):
        url, rel = on_the_web(page.base, link.attr("href") or ""), _rel(link)
        if url and "alternate" in rel and (tongue := (link.attr("hreflang") or "").strip().lower()):
            alternates.setdefault(tongue, url)
        elif url and rel & {"next", "prev"}:
            places.setdefault(url)
    directives = {
        word.strip().lower()
        for meta in page.root.select("meta[name=robots i][content]")
        for word in (meta.attr("content") or "").split(",")
    }
    return Outlinks(
        links=tuple(url for url in places if url.startswith("http")),
        alternates=alternates,
        noindex=bool(directives & {"noindex", "none"}),
        nofollow=bool(directives & {"nofollow", "none"}),
    )


def _rel(link: Element) -> set[str]:
    return set((link.attr("rel") or "").lower().split())


def markdown_link(page: Page) -> str:
    """Return the address of the same page in Markdown, of the same origin, as the head of the page links it."""
    for link in page.root.select("link[href][type][rel]"):
        kind = (link.attr("type") or "").partition(";")[0].strip().lower()
        if kind in MARKDOWN_TYPES and "alternate" in (link.attr("rel") or "").lower().split():
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
