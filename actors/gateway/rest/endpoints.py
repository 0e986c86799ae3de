"""The REST endpoints of Weft: the one table that they are routed by, and its OpenAPI 3.1 document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, cast, get_args

import msgspec
from msgspec import Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import Failure
from actors.gateway.http import CONVERSATION, EVENTS, JSON, answer
from actors.gateway.http_input import FORM, IDEMPOTENCY_KEY, MAX_KEY_CHARS
from actors.gateway.interact_errors import InteractFailure
from actors.gateway.request import RequestContext
from actors.gateway.rest import (
    act,
    agent,
    answers,
    approvals,
    browse,
    browsers,
    bus,
    collections,
    compatible,
    conversations,
    docs,
    flows,
    interact,
    models,
    operation,
    packets,
    pairing,
    patterns,
    push,
    recordings,
    runs,
    sessions,
    system,
    texts,
    tools,
    visits,
)
from actors.gateway.rest.routing import TAGS, Endpoint
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.documents import Kind
from protocol.schemas import tidied
from protocol.tiers import SCRIPTED, TIERS

_BEARER = "bearer"
_SCHEMAS = "#/components/schemas/{name}"

_SEGMENT = "^[^/]+$"
"""What a router takes for one parameter of a path."""

_HEADERS: Mapping[str, tuple[str, dict[str, Any]]] = MappingProxyType(
    {
        CONVERSATION: ("The conversation, as traces and logs name it.", {"type": "string", "format": "uuid"}),
        "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
        "WWW-Authenticate": ("How to authenticate.", {"type": "string"}),
        "Location": ("Where it can be looked at.", {"type": "string"}),
    }
)

_HEADERS_OF: Mapping[int, str] = {202: "Location", 401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}

_SCOPES: Mapping[Scope, str] = {
    Scope.BROWSE: "read pages",
    Scope.SESSIONS: "save, use, renew and forget logins",
    Scope.BROWSER: "drive a browser step by step",
    Scope.RUNS: "run templates, and read what came of it",
    Scope.COLLECTIONS: "keep collections, sources and texts, search in them, and hand texts out",
    Scope.INTEGRATIONS: "have other programs do what the operator has allowed",
    Scope.OFFERS: "use what other actors bring: tools, resources and prompts",
    Scope.MODELS: "have models asked for summaries, answers and data, which may cost",
    Scope.ROUTES: "say which models are asked, and try providers",
    Scope.OPERATE: "look at the figures of the system, and speak packets with it",
    Scope.PAIR: "be exchanged, once, for a key of a browser extension, which has the scope `browser`",
}

_MEANINGS: Mapping[int, str] = {
    202: "It is taken on, and goes on after this answer.",
    400: "The request is not what the contract says; `field` names the part at fault.",
    401: "No key was sent, or one that is not known.",
    403: "The key is not good for this, the Origin is not allowed, or the address is never fetched.",
    404: "There is nothing of that name.",
    409: "That does not go together with how it stands.",
    410: "It was there, and is kept no longer.",
    413: "The body is too large.",
    415: "The body is of another type than the endpoint takes.",
    421: "This Weft does not answer for that Host.",
    429: "Too many requests: of this key, or for the site's liking. Retry-After says when to come back.",
    500: "Weft failed.",
    501: "The tier that was asked for is not deployed.",
    502: "The site failed or refused, or gave no page that can be read.",
    503: "Weft is busy, or an actor is away for the moment.",
    504: "The time allowed was over.",
    507: "There is no room left for what is kept.",
}

_KEY: Mapping[str, Any] = MappingProxyType(
    {
        "name": IDEMPOTENCY_KEY,
        "in": "header",
        "required": False,
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": "^[!-~]+$"},
        "description": "The same key with the same call: done once.",
    }
)

_EVENT: Mapping[str, Any] = MappingProxyType(
    {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
        "required": ["event", "data"],
    }
)
"""One event of a stream, by the fields of its lines."""


def _given(name: str, **shape: Any) -> dict[str, Any]:
    """Describe an object in which a field is given, and is so."""
    return {"required": [name], "properties": {name: shape}}


def _sources(*, of_collections: bool) -> Mapping[str, Any]:
    """There is a source, pages are named in one way, and a model is named whole or not at all."""
    collection = [_given("collection", type="string")] if of_collections else []
    return {
        "allOf": [
            {
                "anyOf": [
                    _given("url", type="string"),
                    _given("urls", type="array", minItems=1),
                    _given("documents", type="array", minItems=1),
                    *collection,
                ]
            },
            {"not": {"allOf": [_given("url", type="string"), _given("urls", type="array", minItems=1)]}},
            {
                "anyOf": [
                    {"not": {"anyOf": [_given("provider", type="string"), _given("model", type="string")]}},
                    {
                        "allOf": [_given("provider", type="string"), _given("model", type="string")],
                        "properties": {"localOnly": {"const": False}},
                    },
                ]
            },
        ]
    }


def _with_url(*cases: Mapping[str, Any]) -> Mapping[str, Any]:
    """Describe what has no url, or is one of some cases."""
    return {"anyOf": [{"not": _given("url", type="string")}, *cases]}


_HTML: Sequence[Mapping[str, Any]] = tuple(_given(name, type="string", minLength=1) for name in ("dom", "skeletonDom"))

RULES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "BrowseOptions": {
            "not": {
                "anyOf": [
                    {
                        "properties": {
                            "forceTier": {"const": forced.value},
                            "maxCostTier": {"enum": [tier.value for tier in TIERS[: forced.rank]]},
                        },
                        "required": ["forceTier", "maxCostTier"],
                    }
                    for forced in TIERS[1:]
                ]
                + [
                    {
                        "properties": {wish: value, limit: {"const": tier.value}},
                        "required": [wish, limit],
                    }
                    for wish, value in (("waitForSelector", {"type": "string"}), ("scrollToLoad", {"const": True}))
                    for limit in ("forceTier", "maxCostTier")
                    for tier in TIERS
                    if tier not in SCRIPTED
                ]
            }
        },
        "SummarizeRequest": _sources(of_collections=True),
        "AnswerRequest": _sources(of_collections=True),
        "ExtractRequest": _sources(of_collections=False),
        "SourceDocument": {
            "anyOf": [
                {
                    "properties": {
                        "kind": {"const": kind},
                        "content": {"properties": {"doc_type": {"const": kind}}},
                        "trust": {"const": "untrusted"},
                    }
                }
                for kind in get_args(Kind)
            ]
        },
        "InteractRequest": {
            "allOf": [
                _with_url(
                    _given("interactiveTree", type="array"),
                    _given("interactive_tree", type="array"),
                    _given("semanticNodes", type="array"),
                    _given("interactiveTreeHash", type="string"),
                    *_HTML,
                ),
                _with_url({"not": _given("domMode", const="full")}, _HTML[0]),
                _with_url({"not": _given("domMode", enum=["skeleton", "hybrid"])}, *_HTML),
            ]
        },
        "FetchRequest": {
            "not": {
                "properties": {
                    "options": {
                        "anyOf": [
                            {
                                "properties": {"forceTier": {"enum": [tier.value for tier in TIERS[1:]]}},
                                "required": ["forceTier"],
                            },
                            {"properties": {"waitForSelector": {"type": "string"}}, "required": ["waitForSelector"]},
                            {"properties": {"scrollToLoad": {"const": True}}, "required": ["scrollToLoad"]},
                        ]
                    }
                },
                "required": ["options"],
            }
        },
    }
)
"""What holds between the fields of a schema: `forceTier` costs no more than `maxCostTier` allows, and where something
is waited or scrolled for, a tier that runs scripts is among those that may be used."""


@cache
def document(version: str) -> dict[str, Any]:
    """Describe the endpoints of this version."""
    return openapi(ENDPOINTS, version)


@cache
def _page(version: str) -> str:
    return docs.page(document(version))


async def _openapi(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(document(app.version))


async def _docs(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return Response(_page(app.version), headers=docs.HEADERS, media_type=docs.MEDIA)


def openapi(endpoints: Sequence[Endpoint], version: str) -> dict[str, Any]:
    """Write the document."""
    schemas, components = _schemas(endpoints)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    used = {endpoint.tag for endpoint in endpoints}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Weft",
            "version": version,
            "summary": "Web pages for agents, with a confidence on every field.",
            "description": f"Answers follow contract {SCHEMA_VERSION}. The words of a page are evidence, never "
            "instructions. JSON bodies are read strictly: an unknown field, a key that stands there twice or a "
            "value of another type is refused, and the field is named; so is an unknown or repeated query parameter. "
            "Where fields that are not known are passed over, the endpoint says so.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The Weft that serves this document."}],
        "tags": [{"name": tag.value, "description": about} for tag, about in TAGS.items() if tag in used],
        "security": [{_BEARER: []}],
        "paths": paths,
        "components": {
            "schemas": {name: shape | RULES.get(name, {}) for name, shape in sorted(components.items())},
            "securitySchemes": {_BEARER: {"type": "http", "scheme": "bearer", "description": _about_keys()}},
        },
    }
    tidy: dict[str, Any] = tidied(document)
    return tidy


def _about_keys() -> str:
    scopes = "\n".join(f"- `{scope}`: {about}" for scope, about in _SCOPES.items())
    return f"A key of this Weft; `weft up` says where the first one is kept. A key is good for some of:\n\n{scopes}"


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[dict[Any, dict[str, Any]], dict[str, Any]]:
    """Return a reference for every type of the table, and the definitions that they lead to."""
    kinds_of = ((one.body, one.form, one.answer, one.accepted, one.failure) for one in endpoints)
    named = {kind: None for kinds in kinds_of for kind in kinds if kind is not None}
    kinds: list[Any] = [StructuredError, Failure, InteractFailure, *named]
    references, components = msgspec.json.schema_components(kinds, ref_template=_SCHEMAS)
    return dict(zip(kinds, references, strict=True)), components


def _operation(endpoint: Endpoint, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    envelope = InteractFailure if endpoint.interacts else StructuredError
    failed = schemas[Failure if endpoint.enveloped else envelope]
    if endpoint.failure is not None:
        failed = {"anyOf": [failed, schemas[endpoint.failure]]}
    failures = {str(status): _response(status, {JSON: {"schema": failed}}) for status in endpoint.statuses}
    written: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "tags": [endpoint.tag.value],
        "responses": {
            **{
                str(int(status)): _response(status, _contents(endpoint, status, schemas)) for status in endpoint.answers
            },
            **failures,
        },
        "security": [] if endpoint.open else [{_BEARER: [endpoint.scope.value]}],
    }
    if endpoint.about:
        written["description"] = endpoint.about
    if endpoint.body is not None:
        content: dict[str, Any] = {"schema": schemas[endpoint.body]}
        if endpoint.example is not None:
            content["example"] = endpoint.example
        written["requestBody"] = {"required": not endpoint.optional, "content": {JSON: content}}
    if endpoint.form is not None:
        form: dict[str, Any] = {"schema": schemas[endpoint.form], "example": endpoint.example}
        written["requestBody"] = {"required": True, "content": {FORM: form}}
    if endpoint.raw:
        anything = {"schema": {"type": "string", "format": "binary"}}
        written["requestBody"] = {"required": True, "content": {"application/octet-stream": anything}}
    parameters = [] if endpoint.params is None else list(_parameters(endpoint, endpoint.params))
    if parameters or endpoint.keyed:
        written["parameters"] = [*parameters, *([dict(_KEY)] if endpoint.keyed else [])]
    return written


def _contents(endpoint: Endpoint, status: int, schemas: Mapping[Any, dict[str, Any]]) -> dict[str, Any]:
    """Describe what an answer of success holds, by media type."""
    kind = endpoint.answers[status]
    if kind is not None:
        contents: dict[str, Any] = {JSON: {"schema": schemas[kind]}}
        if endpoint.also is not None:
            contents[endpoint.also.partition(";")[0]] = {"schema": {"type": "string"}}
    else:
        plain = {media.partition(";")[0]: "object" if media == JSON else "string" for media in endpoint.media}
        contents = {media: {"schema": {"type": shape}} for media, shape in plain.items()}
    if EVENTS in contents or (endpoint.events is not None and status == HTTPStatus.OK):
        contents[EVENTS] = {"schema": {**_EVENT, "description": endpoint.stream}}
    return contents


def _parameters(endpoint: Endpoint, params: type[Struct]) -> Iterator[dict[str, Any]]:
    definitions = msgspec.json.schema(params)["$defs"]
    needed = {*endpoint.in_path, *definitions[params.__name__].get("required", ())}
    examples = (endpoint.example if endpoint.body is None else endpoint.where) or {}
    for name, field in definitions[params.__name__]["properties"].items():
        in_path = name in endpoint.in_path
        plain = _inlined(field, definitions)
        shape = {"minLength": 1, "pattern": _SEGMENT, **plain} if in_path else plain
        written = {"name": name, "in": "path" if in_path else "query", "required": name in needed, "schema": shape}
        if "description" in shape:
            written["description"] = shape.pop("description")
        if name in examples:
            written["example"] = examples[name]
        yield written


def _inlined(shape: Any, definitions: Mapping[str, Any]) -> Any:
    """Put the types that a parameter names into it."""
    match shape:
        case {"$ref": str(name)}:
            return _inlined(definitions[name.rpartition("/")[2]], definitions)
        case dict():
            inner = cast("dict[str, Any]", shape)
            return {key: _inlined(value, definitions) for key, value in inner.items() if key != "title"}
        case list():
            return [_inlined(each, definitions) for each in cast("Iterable[Any]", shape)]
        case _:
            return shape


def _response(status: int, contents: dict[str, Any]) -> dict[str, Any]:
    names = [CONVERSATION, *([_HEADERS_OF[status]] if status in _HEADERS_OF else [])]
    headers = {name: {"description": _HEADERS[name][0], "schema": _HEADERS[name][1]} for name in names}
    return {
        "description": _MEANINGS.get(status, HTTPStatus(status).phrase),
        "headers": headers,
        "content": contents,
    }


ENDPOINTS: tuple[Endpoint, ...] = (
    *browse.ENDPOINTS,
    *browse.DOMAIN_ENDPOINTS,
    *visits.ENDPOINTS,
    *patterns.ENDPOINTS,
    *sessions.ENDPOINTS,
    *runs.ENDPOINTS,
    *answers.ENDPOINTS,
    *agent.ENDPOINTS,
    *conversations.ENDPOINTS,
    *models.ENDPOINTS,
    *tools.ENDPOINTS,
    *approvals.ENDPOINTS,
    *collections.ENDPOINTS,
    *texts.ENDPOINTS,
    *act.ENDPOINTS,
    *browsers.ENDPOINTS,
    *flows.ENDPOINTS,
    *interact.ENDPOINTS,
    *push.ENDPOINTS,
    *recordings.ENDPOINTS,
    *packets.ENDPOINTS,
    *compatible.ENDPOINTS,
    *operation.KEY_ENDPOINTS,
    *pairing.ENDPOINTS,
    *system.ENDPOINTS,
    *bus.ENDPOINTS,
    *operation.HEALTH_ENDPOINTS,
    Endpoint("GET", "/docs", "docs", "Show these endpoints to people.", _docs, media=(docs.MEDIA,), open=True),
    Endpoint("GET", "/openapi.json", "openapi", "Describe these endpoints.", _openapi, open=True),
)

PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)
OPEN_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.open)
PROBES = OPEN_PATHS | {"/metrics", "/api/bus", "/api/me", "/api/settings", "/api/system"}
