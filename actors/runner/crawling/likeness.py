"""How like pages of a site are: by all their words, by their words without dates, and by their lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from msgspec import Struct
from simhash import Simhash  # pyright: ignore[reportMissingTypeStubs] - it has no types

from actors.runner.crawling.addresses import Omission, SiteAddress

MAX_WORDS: Final = 4_000
MAX_LINES: Final = 200
_SHINGLE: Final = 3
_MIN_LINE_CHARS: Final = 12
"""Shorter lines are labels: they stand on any page."""


_WORD: Final = re.compile(r"\w+")
_DATES: Final = re.compile(
    r"\d+|jan\w*|feb\w*|mar|march|märz|apr\w*|may|mai|june?|juni|july?|juli|aug\w*|sep\w*|oct\w*|okt\w*|nov\w*|dec\w*|dez\w*"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun|today",
)

NEAR: Final = 3
"""Bits of 64 by which the hashes of two pages may differ that say the same (Manku et al., 2007).

Of pages of 40 sentences those with another word differ by 1, by one of ten sentences by 9, any two others by 16 at
least; of 6 sentences by 4, 13 and 18.
"""

NEAR_BY_TITLE: Final = 6
"""The same for pages with the same title."""

NEAR_UNDATED: Final = 6
"""The same for pages of one template that differ by their dates alone, without those."""

MIN_WORDS: Final = 8
"""Pages of fewer words are alike by chance: they are the same only where every word is."""

ENOUGH_WORDS: Final = 100
"""Pages of fewer words and with other titles may be two things that differ by a word: an article and its other size."""

REPEATED_SHARE: Final = 0.8
"""The share of a page's lines that stood on others of its path, which makes it another view of those."""

STALE: Final = 8
"""After so many pages of one template that brought nothing, no more of them are read."""

THIN_WORDS: Final = 30

_BAND_BITS: Final = 9
_BAND: Final = (1 << _BAND_BITS) - 1
_DATED: Final = re.compile(r"/(?:19|20|21)\d\d(?:/|-)?\d{1,2}(?:\D|$)|\b(?:year|month|date|day|week|from|start)=")
_NOTHING_NEW: Final = frozenset({Omission.DUPLICATE, Omission.NEAR_DUPLICATE, Omission.NO_TEXT, Omission.NOT_FOUND})


class Fingerprint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page is recognized by: a hash of its words, two hashes whose distance says how like pages are, its lines.

    `undated` leaves out numbers and the names of days and months. `lines` are hashes of the lines, each once, `title`
    is one of the title.
    """

    title: int = 0
    digest: str
    likeness: str
    undated: str
    words: int
    lines: tuple[int, ...] = ()


def fingerprint(title: str, text: str) -> Fingerprint:
    """Return what a page with these words is recognized by; a page of 4,000 words takes some milliseconds.

    Its title is no word of it: whether that stands among the words depends on the page.
    """
    named = " ".join(title.split())
    lines = dict.fromkeys(line for each in text.splitlines() if (line := " ".join(each.split())) != named)
    words: list[str] = _WORD.findall("\n".join(lines).lower())
    undated = [word for word in words[:MAX_WORDS] if not _DATES.fullmatch(word)]
    return Fingerprint(
        title=_hash(named),
        digest=blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=12).hexdigest(),
        likeness=f"{_simhash(words[:MAX_WORDS]):016x}",
        undated=f"{_simhash(undated):016x}",
        words=len(words),
        lines=tuple(_hash(line) for line in lines if len(line) >= _MIN_LINE_CHARS)[:MAX_LINES],
    )


def distance(one: int, other: int) -> int:
    """Return how many of the 64 bits of two hashes differ."""
    return (one ^ other).bit_count()


@dataclass(eq=False)
class KnownPages:
    """The pages that are kept, by what they are recognized by, and how often the templates of a site gave none."""

    digests: dict[str, str] = field(default_factory=dict[str, str])
    likenesses: dict[str, int] = field(default_factory=dict[str, int])
    titles: dict[str, int] = field(default_factory=dict[str, int])
    bands: dict[tuple[int, int], list[str]] = field(
        default_factory=lambda: defaultdict[tuple[int, int], list[str]](list)
    )
    """Pages by the parts of their hashes: of two that differ in six bits at most, one of the seven is the same."""

    undated: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict[str, dict[str, int]](dict))
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict[str, set[int]](set))
    thin: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Where pages of few words are, with their titles."""

    stale: Counter[str] = field(default_factory=Counter[str])

    def judge(self, address: SiteAddress, declared: SiteAddress | None, print_: Fingerprint) -> Omission | None:
        """Return whether a page says what another one did."""
        first = self.digests.get(print_.digest)
        if first is not None:
            return None if first == address.key else Omission.DUPLICATE  # a step is done again that was not recorded
        if self._is_like(address, declared, print_):
            return Omission.NEAR_DUPLICATE
        self.keep(address, print_)
        return None

    def keep(self, address: SiteAddress, print_: Fingerprint) -> None:
        """Know a page from now on."""
        self.digests.setdefault(print_.digest, address.key)
        if print_.words >= MIN_WORDS:
            self._keep_likeness(address.key, print_)
        if _DATED.search(address.key):
            self.undated[address.shape][address.key] = int(print_.undated, 16)
        if print_.words < THIN_WORDS:
            self.thin.add((_room(address), print_.title))
        self.lines[_place(address)].update(print_.lines)

    def count(self, address: SiteAddress, left_out: Omission | None, print_: Fingerprint | None) -> None:
        """Count a page of a template that brought nothing; one that brought something begins anew."""
        thin = print_ is not None and print_.words < THIN_WORDS
        if left_out in _NOTHING_NEW or (thin and left_out is None):
            self.stale[address.shape] += 1
        elif left_out is None:
            self.stale[address.shape] = 0

    def is_stale(self, address: SiteAddress) -> bool:
        """Return whether the template of an address has brought nothing for long."""
        return address.shape != address.key and self.stale[address.shape] >= STALE

    def _is_like(self, address: SiteAddress, declared: SiteAddress | None, print_: Fingerprint) -> bool:
        likeness, undated = int(print_.likeness, 16), int(print_.undated, 16)
        if print_.words >= MIN_WORDS and self._is_near(address.key, print_):
            return True
        if declared is not None and declared.key != address.key and declared.key in self.likenesses:
            return distance(likeness, self.likenesses[declared.key]) <= 2 * NEAR_UNDATED
        if _DATED.search(address.key):
            alike = self.undated[address.shape].items()
            if any(distance(undated, value) <= NEAR_UNDATED for key, value in alike if key != address.key):
                return True
        thin = print_.words < THIN_WORDS and (_room(address), print_.title) in self.thin
        return thin or (bool(address.parameters) and self._repeats(address, print_))

    def _keep_likeness(self, key: str, print_: Fingerprint) -> None:
        likeness = int(print_.likeness, 16)
        if key not in self.likenesses:
            for band in _bands(likeness):
                self.bands[band].append(key)
        self.likenesses[key], self.titles[key] = likeness, print_.title

    def _is_near(self, key: str, print_: Fingerprint) -> bool:
        likeness, other_title = int(print_.likeness, 16), NEAR if print_.words >= ENOUGH_WORDS else -1
        others = {other for band in _bands(likeness) for other in self.bands.get(band, ()) if other != key}
        return any(
            distance(likeness, self.likenesses[other])
            <= (NEAR_BY_TITLE if self.titles[other] == print_.title else other_title)
            for other in others
        )

    def _repeats(self, address: SiteAddress, print_: Fingerprint) -> bool:
        """Return whether most lines of a page stood on others of the same path, which have other parameters."""
        own = frozenset(print_.lines)
        return bool(own) and len(own & self.lines[_place(address)]) >= REPEATED_SHARE * len(own)


def _simhash(words: Sequence[str]) -> int:
    if not words:
        return 0
    shingles = [" ".join(words[at : at + _SHINGLE]) for at in range(max(len(words) - _SHINGLE + 1, 1))]
    value = Simhash(shingles, hashfunc=_digest).value
    return value if isinstance(value, int) else 0


def _digest(feature: bytes) -> bytes:
    return blake2b(feature, digest_size=8).digest()


def _hash(line: str) -> int:
    return int.from_bytes(blake2b(line.encode("utf-8", "replace"), digest_size=4).digest())


def _bands(likeness: int) -> Iterator[tuple[int, int]]:
    return ((band, likeness >> _BAND_BITS * band & _BAND) for band in range(NEAR_BY_TITLE + 1))


def _place(address: SiteAddress) -> str:
    return address.key.partition("?")[0]


def _room(address: SiteAddress) -> str:
    """Return the first part of an address below its host."""
    return "/".join(_place(address).split("/")[:2])
