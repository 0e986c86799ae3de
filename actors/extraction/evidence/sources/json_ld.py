"""Reads what the linked data of a page (JSON-LD) says of it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence import linked_data
from actors.extraction.evidence.claim import Claim, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.mappers import of_entity, of_product
from actors.extraction.parse.tree import Page
from protocol.confidence import Source


def claims(page: Page) -> Iterable[Claim]:
    """Return what the objects say that speak for the page."""
    data = embedded(page)
    own = data.addresses | {linked_data.address(page.url)}
    for entity in linked_data.speaking(data.json_ld, own, data.titles):
        for field, value, name in of_entity(entity, data.resolve):
            yield Claim(field, value, entity.place(PlaceKind.JSON_LD, name), Source.STRUCTURED_DATA)
        if entity.family == "Product":
            for field, value, name in of_product(entity.node, data.resolve, page.url):
                yield Claim(field, value, entity.place(PlaceKind.JSON_LD, name), Source.STRUCTURED_DATA)
