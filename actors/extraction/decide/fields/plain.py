"""Reads the fields that are not voted on: description, site name, canonical address, picture, date of change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from actors.extraction.decide.content.content import Content
from actors.extraction.decide.fields.questions import month_first, of
from actors.extraction.decide.fields.standing import Standing, best
from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.evidence.dates import day
from actors.extraction.evidence.normalise import host_words, loose, one_line, squeezed
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.tree import Page
from protocol.confidence import Source

MAX_DESCRIPTION_CHARS = 1_000
MAX_NAME_CHARS = 100
MAX_URL_CHARS = 2_048

_SHORT_DESCRIPTION = 25
"""A shorter one describes nothing."""

_BEGINNING = 200
_MAX_PICTURES = 300
_SMALL_PICTURE = 200
"""A picture narrower than this, in pixels, is an icon."""

_ICON = re.compile(r"logo|icon|avatar|sprite|placeholder|pixel|spacer|blank|badge|1x1|default[-_]?(?:image|og|share)")
_UPDATED = re.compile(r"label-updated|called-updated")
_NOT_UPDATED = re.compile(r"label-published|called-published")
_ELSEWHERE = re.compile(r"\bremark\b|\bother\b")
_ENDING = re.compile(r"\.(?:com|org|net|de|co\.uk|io|at|ch|fr|it|es|nl|eu|info)$", re.IGNORECASE)


def description(claims: Sequence[Claim], title: str) -> Standing | None:
    """Return what describes the page; what repeats its title is worth little."""

    def worth(text: str) -> float:
        if loose(text) == loose(title):
            return 0.3
        return 0.6 if len(text) < _SHORT_DESCRIPTION else 1.0

    found = best(of(claims, Field.DESCRIPTION), _beginning, worth)
    return found and Standing(one_line(found.value, MAX_DESCRIPTION_CHARS), found.source, found.score)


def _beginning(text: str) -> str:
    """Return the first words of a description: some places cut it short."""
    return " ".join(loose(text[:_BEGINNING]).split()[:12])


def site_name(page: Page, claims: Sequence[Claim], title: str) -> Standing | None:
    """Return the name of the site; one that the host repeats is worth more than one that only stands there."""
    hosts = host_words(page.url)
    said = [
        claim for claim in of(claims, Field.SITE_NAME) if "/" not in claim.value and len(claim.value) < MAX_NAME_CHARS
    ]
    said += [
        Claim(Field.SITE_NAME, part, "title: cut", Source.HEURISTIC)
        for claim in of(claims, Field.TITLE)
        if claim.place == "title"
        for part in re.split(r"\s[|·•»«\u2013\u2014:-]\s", claim.value)[1:]
        if squeezed(part) in hosts
    ]

    def worth(text: str) -> float:
        if loose(text) == loose(title) and squeezed(text) not in hosts:
            return 0.5
        return 1.0 if squeezed(_ENDING.sub("", text)) in hosts else 0.9

    found = best(said, lambda text: squeezed(_ENDING.sub("", text.strip())), worth)
    return found and Standing(one_line(found.value, MAX_NAME_CHARS), found.source, found.score)


def canonical_url(page: Page, claims: Sequence[Claim]) -> Standing | None:
    """Return the address that the page names as its own; another site's or a mere home page is doubtful."""

    def worth(href: str) -> float:
        try:
            told, own = urlsplit(absolute(page.base, href)), urlsplit(page.url)
        except ValueError:
            return 0.0
        if not told.path.strip("/") and own.path.strip("/"):
            return 0.3
        return 1.0 if _site(told.hostname) == _site(own.hostname) else 0.5

    found = best(of(claims, Field.CANONICAL_URL), lambda href: _address(page, href).rstrip("/"), worth)
    return found and Standing(_address(page, found.value), found.source, found.score)


def _site(host: str | None) -> str:
    """Return a host without what a site has several of."""
    return re.sub(r"^(?:www\d?|m|mobile|amp|web)\.", "", (host or "").lower())


def _address(page: Page, href: str) -> str:
    address = absolute(page.base, href)
    return address if address.startswith(("http://", "https://")) and len(address) <= MAX_URL_CHARS else ""


def image(page: Page, claims: Sequence[Claim], content: Content) -> Standing | None:
    """Return the picture that stands for the page; else the first large one of its content."""

    def worth(href: str) -> float:
        return 0.5 if _ICON.search(href.lower()) else 1.0

    found = best(of(claims, Field.IMAGE), lambda href: _address(page, href).partition("?")[0], worth)
    if found:
        return Standing(_address(page, found.value), found.source, found.score)
    return _of_content(page, content)


def _of_content(page: Page, content: Content) -> Standing | None:
    for picture in page.root.select("img[src]")[:_MAX_PICTURES] if content.holders else ():
        width = picture.attr("width") or ""
        small = width.isdecimal() and int(width[:6]) < _SMALL_PICTURE
        if small or picture.parent not in content.holders:
            continue
        address = _address(page, picture.attr("data-src") or picture.attr("src") or "")
        if address and not _ICON.search(address.lower()):
            return Standing(address, Source.HEURISTIC, 0.5)
    return None


def is_of_change(claim: Claim) -> bool:
    """Return whether a claim of a day is one of a change: it says so, or what stands around it does."""
    return claim.field is Field.MODIFIED or bool(_UPDATED.search(claim.place) and not _NOT_UPDATED.search(claim.place))


def modified(page: Page, claims: Sequence[Claim], published: str) -> Standing | None:
    """Return the day of the last change, only where one is told; before the page was published is doubtful."""
    american = month_first(page)
    said = of(claims, Field.MODIFIED)
    said += [
        Claim(Field.MODIFIED, claim.value, claim.place, claim.source)
        for claim in of(claims, Field.PUBLISHED)
        if is_of_change(claim) and not _ELSEWHERE.search(claim.place)
    ]

    def read(text: str) -> str:
        return day(text, month_first=american)

    found = best(said, read, lambda text: 0.4 if read(text) < published else 1.0)
    return found and Standing(read(found.value), found.source, found.score)
