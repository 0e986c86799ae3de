"""Reads where a page stands: its breadcrumb, the pages before and after it, and the headings of its content."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator
from html import unescape
from itertools import islice
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from turbohtml import Element

from actors.extraction.decide.content import Content
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.json_values import Json, items, mapping, scalar
from actors.extraction.parse.addresses import joined, on_the_web
from actors.extraction.parse.text import is_permalink, one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from protocol.page import Crumb, Heading

MAX_CRUMBS = 15
MAX_CRUMB_CHARS = 200

_MAX_BREADCRUMBS = 10
_BREADCRUMBS = (
    "nav[aria-label*=breadcrumb i],[role=navigation][aria-label*=breadcrumb i],[class*=breadcrumb i],[id*=breadcrumb i]"
    ",[class*=crumbs i],[data-testid*=breadcrumb i]"
)
_SEPARATORS = " \t>\u203a\u00bb/\\|\u00b7\u2022\u2192\u25b8\u25b6\u276f\u27e9<\u00ab\u2039\u2190\u2013\u2014-:"
"""What stands between two steps."""

Bars: TypeAlias = list[tuple[Element, list[Element]]]
"""Elements that lead through pages, with their links."""

_MAX_LINKS = 5_000
_MAX_BARS = 20
_MAX_BAR_LINKS = 60
_MAX_LABEL_WORDS = 5
_MAX_RAW_CHARS = 400
_MAX_DIGITS = 6

_BARS = (
    "[class*=pag i]:is([class*=pagin i],[class*=pager i],[class*=page-n i],[class*=pagenav i])"
    ",[aria-label*=pagin i],.nav-links"
)
"""Elements that lead through the pages of a list or text."""

_FORWARD = "\u203a\u00bb>\u2192\u276f\u27e9\u25b6"
_BACK = "\u2039\u00ab<\u2190\u276e\u27e8\u25c0"
_ARROWS = f"{_FORWARD}{_BACK}\u2026.:"
_NUMBERED = re.compile(r"(?:page|paged|p|pg|start|offset|seite|pagina)[=/-]?\d+", re.IGNORECASE)
_SLASHES_OF_HOME = len("//")
_CURRENT = "[aria-current],.current,.active,.selected,.is-active,.is-current,.page-current,strong,b"

MAX_HEADINGS = 500
MAX_HEADING_CHARS = 300

_HEADINGS = "h1,h2,h3,h4,h5,h6,[role=heading]"
_DEEPEST = 6

_HEADING_TOOLS = (
    ".headerlink,.header-anchor,.anchor,.anchorjs-link,.mw-editsection,.heading-link,.hash-link,.permalink,.direct-link,"
    "[aria-hidden=true],button"
)
"""What stands in headings, and is none of their words: links to themselves, and tools for editors."""

_ANCHOR_MARKS = re.compile(r"^[#¶§\U0001f517\s]+(?=\w)|(?:[¶§\U0001f517\s]|\s#+)+$")


def breadcrumb(page: Page) -> tuple[Crumb, ...]:
    """Return the steps from the home page to this one; nothing where the page shows none."""
    crumbs = max((_crumbs_of_list(listed, page) for listed in _breadcrumb_lists(page)), key=len, default=())
    if not crumbs or all(crumb.url for crumb in crumbs[:-1]):
        return crumbs or _shown_crumbs(page)
    links = {crumb.name: crumb.url for crumb in _shown_crumbs(page)}
    return tuple(Crumb(name=crumb.name, url=crumb.url or links.get(crumb.name, "")) for crumb in crumbs)


def _breadcrumb_lists(page: Page) -> Iterator[dict[str, Json]]:
    for node in embedded(page).nodes:
        for value in (node.value, mapping(embedded(page).resolve(node.value.get("breadcrumb")))):
            if "BreadcrumbList" in str(value.get("@type", "")):
                yield value


def _crumbs_of_list(listed: dict[str, Json], page: Page) -> tuple[Crumb, ...]:
    steps = [mapping(step) for step in items(listed.get("itemListElement"))[: 2 * MAX_CRUMBS]]
    steps.sort(key=_position)
    crumbs: list[Crumb] = []
    for step in steps[:MAX_CRUMBS]:
        item = step.get("item")
        thing = mapping(embedded(page).resolve(item))
        name = one_line(unescape(scalar(step.get("name")) or scalar(thing.get("name"))), MAX_CRUMB_CHARS)
        address = scalar(item) or scalar(thing.get("@id")) or scalar(thing.get("url")) or scalar(step.get("url"))
        if name:
            crumbs.append(Crumb(name=name, url=on_the_web(page.base, address)))
    return tuple(crumbs)


def _position(step: dict[str, Json]) -> float:
    try:
        return float(scalar(step.get("position")))
    except ValueError:
        return MAX_CRUMBS


def _shown_crumbs(page: Page) -> tuple[Crumb, ...]:
    for place in page.root.select(_BREADCRUMBS)[:_MAX_BREADCRUMBS]:
        crumbs = tuple(islice(_crumbs_in(place, page), MAX_CRUMBS + 1))
        if 1 < len(crumbs) <= MAX_CRUMBS and crumbs[0].url:
            return crumbs
    return ()


def _crumbs_in(place: Element, page: Page) -> Iterator[Crumb]:
    """Yield the steps of an element: its items; without items, its links and the text after the last."""
    entries = place.select("li") or place.select("[itemprop=itemListElement]")
    if not entries:
        yield from _linked_crumbs(place, page)
        return
    for entry in entries[: 2 * MAX_CRUMBS]:
        name = words(entry, page.hidden, MAX_CRUMB_CHARS).strip(_SEPARATORS)
        link = entry.select_one("a[href]")
        if name and page.hidden.get(entry) is not Hiding.INVISIBLE:
            yield Crumb(name=name, url=on_the_web(page.base, (link.attr("href") or "") if link is not None else ""))


def _linked_crumbs(place: Element, page: Page) -> Iterator[Crumb]:
    shown = words(place, page.hidden, 2 * MAX_CRUMB_CHARS)
    name = ""
    for link in place.select("a[href]")[: 2 * MAX_CRUMBS]:
        if name := words(link, page.hidden, MAX_CRUMB_CHARS).strip(_SEPARATORS):
            yield Crumb(name=name, url=on_the_web(page.base, link.attr("href") or ""))
    last = shown.rpartition(name)[2].strip(_SEPARATORS) if name else ""
    if last:
        yield Crumb(name=last)


class Neighbours(NamedTuple):
    """The addresses of the pages before and after this one; "" where there is none."""

    previous: str = ""
    next: str = ""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOUNS = _word_set(
    "go to the see page pages result results posts entries seite side sida sidan pagina página pàgina strona stronę"
    " stránka stránku oldal sivu страница страницы сторінка halaman trang sayfa σελίδα"
)


_NEXT = frozenset(_FORWARD) | _word_set(
    "next older weiter nächste nächster vor suivant suivante suivants siguiente siguientes próxima próximo seguinte"
    " seguente successivo successiva avanti volgende nästa neste næste seuraava następna następny dalej další ďalšia"
    " následující következő următoarea înainte sonraki berikutnya selanjutnya tiếp sau sljedeća naslednja järgmine"
    " nākamā следующая вперед вперёд далее дальше наступна далі следваща επόμενη הבא التالي التالية अगला ถัดไป 下一页"
    " 下一頁 下页 下頁 次へ 次 次のページ 다음"
)


_PREVIOUS = frozenset(_BACK) | _word_set(
    "previous prev newer zurück vorherige vorheriger précédent précédente précédents anterior anteriores precedente"
    " indietro vorige föregående forrige edellinen poprzednia poprzedni wstecz předchozí predchádzajúca előző"
    " anterioară önceki sebelumnya trước prethodna prejšnja eelmine iepriekšējā предыдущая назад попередня предишна"
    " προηγούμενη הקודם السابق السابقة पिछला ก่อนหน้า 上一页 上一頁 上页 上頁 前へ 前 前のページ 이전"
)


def pagination(page: Page) -> Neighbours:
    """Return the neighbours that the page names: by `rel`, else by what links say, else by their numbers."""
    named = _by_rel(page)
    if named.previous and named.next:
        return named
    bars = _bars(page)
    worded = _by_words(page, bars)
    previous, following = named.previous or worded.previous, named.next or worded.next
    counted = _by_numbers(page, bars) if not following else Neighbours()
    return _distinct(previous or counted.previous, following or counted.next)


def _distinct(previous: str, following: str) -> Neighbours:
    # A home page comes before no part; and where one page is both, the elder is the next.
    home = previous.rstrip("/").count("/") == _SLASHES_OF_HOME
    return Neighbours("" if home or previous == following else previous, following)


def _by_rel(page: Page) -> Neighbours:
    addresses: dict[str, str] = {}
    for link in page.root.select("link[rel][href],a[rel][href]")[:_MAX_LINKS]:
        for rel in (link.attr("rel") or "").lower().split():
            if rel in ("next", "prev", "previous") and (url := _other_page(link, page)):
                addresses.setdefault("next" if rel == "next" else "previous", url)
    return Neighbours(**addresses)


def _by_words(page: Page, bars: Bars) -> Neighbours:
    addresses: dict[str, str] = {}
    in_bars = {link for _, links in bars for link in links}
    for link in islice(page.root.iter_elements("a"), _MAX_LINKS):
        name = _direction(link, in_bar=link in in_bars)
        if (
            name
            and name not in addresses
            and (url := _other_page(link, page))
            and (link in in_bars or _is_sibling(url, page.url))
        ):
            addresses[name] = url
    return Neighbours(**addresses)


def _direction(link: Element, *, in_bar: bool) -> str:
    """Return where a link leads by its text, or by its label where it has none; arrows alone count in a bar only."""
    text = link.text
    if len(text) > _MAX_RAW_CHARS:
        return ""
    label_words = text.lower().split()
    if len(label_words) > _MAX_LABEL_WORDS:
        return ""
    if in_bar or (len(label_words) == 1 and len(label_words[0]) == 1) or not label_words:
        attribute_words = (link.attr("aria-label") or link.attr("title") or "").lower().split()
        return _direction_of_words(label_words, arrows=in_bar) or _direction_of_words(
            attribute_words[:_MAX_LABEL_WORDS], arrows=False
        )
    return _direction_of_words(label_words, arrows=False)


def _direction_of_words(label_words: list[str], *, arrows: bool) -> str:
    plain = (
        {word.strip(_ARROWS) or (word if arrows and len(label_words) == 1 else "") for word in label_words}
        - _NOUNS
        - {""}
    )
    if not plain:
        return ""
    return "next" if plain <= _NEXT else "previous" if plain <= _PREVIOUS else ""


def _by_numbers(page: Page, bars: Bars) -> Neighbours:
    for bar, links in bars:
        numbers = {number: link for link in links if (number := _number(link))}
        marked = bar.select(_CURRENT)[:_MAX_BAR_LINKS]
        current = next((number for element in marked if (number := _number(element))), 0)
        if current and {current - 1, current + 1} & numbers.keys():
            before, after = numbers.get(current - 1), numbers.get(current + 1)
            return Neighbours(
                previous=_other_page(before, page) if before is not None else "",
                next=_other_page(after, page) if after is not None else "",
            )
    return Neighbours()


def _number(element: Element) -> int:
    digits = "".join(re.findall(r"\d+", element.text)) if len(element.text) <= _MAX_RAW_CHARS else ""
    return int(digits) if 0 < len(digits) < _MAX_DIGITS else 0


def _bars(page: Page) -> Bars:
    bars = page.root.select(_BARS)[:_MAX_BARS]
    return [(bar, list(islice(bar.iter_elements("a"), _MAX_BAR_LINKS))) for bar in bars]


def _other_page(link: Element, page: Page) -> str:
    """Return the address of another page of the same site; "" for others and for this one."""
    href = link.attr("href") or ""
    if not href or href.startswith("#"):
        return ""
    url = joined(page.base, href)
    try:
        there, here = urlsplit(url), urlsplit(page.url)
    except ValueError:
        return ""
    same = there.scheme in ("http", "https") and _site(there.hostname) == _site(here.hostname)
    return url if same and url.partition("#")[0] != page.url.partition("#")[0] else ""


def _is_sibling(url: str, here: str) -> bool:
    """Return whether an address differs in its last step alone, or numbers a page: a firm may be called "Next"."""
    return url.rpartition("/")[0] == here.rpartition("/")[0] or _NUMBERED.search(url) is not None


def _site(host: str | None) -> str:
    return (host or "").removeprefix("www.")


def outline(page: Page, content: Content) -> tuple[Heading, ...]:
    """Return the headings of the main content in the order of the page; a heading that repeats the last is left out."""
    headings: list[Heading] = []
    kept = (heading for heading in page.root.select(_HEADINGS) if content.has_heading(heading))
    for element in islice(kept, MAX_HEADINGS):
        heading = Heading(level=_heading_level(element), text=_heading_text(element, page))
        if heading.text and heading != (headings[-1] if headings else None):
            headings.append(heading)
    return tuple(headings)


def _heading_level(heading: Element) -> int:
    level = heading.tag[1] if len(heading.tag) == len("h1") else (heading.attr("aria-level") or "2").strip()
    return min(max(int(level), 1), _DEEPEST) if level.isascii() and level.isdigit() else 2


def _heading_text(heading: Element, page: Page) -> str:
    extras = [*heading.select(_HEADING_TOOLS), *filter(is_permalink, heading.select("a"))]
    hidden = ChainMap(dict.fromkeys(extras, Hiding.INVISIBLE), dict(page.hidden)) if extras else page.hidden
    return _ANCHOR_MARKS.sub("", words(heading, hidden, MAX_HEADING_CHARS)) or _ANCHOR_MARKS.sub(
        "", words(heading, page.hidden, MAX_HEADING_CHARS)
    )
