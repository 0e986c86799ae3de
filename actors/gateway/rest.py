"""The REST endpoints of Weft: one table that routes, decodes and documents them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from actors.gateway import metrics, sessions
from actors.gateway.answers import JSON, answer, invalid, refusal
from actors.gateway.asking import Asking, browse
from actors.gateway.contract import Endpoint, openapi
from actors.gateway.translate import http_status
from bus.stats import Replica
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult
from protocol.codec import Decoder, malformed
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage, Url

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest body that is read; the MCP SDK has the same limit."""

NEEDED = ("navigator", "verifier")
"""The actors without which no page is read, besides a fetcher."""

FETCHERS = "fetchers."

LOOK_MS = 200
"""How long replicas get to tell that they live."""


class BrowseRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A page to read, and how."""

    url: Url
    options: BrowseOptions = BrowseOptions()


class Health(Struct, frozen=True, kw_only=True, rename="camel"):
    """The gateway is alive."""

    status: Literal["alive"] = "alive"
    schema_version: str = SCHEMA_VERSION


class Readiness(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every actor that is needed lives: the number of replicas of each."""

    replicas: dict[str, int]
    status: Literal["ready"] = "ready"
    schema_version: str = SCHEMA_VERSION


@dataclass(frozen=True)
class Desk:
    """What the endpoints work with."""

    bus: Asking
    grace_ms: int
    version: str


async def _browse(desk: Desk, asked: BrowseRequest) -> Response:
    return answer(await browse(desk.bus, BrowsePage(url=asked.url, options=asked.options), desk.grace_ms))


async def _healthz(_desk: Desk, _body: None) -> Response:
    return answer(Health())


async def _readyz(desk: Desk, _body: None) -> Response:
    found = await desk.bus.replicas(LOOK_MS, enough=lambda replicas: not missing(replicas))
    if lacking := missing(found):
        message = f"Not ready: no live {', no live '.join(lacking)}."
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, message))
    return answer(Readiness(replicas=dict(Counter(replica.actor for replica in found))))


async def _metrics(desk: Desk, _body: None) -> Response:
    return Response(metrics.render(await desk.bus.replicas(LOOK_MS)), media_type=metrics.MEDIA_TYPE)


async def _openapi(desk: Desk, _body: None) -> Response:
    return answer(openapi(ENDPOINTS, desk.version))


_LOOK_ERRORS = frozenset({503})
ENDPOINTS: tuple[Endpoint[Desk], ...] = (
    Endpoint(
        method="POST",
        path="/api/browse",
        name="browse",
        summary="Read a web page as Markdown, with a confidence on every field.",
        run=_browse,
        body=BrowseRequest,
        answer=BrowseResult,
        errors=frozenset(http_status(fault(code)) for code in Code if code is not Code.SESSION_NOT_FOUND),
    ),
    Endpoint("GET", "/healthz", "healthz", "Tell that the gateway is alive.", _healthz, Health, open=True),
    Endpoint(
        method="GET",
        path="/readyz",
        name="readyz",
        summary="Tell whether every actor that a browse needs is alive; 503 says which is not.",
        run=_readyz,
        answer=Readiness,
        errors=_LOOK_ERRORS,
        open=True,
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        name="metrics",
        summary="Tell the figures of every replica to Prometheus.",
        run=_metrics,
        media=metrics.MEDIA_TYPE,
        errors=_LOOK_ERRORS,
    ),
    *sessions.ENDPOINTS,
    Endpoint("GET", "/openapi.json", "openapi", "Describe these endpoints.", _openapi, open=True),
)

PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)
OPEN_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.open)
PROBES = OPEN_PATHS | {"/metrics"}


def missing(replicas: list[Replica] | tuple[Replica, ...]) -> tuple[str, ...]:
    """Name what a browse needs and is not among the live replicas."""
    actors = {replica.actor for replica in replicas}
    lacking = tuple(name for name in NEEDED if name not in actors)
    return lacking if any(name.startswith(FETCHERS) for name in actors) else (*lacking, "fetcher")


def router(desk: Desk, *further: Route) -> Router:
    """Route every endpoint of the table, and `further` ones; whatever else is asked for is a 404."""
    paths: dict[str, list[Endpoint[Desk]]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, []).append(endpoint)
    routes = [Route(path, Resource(desk, endpoints)) for path, endpoints in paths.items()]
    return Router([*routes, *further], redirect_slashes=False, default=_not_found)


class Resource:
    """ASGI: one path, by the methods that it has; HEAD goes where GET goes (RFC 9110 §9.1)."""

    def __init__(self, desk: Desk, endpoints: list[Endpoint[Desk]]) -> None:
        self._desk = desk
        self._decoders: dict[type[Struct], Decoder[Struct]] = {
            one.body: Decoder(one.body, Code.VALIDATION_INVALID_REQUEST, MAX_BODY_BYTES)
            for one in endpoints
            if one.body
        }
        self._endpoints = {one.method: one for one in endpoints}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        method = scope["method"]
        endpoint = self._endpoints.get("GET" if method == "HEAD" else method)
        try:
            if endpoint is None:
                raise not_allowed(*self._endpoints)
            asked = await self._asked(endpoint, Request(scope, receive))
            response = await endpoint.run(self._desk, asked)
        except ClientDisconnect:
            return
        except FaultError as error:
            response = refusal(error)
        await response(scope, receive, send)

    async def _asked(self, endpoint: Endpoint[Desk], request: Request) -> Struct | None:
        if endpoint.params is not None:
            return _params(endpoint.params, {**request.query_params, **request.path_params})
        if endpoint.body is None:
            return None
        essence = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if essence != JSON:
            raise invalid(f"The body has to be {JSON}", 415)
        return self._decoders[endpoint.body].decode(await _read(request))


def not_allowed(*methods: str) -> FaultError:
    """Make the error for a method that a path does not have."""
    allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
    return invalid(f"This path takes {allowed} only", 405, {"Allow": allowed})


def _params(kind: type[Struct], given: dict[str, str]) -> Struct:
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None


async def _read(request: Request) -> bytes:
    """Read a body, and stop where it gets too large, whatever it said of its length."""
    body = bytearray()
    if _declared(request) <= MAX_BODY_BYTES:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                break
        else:
            return bytes(body)
    raise invalid(f"The body has more than {MAX_BODY_BYTES} bytes", 413)


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    error = invalid("There is nothing at this path; /openapi.json and /mcp tell what there is", 404)
    await refusal(error)(scope, receive, send)
