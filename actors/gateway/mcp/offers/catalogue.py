"""Everything that offering actors bring, in one list: who is asked for what."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from mcp.types import Prompt, Resource, ResourceTemplate, Tool, methods
from mcp.types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from msgspec import Struct
from pydantic import ValidationError

from protocol.offers.offer import Offer, OfferedPrompt, OfferedResource, OfferedTemplate, OfferedTool

MAX_KINDS = 500
"""Of each kind, so many are served; what comes later by the name of its actor is left out."""

_OURS = frozenset({"tasks", "timeoutMs"})
"""What a declaration says to us alone."""

_ERAS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        LATEST_HANDSHAKE_VERSION: {},
        LATEST_MODERN_VERSION: {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
    }
)
"""The newest version of each era of the protocol, and what its lists have besides."""

S = TypeVar("S", bound=Struct)
D = TypeVar("D", Tool, Resource, ResourceTemplate, Prompt)


@dataclass(frozen=True)
class Offered(Generic[S, D]):
    """One thing that an actor brings, and how clients are told of it."""

    actor: str
    entry: S
    told: D


@dataclass(frozen=True)
class Catalogue:
    """What is offered, by its name or address, sorted; of two by one name, the actor's counts that sorts first."""

    tools: Mapping[str, Offered[OfferedTool, Tool]] = field(default_factory=lambda: MappingProxyType({}))
    resources: Mapping[str, Offered[OfferedResource, Resource]] = field(default_factory=lambda: MappingProxyType({}))
    templates: Mapping[str, Offered[OfferedTemplate, ResourceTemplate]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    prompts: Mapping[str, Offered[OfferedPrompt, Prompt]] = field(default_factory=lambda: MappingProxyType({}))
    _parsed: tuple[tuple[UriTemplate, str], ...] = ()

    def reader(self, uri: str) -> str | None:
        """Name the actor that reads an address: one that lists it, or else one with a template that it fits."""
        if uri in self.resources:
            return self.resources[uri].actor
        return next((actor for template, actor in self._parsed if _fits(template, uri)), None)


EMPTY = Catalogue()


def catalogue(offers: Mapping[str, Offer], taken: Container[str] = ()) -> Catalogue:
    """List what each actor offers; the names of tools and prompts that are `taken` are ours."""
    found = sorted(offers.items())
    templates = _listed(
        (actor, entry.uri_template, entry, ResourceTemplate)
        for actor, offer in found
        for entry in offer.templates
        if _parse(entry.uri_template) is not None
    )
    parsed = ((_parse(uri), one.actor) for uri, one in templates.items())
    return Catalogue(
        tools=_listed(
            (actor, entry.name, entry, Tool)
            for actor, offer in found
            for entry in offer.tools
            if entry.name not in taken
        ),
        resources=_listed((actor, entry.uri, entry, Resource) for actor, offer in found for entry in offer.resources),
        templates=templates,
        prompts=_listed(
            (actor, entry.name, entry, Prompt)
            for actor, offer in found
            for entry in offer.prompts
            if entry.name not in taken
        ),
        _parsed=tuple((template, actor) for template, actor in parsed if template is not None),
    )


def unfit(offer: Offer) -> str | None:
    """Name the list that clients of one of the eras could not read with this offer on it, if there is one."""
    mine = catalogue({"": offer})
    lists: dict[str, tuple[str, Iterable[Offered[Any, Any]]]] = {
        "tools/list": ("tools", mine.tools.values()),
        "resources/list": ("resources", mine.resources.values()),
        "resources/templates/list": ("resourceTemplates", mine.templates.values()),
        "prompts/list": ("prompts", mine.prompts.values()),
    }
    return next((method for method, (name, rows) in lists.items() if not _readable(method, name, rows)), None)


def _readable(method: str, name: str, rows: Iterable[Offered[Any, Any]]) -> bool:
    told = [row.told.model_dump(by_alias=True, mode="json", exclude_none=True) for row in rows]
    try:
        for version, more in _ERAS.items():
            methods.serialize_server_result(method, version, {name: told, **more})
    except ValidationError:
        return False
    return True


def _listed(rows: Iterable[tuple[str, str, S, type[D]]]) -> Mapping[str, Offered[S, D]]:
    found: dict[str, Offered[S, D]] = {}
    for actor, name, entry, kind in rows:
        if name not in found:
            found[name] = Offered(actor, entry, kind.model_validate(_told(entry)))
    return MappingProxyType(dict(sorted(found.items())[:MAX_KINDS]))


def _told(entry: Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(entry)
    return {name: value for name, value in fields.items() if name not in _OURS}


def _parse(template: str) -> UriTemplate | None:
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None


def _fits(template: UriTemplate, uri: str) -> bool:
    return template.match(uri) is not None
