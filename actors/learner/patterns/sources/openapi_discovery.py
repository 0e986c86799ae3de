"""Descriptions by OpenAPI 2 and 3, where a site has one: each operation by GET that answers with JSON is a hint."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Final
from urllib.parse import quote

from msgspec import Struct

from actors.learner.patterns.sources.described import addresses, catalogued, dereferenced, document_at
from actors.learner.patterns.sources.source import (
    MAX_NODES,
    MAX_PARAMETERS,
    ApiEndpoint,
    Ask,
    hints,
    items,
    members,
    origin_of,
    resolved,
    slot_name,
    text,
    web_address,
    with_parameters,
)
from protocol.patterns.pattern import AuthKind, PagePattern, PatternSource
from protocol.patterns.sample import PageSample

CATALOGUE: Final = "/.well-known/api-catalog"

PLACES: Final = (
    CATALOGUE,
    "/openapi.json",
    "/swagger.json",
    "/.well-known/openapi.json",
    "/.well-known/openapi.yaml",
    "/.well-known/openapi",
)
"""Where descriptions lie that nothing links to."""

_WORDS: Final = ("openapi", "swagger")


class OpenApiDiscovery(Struct, frozen=True):
    """Asks for the first description that a site has."""

    name: ClassVar[PatternSource] = PatternSource.OPENAPI_DISCOVERY

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:
        """Return the operations of the site's description."""
        for url in addresses(sample, PLACES, _WORDS):
            document = await document_at(url, ask)
            linked = catalogued(url, document, sample.final_url)
            described = [(url, document), *[(one, await document_at(one, ask)) for one in linked]]
            endpoints = (endpoint for place, one in described for endpoint in operations(one, place))
            if candidates := hints(self.name, sample, endpoints):
                return candidates
        return ()


def operations(document: dict[str, Any], url: str) -> Iterator[ApiEndpoint]:
    """Yield the operations by GET of a description that was read at `url`."""
    if not text(document.get("openapi")).startswith("3.") and text(document.get("swagger")) != "2.0":
        return
    base = _base(document, url)
    for path, one in islice(members(document.get("paths")).items(), MAX_NODES):
        shared = dereferenced(document, one)
        operation = members(shared.get("get"))
        is_wanted = isinstance(shared.get("get"), dict) and not operation.get("deprecated") and _has_json(operation)
        if base and path.startswith("/") and is_wanted:
            endpoint = _operation(document, base + path, shared, operation)
            if endpoint is not None:
                yield endpoint


def _operation(
    document: dict[str, Any], url: str, shared: dict[str, Any], operation: dict[str, Any]
) -> ApiEndpoint | None:
    """Return the endpoint of an operation; None where a secret would stand in its address, or a header is needed."""
    given = [*items(shared.get("parameters")), *items(operation.get("parameters"))][:MAX_NODES]
    parameters = [dereferenced(document, one) for one in given]
    access = _access(document, operation)
    if access is None or any(_is_needed(one, "header") or _is_needed(one, "cookie") for one in parameters):
        return None
    url = _with_plain_slots(url)
    fixed: list[str] = []
    open_names: list[str] = []
    for one in parameters:
        if one.get("in") == "query" and (name := text(one.get("name"), 60)):
            value = _only_value(one)
            if value and one.get("required") is True:
                fixed.append(f"{quote(name)}={quote(value, safe='')}")
            else:
                open_names.append(name)
    url = f"{url}?{'&'.join(fixed[:MAX_PARAMETERS])}" if fixed else url
    summary = text(operation.get("summary"), 120)
    return ApiEndpoint(
        url=with_parameters(url, dict.fromkeys(open_names)),
        auth=access[0],
        auth_headers=access[1],
        reason=f"described by OpenAPI{f': {summary}' if summary else ''}",
    )


def _with_plain_slots(url: str) -> str:
    """Return a template whose slots have names of letters, digits and `_` alone."""
    pieces = url.split("{")
    named = (piece.partition("}") for piece in pieces[1:])
    return pieces[0] + "".join(f"{{{slot_name(name)}}}{rest}" for name, _, rest in named)


def _base(document: dict[str, Any], url: str) -> str:
    """Return the address that the paths of a description stand below."""
    if "swagger" in document:
        host = text(document.get("host"))
        schemes = [one for one in items(document.get("schemes")) if one in ("https", "http")]
        parts = web_address(url)
        own = parts.scheme if parts else "https"
        scheme = own if own in schemes or not schemes else schemes[0]
        origin = f"{scheme}://{host}" if host else origin_of(url)
        return resolved(origin + "/", text(document.get("basePath")) or "/").rstrip("/")
    servers = [members(one) for one in items(document.get("servers"))]
    server = servers[0] if servers else {}
    address = text(server.get("url"), 500) or "/"
    for name, variable in islice(members(server.get("variables")).items(), MAX_PARAMETERS):
        address = address.replace(f"{{{name}}}", text(members(variable).get("default")))
    return resolved(url, address).rstrip("/")


def _has_json(operation: dict[str, Any]) -> bool:
    """Return whether an operation may answer with JSON: it says so, or says nothing of it."""
    produces = items(operation.get("produces"))
    for status, response in islice(members(operation.get("responses")).items(), MAX_PARAMETERS):
        if status.startswith("2"):
            produces += list(members(members(response).get("content")))
    return not produces or any("json" in str(one) for one in produces)


def _is_needed(parameter: dict[str, Any], place: str) -> bool:
    return parameter.get("in") == place and parameter.get("required") is True


def _only_value(parameter: dict[str, Any]) -> str:
    """Return the value that a parameter has unless somebody says otherwise."""
    schema = members(parameter.get("schema")) or parameter
    default = schema.get("default")
    values = items(schema.get("enum"))
    value = default if default is not None else (values[0] if len(values) == 1 else None)
    return str(value)[:100] if isinstance(value, str | int | float) else ""


def _access(document: dict[str, Any], operation: dict[str, Any]) -> tuple[AuthKind | None, tuple[str, ...]] | None:
    """Return how an operation knows its callers, by names alone; None where the key stands in the address."""
    wanted = items(operation.get("security") if "security" in operation else document.get("security"))
    if not wanted or any(not members(one) for one in wanted):
        return None, ()
    components = members(members(document.get("components")).get("securitySchemes"))
    schemes = components or members(document.get("securityDefinitions"))
    scheme = dereferenced(document, schemes.get(next(iter(members(wanted[0])))))
    if text(scheme.get("type")) != "apiKey":
        is_basic = "basic" in (text(scheme.get("type")), text(scheme.get("scheme")).lower())
        return "header" if is_basic else "bearer", ("Authorization",)
    match text(scheme.get("in")):
        case "header":
            return "header", (text(scheme.get("name"), 60),)
        case "cookie":
            return "cookie", ()
        case _:
            return None
