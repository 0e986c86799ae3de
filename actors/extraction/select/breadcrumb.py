"""Reads the way from the home page to this one: as structured data tell it, else as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from itertools import islice

from turbohtml import Element

from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.json_values import Json, items, mapping, scalar
from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from protocol.page import Crumb

MAX_CRUMBS = 15
MAX_CHARS = 200

_MAX_PLACES = 10
_PLACES = (
    "nav[aria-label*=breadcrumb i],[role=navigation][aria-label*=breadcrumb i],[class*=breadcrumb i],[id*=breadcrumb i]"
    ",[class*=crumbs i],[data-testid*=breadcrumb i]"
)
_MARKS = " \t>\u203a\u00bb/\\|\u00b7\u2022\u2192\u25b8\u25b6\u276f\u27e9<\u00ab\u2039\u2190\u2013\u2014-:"
"""What stands between two steps."""


def breadcrumb(page: Page) -> tuple[Crumb, ...]:
    """Return the steps of the way, the home page first; nothing where the page tells of none."""
    told = max((_told(found, page) for found in _lists(page)), key=len, default=())
    if not told or all(crumb.url for crumb in told[:-1]):
        return told or _shown(page)
    links = {crumb.name: crumb.url for crumb in _shown(page)}
    return tuple(Crumb(name=crumb.name, url=crumb.url or links.get(crumb.name, "")) for crumb in told)


def _lists(page: Page) -> Iterator[dict[str, Json]]:
    for node in embedded(page).nodes:
        for value in (node.value, mapping(embedded(page).resolve(node.value.get("breadcrumb")))):
            if "BreadcrumbList" in str(value.get("@type", "")):
                yield value


def _told(found: dict[str, Json], page: Page) -> tuple[Crumb, ...]:
    steps = [mapping(step) for step in items(found.get("itemListElement"))[: 2 * MAX_CRUMBS]]
    steps.sort(key=_position)
    crumbs: list[Crumb] = []
    for step in steps[:MAX_CRUMBS]:
        item = step.get("item")
        thing = mapping(embedded(page).resolve(item))
        name = one_line(unescape(scalar(step.get("name")) or scalar(thing.get("name"))), MAX_CHARS)
        address = scalar(item) or scalar(thing.get("@id")) or scalar(thing.get("url")) or scalar(step.get("url"))
        if name:
            crumbs.append(Crumb(name=name, url=on_the_web(page.base, address)))
    return tuple(crumbs)


def _position(step: dict[str, Json]) -> float:
    try:
        return float(scalar(step.get("position")))
    except ValueError:
        return MAX_CRUMBS


def _shown(page: Page) -> tuple[Crumb, ...]:
    for place in page.root.select(_PLACES)[:_MAX_PLACES]:
        crumbs = tuple(islice(_steps(place, page), MAX_CRUMBS + 1))
        if 1 < len(crumbs) <= MAX_CRUMBS and crumbs[0].url:
            return crumbs
    return ()


def _steps(place: Element, page: Page) -> Iterator[Crumb]:
    """Return the steps of an element: its items; without items, its links and the text after the last."""
    entries = place.select("li") or place.select("[itemprop=itemListElement]")
    if not entries:
        yield from _linked_steps(place, page)
        return
    for entry in entries[: 2 * MAX_CRUMBS]:
        name = words(entry, page.hidden, MAX_CHARS).strip(_MARKS)
        link = entry.select_one("a[href]")
        if name and page.hidden.get(entry) is not Hiding.INVISIBLE:
            yield Crumb(name=name, url=on_the_web(page.base, (link.attr("href") or "") if link is not None else ""))


def _linked_steps(place: Element, page: Page) -> Iterator[Crumb]:
    said = words(place, page.hidden, 2 * MAX_CHARS)
    name = ""
    for link in place.select("a[href]")[: 2 * MAX_CRUMBS]:
        if name := words(link, page.hidden, MAX_CHARS).strip(_MARKS):
            yield Crumb(name=name, url=on_the_web(page.base, link.attr("href") or ""))
    last = said.rpartition(name)[2].strip(_MARKS) if name else ""
    if last:
        yield Crumb(name=last)
