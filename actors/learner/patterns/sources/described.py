"""Documents in which a site describes its API: where they lie, and references within them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from anyio import to_thread

from actors.learner.patterns.sources.source import Ask, items, members, of_site, origin_of, resolved, text
from protocol.patterns.sample import PageSample

MAX_DOCUMENTS: Final = 6
"""Addresses that are tried for one description."""

MAX_YAML_CHARS: Final = 256 * 1024

MAX_REFERENCES: Final = 5
"""References that are followed from one to the next."""

_SERVICE: Final = "service-desc"
_DESCRIBED: Final = frozenset({"openapi", "describedby", "alternate"})


def addresses(sample: PageSample, places: Iterable[str], words: tuple[str, ...]) -> list[str]:
    """Return where the descriptions of a site may lie: those that it links to, then the usual places.

    `words` are those of which a link has one, unless its relation says what it is.
    """
    usual = [origin_of(sample.final_url) + path for path in places]
    return list(dict.fromkeys([*_linked(sample, words), *usual]))[:MAX_DOCUMENTS]


async def document_at(url: str, ask: Ask) -> dict[str, Any]:
    """Return the document at an address, of JSON or YAML; nothing where there is none."""
    answer = await ask.json(url)
    if isinstance(answer, str) and len(answer) <= MAX_YAML_CHARS:
        answer = await to_thread.run_sync(_yaml, answer)
    return members(answer)


def catalogued(url: str, catalogue: dict[str, Any], page_url: str) -> list[str]:
    """Return the descriptions that a catalogue of APIs links to (RFC 9727), those of the page's site alone."""
    linked = [
        resolved(url, members(link).get("href"))
        for entry in items(catalogue.get("linkset"))[:MAX_DOCUMENTS]
        for link in items(members(entry).get("service-desc"))[:MAX_DOCUMENTS]
    ]
    return [one for one in linked if one and of_site(one, page_url)][:MAX_DOCUMENTS]


def dereferenced(document: dict[str, Any], value: object) -> dict[str, Any]:
    """Return an object of a document, or what its reference means in the same document; nothing where that is none."""
    one = members(value)
    for _ in range(MAX_REFERENCES):
        reference = text(one.get("$ref"))
        if not reference:
            return one
        if not reference.startswith("#/"):
            return {}
        one = _pointed(document, reference[2:])
    return {}


def _pointed(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    target = document
    for step in pointer.split("/"):
        target = members(target.get(step.replace("~1", "/").replace("~0", "~")))
    return target


def _linked(sample: PageSample, words: tuple[str, ...]) -> list[str]:
    links: list[str] = []
    for relation, address, media_type in sample.hints.links:
        relations = set(relation.lower().split())
        says = f"{address} {media_type}".lower()
        is_named = bool(relations & _DESCRIBED) and any(word in says for word in words)
        url = resolved(sample.final_url, address)
        if (is_named or _SERVICE in relations) and of_site(url, sample.final_url):
            links.append(url)
    return links


def _yaml(source: str) -> Any:
    try:
        return msgspec.yaml.decode(source)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
