"""Decides what a page is for: what its blocks look like, corrected by what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.fetchers.extract.fields.questions import of
from actors.fetchers.extract.fields.standing import Standing
from actors.fetchers.extract.fields.vote import head
from actors.fetchers.extract.sources.claim import Claim, Field
from protocol.confidence import Source
from protocol.page import PageType

WEIGHT = {"json-ld": 2.0, "microdata": 1.5, "og": 1.3, "url": 1.5, "meta": 1.2}
"""How many times likelier a type becomes when such a place names it.

Small figures: the probabilities come from a classifier that has seen most of these places itself.
"""

_UNSEEN = 0.05
"""The probability of a type that the classifier does not know, before anything names it."""

_TYPES = {kind.value: kind for kind in PageType}


def page_type(claims: Sequence[Claim], looks: Mapping[PageType, float]) -> Standing | None:
    """Give the likeliest type and its probability; None where nothing speaks for one."""
    odds = dict(looks)
    said = {(claim.value.strip().lower(), head(claim)) for claim in of(claims, Field.PAGE_TYPE)}
    for value, place in sorted(said):
        if kind := _TYPES.get(value):
            odds[kind] = max(odds.get(kind, 0.0), _UNSEEN) * WEIGHT.get(place, 1.0)
    if not odds:
        return None
    likeliest = max(odds, key=lambda kind: odds[kind])
    doubt = 0.0 if looks else odds[likeliest]  # where nothing was classified, a name alone is worth a half
    return Standing(likeliest.value, Source.HEURISTIC, odds[likeliest] / (sum(odds.values()) + doubt))
