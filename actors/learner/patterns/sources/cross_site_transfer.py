"""A pattern that was proven at another site with the same marks, moved to this one."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar, Final

from actors.learner.patterns.sources.backend_fingerprinting import backends_of
from actors.learner.patterns.sources.source import ApiEndpoint, Ask, domain_of, hints, origin_of
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample

MIN_SIMILARITY: Final = 0.3
SCORE_SHARE: Final = 0.5
"""What two sites must have in common, and what a pattern keeps of its score on the way (000 §4)."""

MAX_SITES: Final = 1_000
MAX_PATTERNS: Final = 2_000
"""Sites whose marks are remembered, and patterns that are looked at for one page."""

_HASHED: Final = re.compile(r"[.-][0-9a-f]{6,}(?=\.)|\?.*")


@dataclass
class CrossSiteTransfer:
    """Remembers the marks of sites; `kept` are the patterns that a replica knows of all of them."""

    name: ClassVar[PatternSource] = PatternSource.CROSS_SITE_TRANSFER

    kept: Callable[[], Iterable[PagePattern]] = tuple

    _marks: OrderedDict[str, frozenset[str]] = field(default_factory=OrderedDict[str, frozenset[str]], repr=False)

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the proven patterns of sites with the same marks, as they would be at this one."""
        marks = marks_of(sample)
        domain = domain_of(sample.final_url)
        self._remember(domain, marks)
        return hints(self.name, sample, self._moved(domain, marks, origin_of(sample.final_url)))

    def _remember(self, domain: str, marks: frozenset[str]) -> None:
        self._marks[domain] = marks | self._marks.get(domain, frozenset())
        self._marks.move_to_end(domain)
        if len(self._marks) > MAX_SITES:
            self._marks.popitem(last=False)

    def _moved(self, domain: str, marks: frozenset[str], origin: str) -> Iterator[ApiEndpoint]:
        for pattern in islice(self.kept(), MAX_PATTERNS):
            if pattern.domain == domain or not _is_movable(pattern):
                continue
            likeness = similarity(marks, self._marks.get(pattern.domain, frozenset()))
            if likeness >= MIN_SIMILARITY:
                (request,) = pattern.requests
                theirs = origin_of(pattern.page)
                yield ApiEndpoint(
                    url=origin + request.url.removeprefix(theirs),
                    page=origin + pattern.page.removeprefix(theirs),
                    baseline=pattern.score * SCORE_SHARE,
                    reason=f"proven at {pattern.domain}, which is {likeness:.0%} alike",
                )


def _is_movable(pattern: PagePattern) -> bool:
    """Return whether a pattern says nothing of a login, is proven, and is one plain request to its page's origin."""
    if pattern.caller or pattern.profile or pattern.archived or not pattern.reproduced or len(pattern.requests) != 1:
        return False
    request = pattern.requests[0]
    plain = request.method == "GET" and request.auth is None and not request.auth_headers
    return plain and request.url.startswith(f"{origin_of(pattern.page)}/")


def marks_of(sample: PageSample) -> frozenset[str]:
    """Return what tells the program of a site: its name, its headers, the names of its scripts."""
    page = sample.hints
    generator = page.generator.strip().lower().split()
    return frozenset(
        {f"backend:{one.name}" for one in backends_of(sample)}
        | {f"generator:{word}" for word in generator[:1]}
        | {f"header:{name.lower()}" for name in page.headers}
        | {f"script:{_HASHED.sub('', one.rpartition('/')[2]).lower()}" for one in page.scripts[:50]}
    )


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much two sites have in common (Jaccard), 0 where no mark names the same program."""
    shared = one & other
    if not any(mark.startswith(("backend:", "generator:", "script:")) for mark in shared):
        return 0.0
    return len(shared) / len(one | other)
