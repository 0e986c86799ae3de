"""Routes requests to the endpoints of the table: decodes what comes in, and refuses what breaks the contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from actors.gateway.access.caller import require
from actors.gateway.asking import Desk
from actors.gateway.http.accepting import wants_events
from actors.gateway.http.answers import invalid, not_allowed, refusal
from actors.gateway.http.bodies import MAX_BODY_BYTES, check_keys, decoded, named, query, read_json
from actors.gateway.rest.contract import Addressed, Endpoint
from protocol.codec import Decoder, malformed
from protocol.faults import Code, FaultError


def router(desk: Desk, endpoints: Iterable[Endpoint[Desk]], further: Mapping[str, ASGIApp]) -> ASGIApp:
    """Route every endpoint, and what is at `further` paths; whatever else is asked for is a 404."""
    paths: dict[str, list[Endpoint[Desk]]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, []).append(endpoint)
    there: dict[str, ASGIApp] = {**further, **{path: Resource(desk, found) for path, found in paths.items()}}
    plain = {path: app for path, app in there.items() if "{" not in path}
    patterns = [Route(path, app) for path, app in there.items() if path not in plain]
    others = Router(patterns, redirect_slashes=False, default=_not_found)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        await plain.get(scope["path"], others)(scope, receive, send)

    return route


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
                response = refusal(not_allowed(*self._endpoints))
            else:
                response = await self._response(endpoint, Request(scope, receive))
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _response(self, endpoint: Endpoint[Desk], request: Request) -> Response:
        asked: Any = None
        try:
            if not endpoint.open and not endpoint.own_scopes:
                require(endpoint.scope)
            asked = await self._asked(endpoint, request)
            if endpoint.events is not None and wants_events(request.headers.getlist("accept")):
                return await endpoint.events(self._desk, asked)
            return await endpoint.run(self._desk, asked)
        except FaultError as error:
            return endpoint.refuse(error, asked)

    async def _asked(self, endpoint: Endpoint[Desk], request: Request) -> Any:
        given = query(request.scope["query_string"], endpoint.in_query)
        raw_path = request.scope.get("raw_path", b"")
        params = None
        if endpoint.params is not None:
            params = _params(endpoint.params, {**given, **named(request.path_params, raw_path)})
        if endpoint.body is None:
            return params
        body = await read_json(request, optional=endpoint.optional)
        asked = decoded(self._decoders[endpoint.body], body)
        await check_keys(body)
        return asked if params is None else Addressed(params, asked)


def _params(kind: type[Struct], given: dict[str, str]) -> Struct:
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    error = invalid("There is nothing at this path; /openapi.json and /mcp tell what there is", 404)
    await refusal(error)(scope, receive, send)
