"""Reads what data of no known framework say of the page that they stand in."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim, ClaimPlace, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.mappers import of_record
from actors.extraction.evidence.states import Framework
from actors.extraction.parse.tree import Page
from protocol.confidence import Source


def claims(page: Page) -> Iterable[Claim]:
    """Return what the records say that bear the page's title, the fullest first."""
    for record in embedded(page).records:
        if record.framework is Framework.OTHER:
            for field, value, name in of_record(record):
                yield Claim(field, value, ClaimPlace(PlaceKind.EMBEDDED_JSON, name), Source.HEURISTIC)
