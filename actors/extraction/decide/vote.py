"""Elects the title, the authors and the date of a page among candidates, and says how likely each is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.extraction.assets import FIELD_MODELS
from actors.extraction.decide.candidates import (
    Features,
    FieldCandidate,
    agree_authors,
    agree_dates,
    agree_titles,
    author_candidates,
    claims_about,
    date_candidates,
    title_candidates,
    writes_month_first,
)
from actors.extraction.decide.model import Scores, Trees, probability, shipped_arrays
from actors.extraction.evidence.claim import Claim, ClaimPlace, PageField, PlaceKind
from actors.extraction.parse.tree import Page

Agreement = Callable[[FieldCandidate, FieldCandidate], float]
"""Returns from 0 to 1 how far one candidate supports another."""

AGREEMENTS: Mapping[str, Agreement] = MappingProxyType(
    {"title": agree_titles, "author": agree_authors, "date": agree_dates}
)
"""What is elected, and how far two candidates for it say the same."""

MIN_PROBABILITY: Mapping[str, float] = MappingProxyType({"title": 0.0, "author": 0.05, "date": 0.05})
"""How likely a candidate must be to be taken at all; a page always has a title.

On gold pages without an author this keeps more than half of the wrong ones out, and costs .01 of token-F1 on the rest.
"""

_HOST = ClaimPlace(PlaceKind.ADDRESS, "host")
_PLACE_WORDS = re.compile(r"[\w@-]+")

_PARTIAL = 0.7
"""What a claim counts of which only a part says a candidate."""

_PAGE_KINDS = {
    "product": re.compile(r"product|offer|vehicle"),
    "article": re.compile(r"article|blogposting|report|news"),
    "listing": re.compile(r"collection|list|searchresults|category|profilepage"),
    "forum": re.compile(r"forum|discussion|qapage|question|thread"),
    "service": re.compile(r"service|business|organization|software|website|work"),
}
"""Words of the types that pages give themselves, by what such pages are."""

_MAX_KIND_CHARS = 60


class FieldVote(Struct, frozen=True):
    """The candidates for a field, and what is known of each."""

    candidates: Sequence[FieldCandidate]
    rows: Sequence[Features]


def field_votes(page: Page, claims: Sequence[Claim]) -> Mapping[str, FieldVote]:
    """Return the candidates for title, author and date; `claims` are `ordered_claims`."""
    shared = page_features(claims)
    sites = [claim.value for claim in claims_about(claims, PageField.SITE_NAME) if claim.place != _HOST]
    candidates = {
        "title": title_candidates(claims_about(claims, PageField.TITLE), page.url, sites),
        "author": author_candidates(claims_about(claims, PageField.AUTHOR), sites, page.url),
        "date": date_candidates(
            claims_about(claims, PageField.PUBLISHED, PageField.MODIFIED), month_first=writes_month_first(page)
        ),
    }
    return {
        name: FieldVote(group, candidate_features(group, AGREEMENTS[name], shared))
        for name, group in candidates.items()
    }


class Election(Struct, frozen=True):
    """The candidate with the highest probability, and the probabilities of all of them."""

    winner: FieldCandidate
    score: float
    shares: tuple[float, ...]


class FieldModel(Struct, frozen=True):
    """What was learned of a field: the trees that judge candidates, and how sure their judgement makes one."""

    trees: Trees
    sure: tuple[float, ...]


def elect(name: str, candidates: Sequence[FieldCandidate], rows: Sequence[Features]) -> Election | None:
    """Elect one of the candidates for a field; None when none is good enough."""
    if not candidates:
        return None
    ballot = field_models()[name]
    shares = candidate_probabilities(ballot.trees, rows)
    best = int(shares.argmax())
    if shares[best] < MIN_PROBABILITY[name]:
        return None
    facts = election_evidence(name, candidates, shares, best)
    score = float(probability(np.dot(ballot.sure, [*facts, 1.0])))
    return Election(candidates[best], score, tuple(shares.tolist()))


def candidate_probabilities(trees: Trees, rows: Sequence[Features]) -> Scores:
    """Return the probability of each candidate."""
    place = _column_indexes(trees.names)
    matrix = np.zeros((len(rows), len(trees.names)), np.float32)
    for at, row in enumerate(rows):
        for feature, value in row.items():
            if feature in place:
                matrix[at, place[feature]] = value
    return probability(trees.scores(matrix))[:, 0]


@lru_cache(8)
def _column_indexes(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: at for at, name in enumerate(names)}


def election_evidence(
    name: str, candidates: Sequence[FieldCandidate], shares: NDArray[np.float64], best: int
) -> list[float]:
    """Return the evidence of how sure an election is: the winner's share, its support, its rival, and all shares."""
    top = min(max(float(shares[best]), 1e-3), 1 - 1e-3)
    others = [at for at in range(len(candidates)) if at != best]
    agree = AGREEMENTS[name]
    support = sum(float(shares[at]) * agree(candidates[best], candidates[at]) for at in others)
    rival = max((float(shares[at]) for at in others), default=0.0)
    return [float(np.log(top / (1 - top))), support, rival, float(shares.sum())]


@cache
def field_models() -> Mapping[str, FieldModel]:
    """Return what was learned, by the name of the field.

    Raises:
        ValueError: It was trained on other features.
    """
    arrays = shipped_arrays(FIELD_MODELS)
    return MappingProxyType(
        {
            name: FieldModel(Trees.load(arrays, name), tuple(arrays[f"{name}.sure"].astype(np.float64).tolist()))
            for name in AGREEMENTS
        }
    )


def candidate_features(candidates: Sequence[FieldCandidate], agree: Agreement, page: Features) -> list[Features]:
    """Return the features of every candidate; `page` is what is known of the page, the same for all."""
    degrees = [_support_by_place(candidate, candidates, agree) for candidate in candidates]
    support = [sum(degree.values()) for degree in degrees]
    heads = {claim.place.kind for candidate in candidates for claim, _ in candidate.mentions}
    shared = page | {f"has {start}": 1.0 for start in heads} | {"candidates": float(len(candidates))}
    rows: list[Features] = []
    for index, candidate in enumerate(candidates):
        rivals = support[:index] + support[index + 1 :]
        rows.append(
            {
                **_own_features(candidate),
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
    """Return the features of a page by its claims: its kind, and its place on its site."""
    types = {
        str(claim.place).lower() for claim in claims if claim.place.kind in (PlaceKind.JSON_LD, PlaceKind.MICRODATA)
    }
    types |= {claim.value.lower()[:_MAX_KIND_CHARS] for claim in claims if claim.field is PageField.PAGE_TYPE}
    row: Features = {
        f"page {name}": 1.0 for name, kind in _PAGE_KINDS.items() if any(kind.search(word) for word in types)
    }
    return row | {f"page {word}": 1.0 for word in ("home", "search") if word in types}


def _own_features(candidate: FieldCandidate) -> Features:
    row: Features = {}
    for claim, form in candidate.mentions:
        for word in _place_words(claim.place, form):
            row[word] = row.get(word, 0) + 1
    row["claims"] = len(candidate.mentions)
    row["heads"] = len({claim.place.kind for claim, _ in candidate.mentions})
    return row | candidate.shape


@lru_cache(1024)
def _place_words(place: ClaimPlace, form: str) -> frozenset[str]:
    """Return the words by which a place is known to the vote, in the form in which it says a candidate."""
    start = place.kind.value
    if form:
        return frozenset({f"{start}~{form}", f"~{form}"})
    words = {word.lower() for word in _PLACE_WORDS.findall(str(place))}
    return frozenset({*words, start, *(f"{start}/{word}" for word in words if word != start)})


def _support_by_place(
    candidate: FieldCandidate, others: Sequence[FieldCandidate], agree: Agreement
) -> dict[str, float]:
    """Return how far each kind of place says a candidate, or something like it."""
    best: dict[str, float] = {}
    for other in others:
        degree = 1.0 if other is candidate else agree(candidate, other)
        if degree > 0:
            for claim, form in other.mentions:
                start = claim.place.kind
                best[start] = max(best.get(start, 0.0), degree * (_PARTIAL if form else 1.0))
    return best
