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

from actors.gateway.app_context import AppContext
from actors.gateway.http.accepting import wants_events
from actors.gateway.http.answers import invalid, not_allowed, refusal
from actors.gateway.http.bodies import MAX_BODY_BYTES, check_keys, decoded, named, query, read_json
from actors.gateway.request import request_context
from actors.gateway.rest.contract import Addressed, Endpoint
from protocol.codec import Decoder, malformed
from protocol.faults import Code, FaultError


def router(app: AppContext, endpoints: Iterable[Endpoint], further: Mapping[str, ASGIApp]) -> ASGIApp:
    """Route every endpoint, and what is at `further` paths; whatever else is asked for is a 404."""
    paths: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, []).append(endpoint)
    resources: dict[str, ASGIApp] = {**further, **{path: Resource(app, there) for path, there in paths.items()}}
    plain = {path: resource for path, resource in resources.items() if "{" not in path}
    patterns = [Route(path, resource) for path, resource in resources.items() if path not in plain]
    others = Router(patterns, redirect_slashes=False, default=_not_found)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        await plain.get(scope["path"], others)(scope, receive, send)

    return route


class Resource:
    """ASGI: one path, by the methods that it has; HEAD goes where GET goes (RFC 9110 §9.1)."""

    def __init__(self, app: AppContext, endpoints: list[Endpoint]) -> None:
        self._app = app
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

    async def _response(self, endpoint: Endpoint, request: Request) -> Response:
        context, arguments = request_context(request.scope), None
        try:
            if not endpoint.open and not endpoint.own_scopes:
                context.caller.require(endpoint.scope)
            arguments = await self._arguments(endpoint, request)
            if endpoint.events is not None and wants_events(request.headers.getlist("accept")):
                return await endpoint.events(self._app, context, arguments)
            return await endpoint.run(self._app, context, arguments)
        except FaultError as error:
            return endpoint.refuse(error, arguments)

    async def _arguments(self, endpoint: Endpoint, request: Request) -> Any:
        given = query(request.scope["query_string"], endpoint.in_query)
        raw_path = request.scope.get("raw_path", b"")
        params = None
        if endpoint.params is not None:
            params = _params(endpoint.params, {**given, **named(request.path_params, raw_path)})
        if endpoint.body is None:
            return params
        body = await read_json(request, optional=endpoint.optional)
        arguments = decoded(self._decoders[endpoint.body], body)
        await check_keys(body)
        return arguments if params is None else Addressed(params, arguments)


def _params(kind: type[Struct], given: dict[str, str]) -> Struct:
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    error = invalid("There is nothing at this path; /openapi.json and /mcp tell what there is", 404)
    await refusal(error)(scope, receive, send)
