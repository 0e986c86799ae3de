"""Reads the links of a page, those of the main content apart from those that lead around the site."""

from __future__ import annotations

from turbohtml import Element

from actors.extraction.decide.content.content import Content
from actors.extraction.parse.addresses import joined
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import INLINE, words
from protocol.documents import ExtractedLink

MAX_LINKS = 200
"""Links of the content, and as many of the navigation, that are given."""

MAX_URL_CHARS = 2_048
MAX_TEXT_CHARS = 200

_MAX_AROUND_CHARS = 2_000
_MAX_CLIMB = 8
_SCHEMES = ("http://", "https://", "mailto:", "tel:")


def links(page: Page, content: Content) -> tuple[list[ExtractedLink], list[ExtractedLink]]:
    """Return the links of the main content, and all others: absolute, each address once, with the words around."""
    invisible = {
        link for hidden, why in page.hidden.items() if why is Hiding.INVISIBLE for link in hidden.iter_elements("a")
    }
    own: dict[str, tuple[Element, str]] = {}
    other: dict[str, tuple[Element, str]] = {}
    for link in page.root.iter_elements("a"):
        found = own if link in content.holders else other
        if len(found) >= MAX_LINKS or link in invisible or not (url := _address(link, page)) or url in found:
            continue
        if url not in own and (text := _text(link, page)):
            found[url] = (link, text)
    around = _Surroundings(page)
    inner = [ExtractedLink(url=url, text=text, context=around.of(link, text)) for url, (link, text) in own.items()]
    outer = [ExtractedLink(url=url, text=text) for url, (_, text) in other.items() if url not in own]
    return inner, outer


def _address(link: Element, page: Page) -> str:
    href = link.attr("href") or ""
    if not href or href.startswith("#") or len(href) > MAX_URL_CHARS:
        return ""
    url = joined(page.base, href)
    return url if url.startswith(_SCHEMES) and len(url) <= MAX_URL_CHARS else ""


def _text(link: Element, page: Page) -> str:
    """Return the words of a link; of a picture without words its name."""
    if text := words(link, page.hidden, MAX_TEXT_CHARS):
        return text
    names = (link.attr("aria-label"), link.attr("title"), *(image.attr("alt") for image in link.select("img[alt]")[:3]))
    return next((line for name in names if name and (line := one_line(name, MAX_TEXT_CHARS))), "")


class _Surroundings:
    """Reads the text around links, of each block once."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._texts: dict[Element, str] = {}

    def of(self, link: Element, text: str) -> str:
        """Return the words around a link, "" where there are no others."""
        block = link.parent
        for _ in range(_MAX_CLIMB):
            if not isinstance(block, Element) or block.tag not in INLINE:
                break
            block = block.parent
        if not isinstance(block, Element):
            return ""
        if block not in self._texts:
            self._texts[block] = words(block, self._page.hidden, _MAX_AROUND_CHARS)
        around = self._texts[block]
        return "" if around == text else _window(around, text)


def _window(around: str, text: str) -> str:
    """Cut a long text to the words before and after a part of it."""
    if len(around) <= MAX_TEXT_CHARS:
        return around
    place = max(around.find(text), 0)
    start = max(min(place - (MAX_TEXT_CHARS - len(text)) // 2, len(around) - MAX_TEXT_CHARS), 0)
    part = around[start : start + MAX_TEXT_CHARS]
    before = part.partition(" ")[2] if start else part
    return (before.rpartition(" ")[0] if start + MAX_TEXT_CHARS < len(around) else before).strip()
