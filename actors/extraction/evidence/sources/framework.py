"""Reads what the state of a framework says of its page."""

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
        if record.framework is not Framework.OTHER:
            for field, value, name in of_record(record):
                yield Claim(
                    field, value, ClaimPlace(PlaceKind.FRAMEWORK, f"{record.framework}.{name}"), Source.FRAMEWORK_DATA
                )
