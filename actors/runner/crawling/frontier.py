"""Where a walk through a site goes next: a fold of what it has found, read and left out, the same after a restart."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from actors.runner.crawling.addresses import CrawlScope, Omission, SiteAddress, address_of, language_of
from actors.runner.crawling.likeness import Fingerprint, KnownPages

_CROWD: Final = 50
"""Of each template so many pages of a depth are read before those of others have their turn."""


_MOST_SETTLED: Final = 200_000


class FoundAddress(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An address of the site, as its site maps have it."""

    url: str
    last_modified: str = ""


class VisitedPage(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What came of an address: a page, or why it is `left_out`; `links` are those that were new.

    `url` is the address that was asked for, `final_url` where that has led. `refused` counts the links that were new
    and are not gone to, by why.
    """

    url: str
    depth: int = 0
    left_out: Omission | None = None
    final_url: str = ""
    links: tuple[str, ...] = ()
    refused: dict[Omission, int] = {}
    fingerprint: Fingerprint | None = None
    title: str = ""
    language: str = ""
    content: str = ""
    truncated: bool = False
    tier: str = ""
    confidence: float | None = None
    source_id: str = ""


class NextPage(Struct, frozen=True):
    """An address that is to be read, how many links it is away from the start, and the page that led to it first."""

    address: SiteAddress
    depth: int
    last_modified: str = ""
    found_on: str = ""


@dataclass(eq=False)
class Frontier:
    """The addresses of a site that are known, which of them were read, and which comes next.

    `learn` takes in what is written down, in any order: after a restart the same pages are known, and none is read
    again. What is in hand of this replica is known to it alone.
    """

    scope: CrawlScope
    max_depth: int
    known: dict[str, NextPage] = field(default_factory=dict[str, NextPage])
    left_out: Counter[Omission] = field(default_factory=Counter[Omission])
    """The addresses that were found and never asked for, by why."""

    _refused: set[str] = field(default_factory=set[str])
    _settled: set[str] = field(default_factory=set[str])
    """Links as they were written of which nothing new comes: most links of a site stand on all of its pages."""

    _queue: list[tuple[int, int, int, str]] = field(default_factory=list[tuple[int, int, int, str]])
    _crowds: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    _taken: set[str] = field(default_factory=set[str])
    _in_hand: dict[int, NextPage] = field(default_factory=dict[int, NextPage])
    _pages: KnownPages = field(default_factory=KnownPages)

    def start(self, url: str) -> None:
        """Begin at an address, whatever the globs say of it."""
        address = address_of(url)
        if address is not None:
            self._put(NextPage(address, 0))

    def found(self, addresses: Iterable[FoundAddress], depth: int, on: str = "") -> None:
        """Queue the addresses that belong to the crawl and are not known yet, found `on` a page or in a site map."""
        for one in addresses:
            address = address_of(one.url)
            if address is not None and address.key not in self.known and depth <= self.max_depth:
                self._put(NextPage(address, depth, one.last_modified, on))

    def read(self, page: VisitedPage) -> None:
        """Take in a page that was read, or left out."""
        for url in {page.url, page.final_url or page.url}:
            if (address := address_of(url)) is not None:
                self._taken.add(address.key)
        requested = address_of(page.url)
        if requested is not None:
            self.known.setdefault(requested.key, NextPage(requested, page.depth))
            self._pages.count(requested, page.left_out, page.fingerprint)
            if page.fingerprint is not None and page.left_out is None:
                self._pages.keep(requested, page.fingerprint)
        self.left_out.update(page.refused)
        self.found((FoundAddress(url=link) for link in page.links), page.depth + 1, page.final_url or page.url)

    def failed(self, url: str) -> None:
        """Take in that an address could not be read."""
        if (address := address_of(url)) is not None:
            self._taken.add(address.key)

    def known_as(self, url: str) -> NextPage | None:
        """Return what is known of an address that was found."""
        address = address_of(url)
        return None if address is None else self.known.get(address.key)

    def take(self, index: int) -> NextPage | None:
        """Return the next address, for the step of this number; None where none is known."""
        while self._queue:
            key = heapq.heappop(self._queue)[3]
            target = self.known[key]
            if key in self._taken:
                continue
            if self._pages.is_stale(target.address):
                self._taken.add(key)
                self.left_out[Omission.TRAP] += 1
                continue
            self._taken.add(key)
            self._in_hand[index] = target
            return target
        return None

    def target(self, index: int) -> NextPage | None:
        """Return what the step of this number has in hand."""
        return self._in_hand.get(index)

    def put_down(self, index: int) -> None:
        """Forget what a step had in hand: it is written down."""
        self._in_hand.pop(index, None)

    def sorted_out(self, links: Iterable[str]) -> tuple[tuple[str, ...], dict[Omission, int]]:
        """Return the links that lead to what is new and belongs to the crawl, and how many others are new, by why."""
        fresh: dict[str, str] = {}
        refused = Counter[Omission]()
        for link in links:
            if link in self._settled:
                continue
            address = address_of(link)
            if address is None or address.key in self.known or address.key in self._refused:
                self._settle(link)
                continue
            why = self.scope.why_not(address)
            if why is None:
                fresh.setdefault(address.key, address.url)
            else:
                self._refused.add(address.key)
                refused[why] += 1
        return tuple(fresh.values()), dict(refused)

    def _settle(self, link: str) -> None:
        if len(self._settled) >= _MOST_SETTLED:
            self._settled.clear()
        self._settled.add(link)

    def alternates(self, alternates: Mapping[str, str]) -> Iterable[str]:
        """Return the same page in other languages, as far as those are wanted."""
        wanted = self.scope.languages
        for tag, url in alternates.items():
            address = address_of(url)
            tongue = tag.partition("-")[0] or (language_of(address) if address else "")
            if not wanted or tongue in wanted or tongue == "x":
                yield url

    def judge(self, target: NextPage, final_url: str, canonical: str, print_: Fingerprint) -> Omission | None:
        """Return why a page that was read is not kept, None for one that is; it is known from now on."""
        final = address_of(final_url)
        if final is None or (final.key != target.address.key and self.scope.why_not(final) is Omission.OFF_SITE):
            return Omission.OFF_SITE
        if final.key != target.address.key and final.key in self._taken:
            return Omission.DUPLICATE
        self._taken.add(final.key)
        declared = address_of(canonical) if canonical else None
        if not print_.words:
            return Omission.NO_TEXT
        return self._pages.judge(target.address, declared, print_)

    def _put(self, target: NextPage) -> None:
        address, depth = target.address, target.depth
        self.known[address.key] = target
        crowd = (address.shape, depth)
        self._crowds[crowd] += 1
        rank = self._crowds[crowd] // _CROWD + bool(address.parameters)
        heapq.heappush(self._queue, (depth, rank, len(self.known), address.key))
