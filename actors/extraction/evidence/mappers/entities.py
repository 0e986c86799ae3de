"""Says what an object of structured data claims of the fields of its page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from actors.extraction.evidence.claim import Field
from actors.extraction.evidence.data import schema_org
from actors.extraction.evidence.data.entities import Entity
from actors.extraction.parse.values import Json, items, mapping, one_line, scalar, words

MAX_AUTHORS = 12
MAX_TEXT_CHARS = 20_000
MAX_LINE_CHARS = 2_000

Resolve = Callable[[Json], Json]
"""Gives the object that a reference means, and anything else as it is."""

_PAGE_TYPES = {
    "Article": "article",
    "Recipe": "article",
    "Documentation": "documentation",
    "Product": "product",
    "Forum": "forum",
    "List": "listing",
}
_ANONYMOUS = frozenset({"Organization", "NewsMediaOrganization", "Corporation"})


def of_entity(entity: Entity, resolve: Resolve) -> Iterator[tuple[Field, str, str]]:
    """Return each field that an entity speaks of: the value, and the property that it stands in."""
    node = entity.node
    if entity.family == "Site":
        yield from _present(Field.SITE_NAME, node, "name", "alternateName")
        return
    if entity.standing == "first":
        return
    yield from _present(Field.TITLE, node, "headline", "name", "title")
    yield from _present(Field.DESCRIPTION, node, "description", "abstract")
    yield from _people(node, resolve)
    yield from _present(Field.PUBLISHED, node, "datePublished", "dateCreated", "uploadDate", "datePosted")
    yield from _present(Field.MODIFIED, node, "dateModified")
    yield from _present(Field.LANGUAGE, node, "inLanguage")
    yield from _pictures(node, resolve)
    yield from _addresses(node)
    for holder in ("publisher", "isPartOf", "sourceOrganization"):
        if name := words(mapping(resolve(node.get(holder))).get("name"), MAX_LINE_CHARS):
            yield Field.SITE_NAME, name, f"{holder}.name"
    for name in ("articleBody", "text", "reviewBody"):
        if text := words(node.get(name), MAX_TEXT_CHARS):
            yield Field.TEXT, text, name
    if kind := _PAGE_TYPES.get(entity.family):
        yield Field.PAGE_TYPE, kind, "@type"


def _present(field: Field, node: Mapping[str, Json], *names: str) -> Iterator[tuple[Field, str, str]]:
    for name in names:
        value = node.get(name)
        described = mapping(value)
        text = scalar(value) or scalar(described.get("@value")) or scalar(described.get("name"))
        if text := words(text, MAX_LINE_CHARS):
            yield field, text, name


def _people(node: Mapping[str, Json], resolve: Resolve) -> Iterator[tuple[Field, str, str]]:
    """Return each author by name; an organisation stands in another place than a person."""
    for role in ("author", "creator"):
        for person in items(resolve(node.get(role)))[:MAX_AUTHORS]:
            known = resolve(person)
            described = mapping(known)
            name = scalar(described.get("name")) or (scalar(known) if isinstance(known, str) else "")
            place = f"{role}.organization" if _ANONYMOUS.intersection(schema_org.types(described)) else role
            if name := words(name, MAX_LINE_CHARS):
                yield Field.AUTHOR, name, place


def _pictures(node: Mapping[str, Json], resolve: Resolve) -> Iterator[tuple[Field, str, str]]:
    for name in ("image", "thumbnailUrl", "primaryImageOfPage"):
        value = resolve(next(iter(items(node.get(name))), None))
        described = mapping(value)
        text = scalar(described.get("url")) or scalar(described.get("contentUrl")) or scalar(described.get("@id"))
        if text := one_line(text or scalar(value), MAX_LINE_CHARS):
            yield Field.IMAGE, text, name


def _addresses(node: Mapping[str, Json]) -> Iterator[tuple[Field, str, str]]:
    page = node.get("mainEntityOfPage")
    for text, place in (
        (scalar(node.get("url")), "url"),
        (scalar(page) or scalar(mapping(page).get("@id")), "mainEntityOfPage"),
    ):
        if "/" in text and " " not in text and len(text) < MAX_LINE_CHARS:
            yield Field.CANONICAL_URL, text, place
