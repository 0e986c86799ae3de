"""Reads the headings that may be the title of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from turbohtml import Element

from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.text_runs import names_of, short_text
from actors.extraction.parse.text import is_permalink
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from protocol.confidence import Source

MAX_HEADINGS = 6
MAX_LOOKED_AT = 60
MAX_CHARS = 400

_ANCESTORS = 7
_TITLED = re.compile(r"title|headline|heading|titel|titre|titulo|subject")
_LOGO = re.compile(r"logo|brand|site-(?:title|name|header)|masthead|navbar")
_OTHERS = re.compile(r"related|widget|sidebar|footer|comment|teaser|card|popup|modal|cookie|newsletter")
_CALLED = (
    "[class*=title]:is(.entry-title, .post-title, .article-title, .page-title, .topic-title, .product-title,"
    " .post__title, .article__title, .title[itemprop]), .headline, .product-name, #title, [itemprop=headline]"
)


def claims(page: Page) -> Iterable[Claim]:
    """Return the first headings, then what is called a title."""
    firsts = [heading for heading in page.root.select("h1")[:MAX_LOOKED_AT] if short_text(heading, MAX_CHARS)]
    for kind, elements in (
        (PlaceKind.H1, firsts),
        (PlaceKind.H2, page.root.select("h2")[: 2 if firsts else 4]),
        (PlaceKind.CALLED_TITLE, page.root.select(_CALLED)),
    ):
        for rank, element in enumerate(elements[:MAX_HEADINGS]):
            if value := _text(element):
                words = dict.fromkeys(_words(page, element, rank, len(elements)))
                yield Claim(PageField.TITLE, value, ClaimPlace(kind, " ".join(words)), Source.SELECTOR_MATCH)


def _text(heading: Element) -> str:
    text = short_text(heading, MAX_CHARS)
    for link in filter(is_permalink, heading.select("a")):
        mark = link.text.strip()
        text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _words(page: Page, element: Element, rank: int, count: int) -> Iterator[str]:
    yield "only" if count == 1 else "first" if rank == 0 else "later"
    for holder in _around(element):
        called = names_of(holder)
        if holder.tag in ("article", "main", "header", "nav", "footer", "aside", "a"):
            yield f"in-{holder.tag}"
        if _TITLED.search(called):
            yield "titled"
        if _LOGO.search(called):
            yield "logo"
        if _OTHERS.search(called):
            yield "other"
        if page.hidden.get(holder) is Hiding.INVISIBLE:
            yield "unseen"


def _around(element: Element) -> Iterator[Element]:
    holder: Element | None = element
    for _ in range(_ANCESTORS):
        if holder is None:
            return
        yield holder
        parent = holder.parent
        holder = parent if isinstance(parent, Element) else None
