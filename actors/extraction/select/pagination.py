"""Finds the neighbours of a page in parts: the next and the previous one."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from turbohtml import Element

from actors.extraction.parse.addresses import joined
from actors.extraction.parse.tree import Page

Bars: TypeAlias = list[tuple[Element, list[Element]]]
"""Elements that lead through pages, with their links."""


class Neighbours(NamedTuple):
    """The addresses of the pages before and after this one; "" where there is none."""

    previous: str = ""
    next: str = ""


_MAX_LINKS = 5_000
_MAX_BARS = 20
_MAX_BAR_LINKS = 60
_MAX_WORDS = 5
_MAX_RAW_CHARS = 400
_MAX_DIGITS = 6

_BARS = "[class*=pagin i],[class*=pager i],[class*=page-n i],[class*=pagenav i],[aria-label*=pagin i],.nav-links"
"""Elements that lead through the pages of a list or text."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FORWARD = "\u203a\u00bb>\u2192\u276f\u27e9\u25b6"
_BACK = "\u2039\u00ab<\u2190\u276e\u27e8\u25c0"
_ARROWS = f"{_FORWARD}{_BACK}\u2026.:"

_NOUNS = _words(
    "go to the see page pages result results posts entries seite side sida sidan pagina página pàgina strona stronę"
    " stránka stránku oldal sivu страница страницы сторінка halaman trang sayfa σελίδα"
)
_NEXT = frozenset(_FORWARD) | _words(
    "next older weiter nächste nächster vor suivant suivante suivants siguiente siguientes próxima próximo seguinte"
    " seguente successivo successiva avanti volgende nästa neste næste seuraava następna następny dalej další ďalšia"
    " následující következő următoarea înainte sonraki berikutnya selanjutnya tiếp sau sljedeća naslednja järgmine"
    " nākamā следующая вперед вперёд далее дальше наступна далі следваща επόμενη הבא التالي التالية अगला ถัดไป 下一页"
    " 下一頁 下页 下頁 次へ 次 次のページ 다음"
)
_PREVIOUS = frozenset(_BACK) | _words(
    "previous prev newer zurück vorherige vorheriger précédent précédente précédents anterior anteriores precedente"
    " indietro vorige föregående forrige edellinen poprzednia poprzedni wstecz předchozí predchádzajúca előző"
    " anterioară önceki sebelumnya trước prethodna prejšnja eelmine iepriekšējā предыдущая назад попередня предишна"
    " προηγούμενη הקודם السابق السابقة पिछला ก่อนหน้า 上一页 上一頁 上页 上頁 前へ 前 前のページ 이전"
)
_NUMBERED = re.compile(r"(?:page|paged|p|pg|start|offset|seite|pagina)[=/-]?\d+", re.IGNORECASE)
_SLASHES_OF_HOME = len("//")
_CURRENT = "[aria-current],.current,.active,.selected,.is-active,.is-current,.page-current,strong,b"


def pagination(page: Page) -> Neighbours:
    """Return the neighbours that the page names: by `rel`, else by what links say, else by their numbers."""
    named = _by_rel(page)
    if named.previous and named.next:
        return named
    bars = _bars(page)
    said = _by_words(page, bars)
    previous, following = named.previous or said.previous, named.next or said.next
    counted = _by_numbers(page, bars) if not following else Neighbours()
    return _apart(previous or counted.previous, following or counted.next)


def _apart(previous: str, following: str) -> Neighbours:
    # A home page comes before no part; and where one page is both, the elder is the next.
    home = previous.rstrip("/").count("/") == _SLASHES_OF_HOME
    return Neighbours("" if home or previous == following else previous, following)


def _by_rel(page: Page) -> Neighbours:
    found: dict[str, str] = {}
    for link in page.root.select("link[rel][href],a[rel][href]")[:_MAX_LINKS]:
        for rel in (link.attr("rel") or "").lower().split():
            if rel in ("next", "prev", "previous") and (url := _other(link, page)):
                found.setdefault("next" if rel == "next" else "previous", url)
    return Neighbours(**found)


def _by_words(page: Page, bars: Bars) -> Neighbours:
    found: dict[str, str] = {}
    in_bars = {link for _, links in bars for link in links}
    for link in islice(page.root.iter_elements("a"), _MAX_LINKS):
        name = _direction(link, in_bar=link in in_bars)
        if (
            name
            and name not in found
            and (url := _other(link, page))
            and (link in in_bars or _is_beside(url, page.url))
        ):
            found[name] = url
    return Neighbours(**found)


def _direction(link: Element, *, in_bar: bool) -> str:
    """Tell by its text where a link leads, by its label where it has none; arrows alone tell it in a bar only."""
    text = link.text
    if len(text) > _MAX_RAW_CHARS:
        return ""
    said = text.lower().split()
    if len(said) > _MAX_WORDS:
        return ""
    if in_bar or (len(said) == 1 and len(said[0]) == 1) or not said:
        label = (link.attr("aria-label") or link.attr("title") or "").lower().split()
        return _meant(said, arrows=in_bar) or _meant(label[:_MAX_WORDS], arrows=False)
    return _meant(said, arrows=False)


def _meant(said: list[str], *, arrows: bool) -> str:
    plain = {word.strip(_ARROWS) or (word if arrows and len(said) == 1 else "") for word in said} - _NOUNS - {""}
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
                previous=_other(before, page) if before is not None else "",
                next=_other(after, page) if after is not None else "",
            )
    return Neighbours()


def _number(element: Element) -> int:
    digits = "".join(re.findall(r"\d+", element.text)) if len(element.text) <= _MAX_RAW_CHARS else ""
    return int(digits) if 0 < len(digits) < _MAX_DIGITS else 0


def _bars(page: Page) -> Bars:
    bars = page.root.select(_BARS)[:_MAX_BARS]
    return [(bar, list(islice(bar.iter_elements("a"), _MAX_BAR_LINKS))) for bar in bars]


def _other(link: Element, page: Page) -> str:
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


def _is_beside(url: str, here: str) -> bool:
    """Return whether an address differs in its last step alone, or numbers a page: a firm may be called "Next"."""
    return url.rpartition("/")[0] == here.rpartition("/")[0] or _NUMBERED.search(url) is not None


def _site(host: str | None) -> str:
    return (host or "").removeprefix("www.")
