"""Lets the sources of a page vote on a field: candidates, who says them, and features of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from actors.fetchers.extract.sources.claim import Claim, Field

Features = dict[str, float]
"""What is known of a candidate, by name; what is not there is 0."""

_WORDS = re.compile(r"[\w@-]+")


@dataclass
class Candidate:
    """A value that a field may have: `key` is what its spellings share, `said` who says it and in which form.

    `shape` is what the value itself and its relation to the other candidates tell.
    """

    key: str
    value: str
    said: list[tuple[Claim, str]] = field(default_factory=list[tuple[Claim, str]])
    shape: Features = field(default_factory=dict[str, float])


def head(claim: Claim) -> str:
    """Give the kind of place in which a claim stands: "json-ld", "meta", "h1"."""
    return claim.place.partition(":")[0]


def features(
    candidates: Sequence[Candidate], agree: Callable[[Candidate, Candidate], float], page: Features
) -> list[Features]:
    """Give the features of every candidate; `agree` tells from 0 to 1 how far one supports another.

    `page` is what is known of the page, the same for all.
    """
    rows = [_own(candidate) for candidate in candidates]
    degrees = [_degrees(candidate, candidates, agree) for candidate in candidates]
    support = [sum(degree.values()) for degree in degrees]
    heads = {head(claim) for candidate in candidates for claim, _ in candidate.said}
    shared = page | {f"has {start}": 1.0 for start in heads}
    for index, row in enumerate(rows):
        others = support[:index] + support[index + 1 :]
        row["candidates"] = len(candidates)
        row["support"] = support[index]
        row["support share"] = support[index] / max(1, len(heads))
        row["support lead"] = support[index] - max(others, default=0.0)
        row["order"] = index
        row.update({f"like {start}": degree for start, degree in degrees[index].items()})
        row |= shared
    return rows


def _own(candidate: Candidate) -> Features:
    row: Features = {}
    for claim, form in candidate.said:
        for word in words(claim, form):
            row[word] = row.get(word, 0) + 1
    row["claims"] = len(candidate.said)
    row["heads"] = len({head(claim) for claim, _ in candidate.said})
    row.update(candidate.shape)
    return row


def words(claim: Claim, form: str) -> set[str]:
    """Give the words by which a place is known to the vote, in the form in which it says a candidate."""
    found = {word.lower() for word in _WORDS.findall(claim.place)}
    start = head(claim)
    if form:
        return {f"{start}~{form}", f"~{form}"}
    return found | {f"{start}/{word}" for word in found if word != start} | {start}


def _degrees(
    candidate: Candidate, others: Sequence[Candidate], agree: Callable[[Candidate, Candidate], float]
) -> dict[str, float]:
    """Tell how far each kind of place says a candidate, or something like it."""
    best: dict[str, float] = {}
    for other in others:
        degree = 1.0 if other is candidate else agree(candidate, other)
        if degree > 0:
            for claim, form in other.said:
                start = head(claim)
                best[start] = max(best.get(start, 0.0), degree * (0.7 if form else 1.0))
    return best


_KINDS = {
    "product": re.compile(r"product|offer|vehicle"),
    "article": re.compile(r"article|blogposting|report|news"),
    "listing": re.compile(r"collection|itemlist|searchresults|category|profilepage"),
    "forum": re.compile(r"discussion|qapage|question|thread"),
    "service": re.compile(r"service|business|organization|software|website"),
}


def page_features(claims: Sequence[Claim]) -> Features:
    """Give what the claims of a page tell of its kind, and of its place on its site."""
    said = {claim.place.partition(".")[0].lower() for claim in claims if claim.place.startswith(("json-ld", "micro"))}
    said |= {claim.value.lower()[:60] for claim in claims if claim.field is Field.PAGE_TYPE}
    row: Features = {f"page {name}": 1.0 for name, kind in _KINDS.items() if any(kind.search(word) for word in said)}
    return row | {f"page {word}": 1.0 for word in ("home", "search") if word in said}
