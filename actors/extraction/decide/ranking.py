"""Decides the fields that are not voted on: the value that ranks best, and how sure it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from actors.extraction.decide.candidates import (
    claims_about,
    host_words,
    loose,
    printable_line,
    squeezed,
    writes_month_first,
)
from actors.extraction.decide.content import Content
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.dates import day
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.tree import Page
from protocol.confidence import BASELINES, Source

AGREEMENT = 0.6
"""What is left of the doubt in a value when one more kind of place says it, too."""

DISAGREEMENT = 0.85
"""What is left of the confidence in a value when one more kind of place says another."""

MAX_SCORE = 0.98

MAX_DESCRIPTION_CHARS = 1_000
MAX_NAME_CHARS = 100
MAX_URL_CHARS = 2_048

_MIN_DESCRIPTION_CHARS = 25
"""A shorter one describes nothing."""

_BEGINNING = 200
_MAX_PICTURES = 300
_MIN_PICTURE_PX = 200
"""A picture narrower than this, in pixels, is an icon."""

_ICON = re.compile(r"logo|icon|avatar|sprite|placeholder|pixel|spacer|blank|badge|1x1|default[-_]?(?:image|og|share)")
_UPDATED = re.compile(r"label-updated|called-updated")
_NOT_UPDATED = re.compile(r"label-published|called-published")
_NOT_OF_PAGE = re.compile(r"\bremark\b|\bother\b")
_ENDING = re.compile(r"\.(?:com|org|net|de|co\.uk|io|at|ch|fr|it|es|nl|eu|info)$", re.IGNORECASE)


class RankedValue(Struct, frozen=True):
    """A value, its kind of source, and its score."""

    value: str
    source: Source
    score: float


def best_value(
    claims: Iterable[Claim], same: Callable[[str], str], worth: Callable[[str], float]
) -> RankedValue | None:
    """Return the value that stands best; None when there is none.

    A value begins with the baseline of its surest source (000 §2). Each further kind of place that says it takes
    `AGREEMENT` of the doubt, each that says another `DISAGREEMENT` of the score, and what the value itself is `worth`
    (from 0 to 1) counts at last. `same` returns what two spellings share, "" for what is no value.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        if shared := same(claim.value):
            groups.setdefault(shared, []).append(claim)
    standings = [_ranked(group, groups, worth) for group in groups.values()]
    return max(standings, key=lambda standing: standing.score, default=None)


def _ranked(group: list[Claim], groups: Mapping[str, list[Claim]], worth: Callable[[str], float]) -> RankedValue:
    first = max(group, key=lambda claim: BASELINES[claim.source])
    saying = {claim.place.kind for claim in group}
    others = {claim.place.kind for claims in groups.values() if claims is not group for claim in claims} - saying
    doubt = (1 - BASELINES[first.source]) * AGREEMENT ** (len(saying) - 1)
    score = min(MAX_SCORE, 1 - doubt) * DISAGREEMENT ** len(others)
    return RankedValue(first.value, first.source, score * worth(first.value))


def description(claims: Sequence[Claim], title: str) -> RankedValue | None:
    """Return what describes the page; what repeats its title is worth little."""

    def worth(text: str) -> float:
        if loose(text) == loose(title):
            return 0.3
        return 0.6 if len(text) < _MIN_DESCRIPTION_CHARS else 1.0

    ranked = best_value(claims_about(claims, PageField.DESCRIPTION), _beginning, worth)
    return ranked and RankedValue(printable_line(ranked.value, MAX_DESCRIPTION_CHARS), ranked.source, ranked.score)


def _beginning(text: str) -> str:
    """Return the first words of a description: some places cut it short."""
    return " ".join(loose(text[:_BEGINNING]).split()[:12])


def site_name(page: Page, claims: Sequence[Claim], title: str) -> RankedValue | None:
    """Return the name of the site; one that the host repeats is worth more than one that only stands there."""
    hosts = host_words(page.url)
    named = [
        claim
        for claim in claims_about(claims, PageField.SITE_NAME)
        if "/" not in claim.value and len(claim.value) < MAX_NAME_CHARS
    ]
    named += [
        Claim(PageField.SITE_NAME, part, ClaimPlace(PlaceKind.TITLE, "cut"), Source.HEURISTIC)
        for claim in claims_about(claims, PageField.TITLE)
        if claim.place == ClaimPlace(PlaceKind.TITLE)
        for part in re.split(r"\s[|·•»«\u2013\u2014:-]\s", claim.value)[1:]
        if squeezed(part) in hosts
    ]

    def worth(text: str) -> float:
        if loose(text) == loose(title) and squeezed(text) not in hosts:
            return 0.5
        return 1.0 if squeezed(_ENDING.sub("", text)) in hosts else 0.9

    ranked = best_value(named, lambda text: squeezed(_ENDING.sub("", text.strip())), worth)
    return ranked and RankedValue(printable_line(ranked.value, MAX_NAME_CHARS), ranked.source, ranked.score)


def canonical_url(page: Page, claims: Sequence[Claim]) -> RankedValue | None:
    """Return the address that the page names as its own; another site's or a mere home page is doubtful."""

    def worth(href: str) -> float:
        try:
            named, own = urlsplit(absolute(page.base, href)), urlsplit(page.url)
        except ValueError:
            return 0.0
        if not named.path.strip("/") and own.path.strip("/"):
            return 0.3
        return 1.0 if _site(named.hostname) == _site(own.hostname) else 0.5

    ranked = best_value(
        claims_about(claims, PageField.CANONICAL_URL), lambda href: _address(page, href).rstrip("/"), worth
    )
    return ranked and RankedValue(_address(page, ranked.value), ranked.source, ranked.score)


def _site(host: str | None) -> str:
    """Return a host without what a site has several of."""
    return re.sub(r"^(?:www\d?|m|mobile|amp|web)\.", "", (host or "").lower())


def _address(page: Page, href: str) -> str:
    address = absolute(page.base, href)
    return address if address.startswith(("http://", "https://")) and len(address) <= MAX_URL_CHARS else ""


def image(page: Page, claims: Sequence[Claim], content: Content) -> RankedValue | None:
    """Return the picture that stands for the page; else the first large one of its content."""

    def worth(href: str) -> float:
        return 0.5 if _ICON.search(href.lower()) else 1.0

    ranked = best_value(
        claims_about(claims, PageField.IMAGE), lambda href: _address(page, href).partition("?")[0], worth
    )
    if ranked:
        return RankedValue(_address(page, ranked.value), ranked.source, ranked.score)
    return _content_image(page, content)


def _content_image(page: Page, content: Content) -> RankedValue | None:
    for picture in page.root.select("img[src]")[:_MAX_PICTURES] if content.holders else ():
        width = picture.attr("width") or ""
        small = width.isdecimal() and int(width[:6]) < _MIN_PICTURE_PX
        if small or picture.parent not in content.holders:
            continue
        address = _address(page, picture.attr("data-src") or picture.attr("src") or "")
        if address and not _ICON.search(address.lower()):
            return RankedValue(address, Source.HEURISTIC, 0.5)
    return None


def is_of_change(claim: Claim) -> bool:
    """Return whether a claim of a day is one of a change: it says so, or what stands around it does."""
    return claim.field is PageField.MODIFIED or bool(
        _UPDATED.search(str(claim.place)) and not _NOT_UPDATED.search(str(claim.place))
    )


def modified(page: Page, claims: Sequence[Claim], published: str) -> RankedValue | None:
    """Return the day of the last change, only where one is claimed; a day before the page was published is doubtful."""
    american = writes_month_first(page)
    changes = claims_about(claims, PageField.MODIFIED)
    changes += [
        Claim(PageField.MODIFIED, claim.value, claim.place, claim.source)
        for claim in claims_about(claims, PageField.PUBLISHED)
        if is_of_change(claim) and not _NOT_OF_PAGE.search(str(claim.place))
    ]

    def read(text: str) -> str:
        return day(text, month_first=american)

    ranked = best_value(changes, read, lambda text: 0.4 if read(text) < published else 1.0)
    return ranked and RankedValue(read(ranked.value), ranked.source, ranked.score)
