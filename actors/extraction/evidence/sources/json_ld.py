"""Reads what the linked data of a page (JSON-LD) says of it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence.claim import Claim
from actors.extraction.evidence.data import entities
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.mappers.entities import of_entity
from actors.extraction.evidence.mappers.offers import of_product
from actors.extraction.parse.tree import Page
from protocol.confidence import Source


def claims(page: Page) -> Iterable[Claim]:
    """Return what the objects say that speak for the page."""
    data = embedded(page)
    own = data.addresses | {entities.address(page.url)}
    for entity in entities.speaking(data.json_ld, own, data.titles):
        for field, value, name in of_entity(entity, data.resolve):
            yield Claim(field, value, f"json-ld:{entity.place}.{name}", Source.STRUCTURED_DATA)
        if entity.family == "Product":
            for field, value, name in of_product(entity.node, data.resolve, page.url):
                yield Claim(field, value, f"json-ld:{entity.place}.{name}", Source.STRUCTURED_DATA)
