"""Makes candidates for title, authors and date of the claims of a page: one value in several spellings is one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from urllib.parse import urlsplit

from actors.extraction.evidence import author, dates
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.evidence.dates import month_comes_first
from actors.extraction.parse.tree import Page

Features = dict[str, float]
"""What is known of a candidate, by name; what is not there is 0."""

MAX_CLAIMS = 24
"""Claims of one kind of place that are considered for one field."""

_DAY_FIRST = (".uk", ".au", ".nz", ".ie", ".in", ".za", ".sg", ".de", ".fr", ".it", ".es", ".nl", ".eu")
"""Ends of hosts whose English writes the day before the month."""

MAX_CANDIDATES = 40
_SLUG = ClaimPlace(PlaceKind.ADDRESS, "slug")

_SEPARATOR = re.compile(
    r"\s+[|\u00b7\u2022\u00bb\u00ab\u2013\u2014:/-]{1,2}\s+|\s*[|\u00b7\u2022\u00bb\u00ab]+\s*|\s*::\s*|:\s+|\s+[-\u2013\u2014]\s*|\u2014"
)


@dataclass
class FieldCandidate:
    """A value that a field may have: `key` is what its spellings share.

    `mentions` are the claims of it, each with the form in which it has the value ("" for the whole claim); `shape`
    describes the value itself and its relation to the other candidates.
    """

    key: str
    value: str
    mentions: list[tuple[Claim, str]] = field(default_factory=list[tuple[Claim, str]])
    shape: Features = field(default_factory=dict[str, float])

    @cached_property
    def parts(self) -> frozenset[str]:
        """The words of the key."""
        return frozenset(self.key.split())


def ordered_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Put claims into an order that does not depend on the order of the sources; the claims of each keep theirs."""
    return sorted(dict.fromkeys(claim for claim in claims if claim.value.strip()), key=lambda claim: claim.place.kind)


def claims_about(claims: Iterable[Claim], *fields: PageField) -> list[Claim]:
    """Return the claims about some fields."""
    counts: Counter[PlaceKind] = Counter()
    matching: list[Claim] = []
    for claim in claims:
        if claim.field in fields and counts[claim.place.kind] < MAX_CLAIMS:
            counts[claim.place.kind] += 1
            matching.append(claim)
    return matching


def writes_month_first(page: Page) -> bool:
    """Return whether a page writes 3/4/2019 for a day in March, as far as its language and host show."""
    language = page.root.attr("lang") or "en"
    try:
        host = urlsplit(page.url).hostname or ""
    except ValueError:
        host = ""
    return month_comes_first(language) and not (host.endswith(_DAY_FIRST) and language.lower() in ("en", ""))


def date_candidates(claims: Sequence[Claim], *, month_first: bool) -> list[FieldCandidate]:
    """Return the days that claims name, in their order; 3/4/2019 is read as other claims have it, when they do."""
    by_day: dict[str, FieldCandidate] = {}
    readings = [(claim, *_read_both_ways(claim.value, month_first=month_first)) for claim in claims]
    plain = {day for _, day, other in readings if day == other}
    for claim, usual, unusual in readings:
        day = unusual if unusual in plain and usual not in plain else usual
        if day:
            by_day.setdefault(day, FieldCandidate(day, day)).mentions.append((claim, ""))
    candidates = list(by_day.values())[:MAX_CANDIDATES]
    _describe_dates(candidates)
    return candidates


def _read_both_ways(text: str, *, month_first: bool) -> tuple[str, str]:
    return dates.day(text, month_first=month_first), dates.day(text, month_first=not month_first)


def _describe_dates(candidates: list[FieldCandidate]) -> None:
    keys = sorted(candidate.key for candidate in candidates)
    for candidate in candidates:
        updated = [claim for claim, _ in candidate.mentions if claim.field is PageField.MODIFIED]
        candidate.shape = {
            "earliest": candidate.key == keys[0],
            "latest": candidate.key == keys[-1],
            "age rank": keys.index(candidate.key) / max(1, len(keys) - 1),
            "modified": len(updated),
            "only modified": len(updated) == len(candidate.mentions),
            "days to latest": min(4000, (date.fromisoformat(keys[-1]) - date.fromisoformat(candidate.key)).days),
            "first of month": candidate.key.endswith("-01"),
        }


def agree_dates(one: FieldCandidate, other: FieldCandidate) -> float:
    """Return whether two days may be the same one in two zones of time."""
    return 0.5 if abs((date.fromisoformat(one.key) - date.fromisoformat(other.key)).days) == 1 else 0.0


def title_candidates(claims: Sequence[Claim], url: str, sites: Sequence[str]) -> list[FieldCandidate]:
    """Return the titles that claims name, whole and without what may be the name of a site."""
    by_key: dict[str, FieldCandidate] = {}
    names = {squeezed(site) for site in sites if site} | host_words(url)
    for claim in claims:
        for value, form, cut in _title_forms(claim.value):
            key = loose(value)
            if not key:
                continue
            candidate = by_key.setdefault(key, FieldCandidate(key, value))
            candidate.mentions.append((claim, form))
            if cut and _is_site(cut, names):
                candidate.shape["cut a site"] = candidate.shape.get("cut a site", 0) + 1
    candidates = list(by_key.values())[:MAX_CANDIDATES]
    slug = {word for claim in claims if claim.place == _SLUG for word in loose(claim.value).split()}
    for candidate in candidates:
        _describe_title(candidate, candidates, slug, names)
    return candidates


def _title_forms(value: str) -> Iterator[tuple[str, str, str]]:
    """Return a title whole, and cut at its separators: the text, the form, and what was cut off."""
    yield value, "", ""
    marks = list(_SEPARATOR.finditer(value))
    if not marks:
        return
    last, first = marks[-1], marks[0]
    yield value[: last.start()], "end", value[last.end() :]
    yield value[first.end() :], "start", value[: first.start()]
    if len(marks) > 1:
        yield value[: first.start()], "first", value[first.end() :]
        yield value[last.end() :], "last", value[: last.start()]
    if len(marks) > 2:  # noqa: PLR2004 - with two marks that is one of the above
        yield value[: marks[-2].start()], "two", value[marks[-2].end() :]


def _is_site(text: str, names: set[str]) -> bool:
    name = squeezed(text)
    return bool(name) and any(name == known or (len(known) > 3 and (known in name or name in known)) for known in names)  # noqa: PLR2004


def _describe_title(
    candidate: FieldCandidate, candidates: list[FieldCandidate], slug: set[str], names: set[str]
) -> None:
    parts = candidate.key.split()
    padded = f" {candidate.key} "
    candidate.shape |= {
        "words": min(30, len(parts)),
        "characters": min(200, len(candidate.key)),
        "marks": len(_SEPARATOR.findall(candidate.value)),
        "is site": squeezed(candidate.value) in names,
        "like site": _is_site(candidate.value, names),
        "upper": candidate.value.isupper(),
        "ellipsis": candidate.value.endswith(("…", "...")),
        "in slug": len(slug.intersection(parts)) / max(1, len(parts)),
        "of slug": len(slug.intersection(parts)) / max(1, len(slug)),
        "within others": sum(padded in f" {other.key} " for other in candidates if other is not candidate),
        "holds others": sum(f" {other.key} " in padded for other in candidates if other is not candidate),
        "question": candidate.value.rstrip().endswith("?"),
    }


def agree_titles(one: FieldCandidate, other: FieldCandidate) -> float:
    """Return how many words two titles share."""
    return _overlap(one.parts, other.parts, 0.6)


def author_candidates(claims: Sequence[Claim], sites: Sequence[str], url: str) -> list[FieldCandidate]:
    """Return the groups of authors that claims name, one place at a time, and all of a place together."""
    by_key: dict[str, FieldCandidate] = {}
    named: dict[ClaimPlace, list[tuple[Claim, tuple[str, ...]]]] = {}
    for claim in claims:
        if who := author.people(claim.value):
            named.setdefault(_place_group(claim), []).append((claim, who))
    for group in named.values():
        for claim, who in group:
            _add_authors(by_key, claim, who, "")
        for claim, who in _all_authors(group):
            _add_authors(by_key, claim, who, "all")
    candidates = list(by_key.values())[:MAX_CANDIDATES]
    names = {squeezed(site) for site in sites if site} | host_words(url)
    for candidate in candidates:
        _describe_author(candidate, candidates, names)
    return candidates


def _place_group(claim: Claim) -> ClaimPlace:
    """Return the place of a claim; of elements that are called an author's, the first stands where the others do."""
    if claim.place.kind is not PlaceKind.CALLED_AUTHOR:
        return claim.place
    return ClaimPlace(claim.place.kind, " ".join(word for word in claim.place.detail.split() if word != "first"))


def _add_authors(by_key: dict[str, FieldCandidate], claim: Claim, who: tuple[str, ...], form: str) -> None:
    key = " ".join(sorted({word for name in who for word in author.key(name).split()}))
    if key:
        by_key.setdefault(key, FieldCandidate(key, "\n".join(who))).mentions.append((claim, form))


def _all_authors(group: list[tuple[Claim, tuple[str, ...]]]) -> Iterator[tuple[Claim, tuple[str, ...]]]:
    """Return all names of a place that names several people one by one."""
    everybody = {author.key(name): name for _, who in group for name in who}
    if 1 < len(everybody) <= author.MAX_NAMES and all(len(who) < len(everybody) for _, who in group):
        yield group[0][0], tuple(everybody.values())


def _describe_author(candidate: FieldCandidate, candidates: list[FieldCandidate], names: set[str]) -> None:
    who = candidate.value.split("\n")
    padded = candidate.parts
    candidate.shape = {
        "names": len(who),
        "words": len(padded),
        "characters": min(120, len(candidate.value)),
        "personal": sum(author.looks_personal(name) for name in who) / len(who),
        "organisation": sum(author.is_organisation(name) for name in who) / len(who),
        "digits": any(mark.isdigit() for mark in candidate.value),
        "lower": candidate.value.islower(),
        "one word": len(padded) == 1,
        "site": any(_is_site(name, names) for name in who),
        "is site": squeezed(candidate.value) in names,
        "within others": sum(padded < other.parts for other in candidates),
        "holds others": sum(padded > other.parts for other in candidates),
        "mean word": sum(map(len, padded)) / len(padded),
    }


def agree_authors(one: FieldCandidate, other: FieldCandidate) -> float:
    """Return how many words of their names two groups share."""
    return _overlap(one.parts, other.parts, 0.5)


def _overlap(one: frozenset[str], other: frozenset[str], least: float) -> float:
    share = 2 * len(one & other) / max(1, len(one) + len(other))
    return share if share >= least else 0.0


_WORDS = re.compile(r"[^\W_]+")
_GENERIC = frozenset(
    {"www", "com", "org", "net", "co", "uk", "de", "blog", "news", "en", "m", "gov", "edu", "io", "at", "ch"}
)


@lru_cache(1024)
def loose(text: str) -> str:
    """Return the words of a text, without case, marks and widths."""
    return " ".join(_WORDS.findall((text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()))


@lru_cache(1024)
def squeezed(text: str) -> str:
    """Return the letters and digits of a text alone, without accents."""
    return "".join(_WORDS.findall((text if text.isascii() else unicodedata.normalize("NFKD", text)).casefold()))


def host_words(url: str) -> set[str]:
    """Return the parts of a host that may name a site: "example" of www.example.com."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return set()
    return {squeezed(part) for part in host.split(".") if part not in _GENERIC and len(part) > 1}


def printable_line(text: str, most: int) -> str:
    """Return a text on one line, without marks of control, cut to `most` characters."""
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(mark for mark in line if mark.isprintable())
    return line[:most]
