"""Reads what the attributes of a page's elements (microdata, RDFa) say of it."""

from __future__ import annotations

from collections.abc import Iterable

from actors.extraction.evidence import linked_data
from actors.extraction.evidence.claim import Claim, PlaceKind
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.json_values import Json
from actors.extraction.evidence.mappers import of_entity, of_product
from actors.extraction.parse.tree import Page
from protocol.confidence import Source


def claims(page: Page) -> Iterable[Claim]:
    """Return what the items say that speak for the page, microdata first."""
    data = embedded(page)
    own = data.addresses | {linked_data.address(page.url)}
    for kind in (PlaceKind.MICRODATA, PlaceKind.RDFA):
        nodes = [node.value for node in data.nodes if node.format == kind]
        for entity in linked_data.speaking(nodes, own, data.titles):
            for field, value, name in of_entity(entity, _itself):
                yield Claim(field, value, entity.place(kind, name), Source.STRUCTURED_DATA)
            if entity.family == "Product":
                for field, value, name in of_product(entity.node, _itself, page.url):
                    yield Claim(field, value, entity.place(kind, name), Source.STRUCTURED_DATA)


def _itself(value: Json) -> Json:
    return value
