"""Lets the sources of a page vote on a field: candidates, who says them, and features of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from actors.extraction.evidence.claim import Claim, Field

Features = dict[str, float]
"""What is known of a candidate, by name; what is not there is 0."""

_WORDS = re.compile(r"[\w@-]+")

_CUT = 0.7
"""What a claim counts of which only a part says a candidate."""

_KINDS = {
    "product": re.compile(r"product|offer|vehicle"),
    "article": re.compile(r"article|blogposting|report|news"),
    "listing": re.compile(r"collection|list|searchresults|category|profilepage"),
    "forum": re.compile(r"forum|discussion|qapage|question|thread"),
    "service": re.compile(r"service|business|organization|software|website|work"),
}
"""Words of the types that pages give themselves, by what such pages are."""

_MAX_KIND_CHARS = 60


@dataclass
class Candidate:
    """A value that a field may have: `key` is what its spellings share, `said` who says it and in which form.

    `shape` is what the value itself and its relation to the other candidates tell.
    """

    key: str
    value: str
    said: list[tuple[Claim, str]] = field(default_factory=list[tuple[Claim, str]])
    shape: Features = field(default_factory=dict[str, float])

    @cached_property
    def parts(self) -> frozenset[str]:
        """The words of the key."""
        return frozenset(self.key.split())


Agreement = Callable[[Candidate, Candidate], float]
"""Tells from 0 to 1 how far one candidate supports another."""


def head(claim: Claim) -> str:
    """Return the kind of place in which a claim stands: "json-ld", "meta", "h1"."""
    return claim.place.partition(":")[0]


def features(candidates: Sequence[Candidate], agree: Agreement, page: Features) -> list[Features]:
    """Return the features of every candidate; `page` is what is known of the page, the same for all."""
    degrees = [_degrees(candidate, candidates, agree) for candidate in candidates]
    support = [sum(degree.values()) for degree in degrees]
    heads = {head(claim) for candidate in candidates for claim, _ in candidate.said}
    shared = page | {f"has {start}": 1.0 for start in heads} | {"candidates": float(len(candidates))}
    rows: list[Features] = []
    for index, candidate in enumerate(candidates):
        rivals = support[:index] + support[index + 1 :]
        rows.append(
            {
                **_own(candidate),
                **shared,
                **{f"like {start}": degree for start, degree in degrees[index].items()},
                "support": support[index],
                "support share": support[index] / max(1, len(heads)),
                "support lead": support[index] - max(rivals, default=0.0),
                "order": float(index),
            }
        )
    return rows


def page_features(claims: Sequence[Claim]) -> Features:
    """Return what the claims of a page tell of its kind, and of its place on its site."""
    said = {claim.place.lower() for claim in claims if claim.place.startswith(("json-ld", "micro"))}
    said |= {claim.value.lower()[:_MAX_KIND_CHARS] for claim in claims if claim.field is Field.PAGE_TYPE}
    row: Features = {f"page {name}": 1.0 for name, kind in _KINDS.items() if any(kind.search(word) for word in said)}
    return row | {f"page {word}": 1.0 for word in ("home", "search") if word in said}


def _own(candidate: Candidate) -> Features:
    row: Features = {}
    for claim, form in candidate.said:
        for word in _place_words(claim.place, form):
            row[word] = row.get(word, 0) + 1
    row["claims"] = len(candidate.said)
    row["heads"] = len({head(claim) for claim, _ in candidate.said})
    return row | candidate.shape


@lru_cache(1024)
def _place_words(place: str, form: str) -> frozenset[str]:
    """Return the words by which a place is known to the vote, in the form in which it says a candidate."""
    start = place.partition(":")[0]
    if form:
        return frozenset({f"{start}~{form}", f"~{form}"})
    found = {word.lower() for word in _WORDS.findall(place)}
    return frozenset({*found, start, *(f"{start}/{word}" for word in found if word != start)})


def _degrees(candidate: Candidate, others: Sequence[Candidate], agree: Agreement) -> dict[str, float]:
    """Return how far each kind of place says a candidate, or something like it."""
    best: dict[str, float] = {}
    for other in others:
        degree = 1.0 if other is candidate else agree(candidate, other)
        if degree > 0:
            for claim, form in other.said:
                start = head(claim)
                best[start] = max(best.get(start, 0.0), degree * (_CUT if form else 1.0))
    return best
