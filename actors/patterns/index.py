"""The patterns that a process knows, ready to decide at once whether one stands in for a page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl

from msgspec import UNSET

from actors.patterns.acceptance import pattern_refusal
from actors.patterns.matching import PageAddress, PageKey, compiled, page_parts
from actors.patterns.safety import site_or_nothing
from actors.patterns.templates import address_parts
from actors.patterns.trust import can_bypass, decayed, page_hash, trust_of
from actors.redact import REDACTED, is_secret
from protocol.browse import ApiPattern, ApiProvenance
from protocol.patterns.pattern import MAX_PATTERNS, ApiRequest, PagePattern
from protocol.patterns.use import PatternCall

MAX_DOMAINS: Final = 1_000
MAX_HINTS: Final = 20
MAX_TRIED: Final = 64
"""Templates that one address is compared with, and patterns that are looked at, at most."""

_HOUR_MS: Final = 60 * 60 * 1000

Audience = tuple[str, str]
"""Whose login a pattern was learned with: profile and caller, both empty where none was used."""


@dataclass(eq=False)
class _Pages:
    """Templates of addresses of one make, by the places and texts of their literals, with the ids of their patterns."""

    templates: dict[tuple[int, ...], dict[tuple[str, ...], dict[str, set[str]]]] = field(
        default_factory=dict[tuple[int, ...], dict[tuple[str, ...], dict[str, set[str]]]]
    )

    def put(self, template: str, pattern_id: str) -> None:
        literals = compiled(template).literals
        texts = self.templates.setdefault(tuple(literals), {})
        texts.setdefault(tuple(literals.values()), {}).setdefault(template, set()).add(pattern_id)

    def drop(self, template: str, pattern_id: str) -> None:
        literals = compiled(template).literals
        places, texts = tuple(literals), tuple(literals.values())
        same = self.templates[places][texts]
        same[template].discard(pattern_id)
        if not same[template]:
            del same[template]
        if not same:
            del self.templates[places][texts]
        if not self.templates[places]:
            del self.templates[places]

    def matching(self, page: PageAddress) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the ids of patterns and what is in their slots, those first that say most of the address."""
        pieces = page.texts
        matches = (
            template
            for places, texts in self.templates.items()
            for template in texts.get(tuple(pieces[place] for place in places), ())
        )
        tried = list(islice(matches, MAX_TRIED))
        for template in sorted(tried, key=lambda one: (compiled(one).worth, one), reverse=True):
            slots = compiled(template).values(page)
            if slots is not None:
                ids = self.templates[tuple(compiled(template).literals)][tuple(compiled(template).literals.values())]
                yield from ((pattern_id, slots) for pattern_id in sorted(ids[template]))


@dataclass(eq=False)
class _Domain:
    """The patterns of a domain by their ids, and those of pages by whom they are for and by the make of the address."""

    patterns: dict[str, PagePattern] = field(default_factory=dict[str, PagePattern])
    pages: dict[tuple[Audience, PageKey], _Pages] = field(default_factory=dict[tuple[Audience, PageKey], _Pages])

    def put(self, pattern: PagePattern) -> None:
        self.patterns[pattern.pattern_id] = pattern
        if pattern.page:
            self.pages.setdefault(_place(pattern), _Pages()).put(pattern.page, pattern.pattern_id)

    def drop(self, pattern_id: str) -> None:
        pattern = self.patterns.pop(pattern_id)
        if pattern.page:
            pages = self.pages[_place(pattern)]
            pages.drop(pattern.page, pattern_id)
            if not pages.templates:
                del self.pages[_place(pattern)]

    def matching(self, page: PageAddress, audience: Audience) -> Iterator[tuple[PagePattern, dict[str, str]]]:
        """Yield the patterns of a page that these may use, those that say most of its address first."""
        pages = self.pages.get((audience, page.key))
        for pattern_id, slots in pages.matching(page) if pages is not None else ():
            yield self.patterns[pattern_id], slots


def _place(pattern: PagePattern) -> tuple[Audience, PageKey]:
    return (pattern.profile, pattern.caller), compiled(pattern.page).key


def _audience(profile: str, caller: str) -> Audience:
    """Return whose patterns are asked for: without a profile nobody's in particular."""
    return (profile, caller) if profile else ("", "")


class PatternIndex:
    """Patterns by domain, MAX_DOMAINS at most: of those the ones that were asked for or told of last."""

    def __init__(self) -> None:
        self._domains: OrderedDict[str, _Domain] = OrderedDict()
        self._homes: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._homes)

    def put(self, pattern: PagePattern) -> bool:
        """Keep a pattern in the place of its former version; not one that may never be used.

        Of more than MAX_PATTERNS of a domain the one of least worth is dropped: archived ones, hints and lower scores
        first.
        """
        self.drop(pattern.pattern_id)
        site = site_or_nothing(pattern.domain)
        if not site or pattern_refusal(pattern):
            return False
        domain = self._domains.setdefault(site, _Domain())
        self._domains.move_to_end(site)
        domain.put(pattern)
        self._homes[pattern.pattern_id] = site
        if len(domain.patterns) > MAX_PATTERNS:
            self.drop(min(domain.patterns.values(), key=worth_of).pattern_id)
        if len(self._domains) > MAX_DOMAINS:
            _, oldest = self._domains.popitem(last=False)
            for pattern_id in oldest.patterns:
                self._homes.pop(pattern_id, None)
        return pattern.pattern_id in self._homes

    def drop(self, pattern_id: str) -> None:
        """Forget a pattern, if it is known."""
        site = self._homes.pop(pattern_id, None)
        domain = self._domains.get(site) if site is not None else None
        if site is None or domain is None:
            return
        domain.drop(pattern_id)
        if not domain.patterns:
            del self._domains[site]

    def get(self, pattern_id: str) -> PagePattern | None:
        """Return a pattern that is known."""
        domain = self._domains.get(self._homes.get(pattern_id, ""))
        return None if domain is None else domain.patterns.get(pattern_id)

    def find(self, url: str, profile: str, caller: str, now_ms: int) -> PatternCall | None:
        """Return what is asked in the place of a page; None where nothing may stand in for it.

        A pattern that was learned with a login is given to that caller with that profile alone, and one that was
        learned without is given to nobody who comes with a profile: what it shows may be another page.
        """
        page, domain = self._lookup(url)
        if page is None or domain is None:
            return None
        for pattern, slots in islice(domain.matching(page, _audience(profile, caller)), MAX_TRIED):
            if can_bypass(pattern, now_ms):
                return _call(pattern, url, slots, now_ms)
        return None

    def hints(self, url: str, profile: str, caller: str, now_ms: int) -> tuple[ApiPattern, ...]:
        """Return the APIs that are known of a page, then those known of its domain that belong to no page."""
        page, domain = self._lookup(url)
        if page is None or domain is None:
            return ()
        audience = _audience(profile, caller)
        of_page = [pattern for pattern, _ in islice(domain.matching(page, audience), MAX_TRIED)]
        others = [one for one in domain.patterns.values() if not one.page and (one.profile, one.caller) == audience]
        known = [*of_page, *sorted(others, key=lambda one: (-one.score, one.pattern_id))]
        hints = (
            _hint(pattern, request, now_ms) for pattern in known if not pattern.archived for request in pattern.requests
        )
        return tuple({(one.method, one.endpoint): one for one in hints}.values())[:MAX_HINTS]

    def _lookup(self, url: str) -> tuple[PageAddress | None, _Domain | None]:
        page = page_parts(url)
        site = site_or_nothing(page.origin) if page is not None else ""
        domain = self._domains.get(site)
        if domain is not None:
            self._domains.move_to_end(site)
        return page, domain


def _call(pattern: PagePattern, url: str, slots: dict[str, str], now_ms: int) -> PatternCall | None:
    level = trust_of(pattern, now_ms)
    if pattern.mapping is None or level == "low":
        return None
    return PatternCall(
        pattern_id=pattern.pattern_id,
        version=pattern.version,
        domain=pattern.domain,
        requests=pattern.requests,
        shapes=pattern.shapes,
        mapping=pattern.mapping,
        checks=pattern.checks,
        other_marks=tuple(mark for page, marks in pattern.marks.items() if page != page_hash(url) for mark in marks),
        slots=slots,
        trust=level,
        reason=_reason(pattern, level, now_ms),
    )


def _reason(pattern: PagePattern, level: str, now_ms: int) -> str:
    hours = max(now_ms - pattern.verified_at, 0) // _HOUR_MS
    score = decayed(pattern, now_ms).score
    pages = len(set(pattern.reproduced))
    return f"trust {level}: score {score:.2f}, verified {hours} h ago, {pages} pages made as they are rendered"


def _hint(pattern: PagePattern, request: ApiRequest, now_ms: int) -> ApiPattern:
    origin, path, query, _ = address_parts(request.url)
    pairs = parse_qsl(query or "", keep_blank_values=True)
    return ApiPattern(
        endpoint=f"{origin}{path}",
        method="GET" if request.method == "HEAD" else request.method,
        confidence=trust_of(pattern, now_ms),
        can_bypass=can_bypass(pattern, now_ms),
        auth_type=request.auth or UNSET,
        auth_headers=dict.fromkeys(request.auth_headers, REDACTED) or UNSET,
        response_type="application/json",
        params={name: REDACTED if is_secret(name) else value for name, value in pairs} or UNSET,
        reason=pattern.reason or f"learned by {pattern.source.value}",
        provenance=ApiProvenance(source=pattern.source, last_verified_at=pattern.verified_at or UNSET),
        confidence_score=decayed(pattern, now_ms).score,
    )


def worth_of(pattern: PagePattern) -> tuple[bool, bool, float, int, str]:
    """Return what patterns of a domain are ranked by where there are too many: the least goes first.

    What makes pages counts more than any hint, of which callers may give many.
    """
    return (
        not pattern.archived,
        pattern.mapping is not None,
        pattern.score,
        max(pattern.used_at, pattern.verified_at),
        pattern.pattern_id,
    )
