"""What an endpoint of REST takes and gives, and the router that decodes what comes in and refuses what breaks that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cache
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router, compile_path
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import JSON, not_allowed, nothing_here, refusal, wants_events
from actors.gateway.http_input import (
    MAX_BODY_BYTES,
    anything,
    check_keys,
    decoded,
    idempotency_key,
    named,
    query,
    read_file,
    read_form,
    read_json,
)
from actors.gateway.mending import MAX_MENDED_BYTES, with_mended
from actors.gateway.request import RequestContext, request_context
from protocol.codec import Decoder, MalformedError, malformed
from protocol.faults import Code, FaultError

B = TypeVar("B")
P = TypeVar("P")

GATE_ERRORS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST, HTTPStatus.TOO_MANY_REQUESTS})
"""What the Origin and Host gates and the limits refuse with."""

BODY_ERRORS = frozenset({HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE})
"""What a body can be refused with before its request is understood."""


class Tag(StrEnum):
    """The families of endpoints, by which the document is ordered."""

    PAGES = "Pages"
    DOMAINS = "Domains"
    SESSIONS = "Saved logins"
    RUNS = "Runs"
    ANSWERS = "Answers"
    ROUTER = "Models"
    TOOLS = "Tools"
    COLLECTIONS = "Collections"
    ACTING = "Acting"
    FLOWS = "Flows"
    INTERACT = "Interact"

    PACKETS = "Packets"
    COMPATIBLE = "Compatible"
    OPERATION = "Operation"


TAGS: Mapping[Tag, str] = {
    Tag.PAGES: "Read pages, and look ahead what reading them would take.",
    Tag.DOMAINS: "What Weft knows of a domain.",
    Tag.SESSIONS: "Logins that pages are read with. No value of one is ever told.",
    Tag.RUNS: "Templates of work with many steps, their runs, and the files that those leave. Errors have `errorCode`, "
    "`recoverHint` and `details` too.",
    Tag.ANSWERS: "Summaries, answers and data of pages and documents, with citations that stand there word for word.",
    Tag.ROUTER: "Which models are asked, what that came to, and the providers.",
    Tag.TOOLS: "Every tool by its name, and what waits for a person to allow it. The policy decides about each call.",
    Tag.COLLECTIONS: "Collections of pages and notes, and the texts that are made of them.",
    Tag.ACTING: "Goals that are reached on pages in a browser of Weft's own, each action verified.",
    Tag.FLOWS: "What was done in a browser session, recorded to be done again with other inputs, without any model.",
    Tag.INTERACT: "For clients that have a page of their own, such as browser extensions: what to do next on it, and "
    "the sessions in which that was talked about. Errors come as `{success: false, code, message, error}`.",
    Tag.PACKETS: "LLMCP packets, as Weft's own actors exchange them.",
    Tag.COMPATIBLE: "The same for clients that expect `{success, data}`. Errors come as `{success: false, error}`.",
    Tag.OPERATION: "Health, figures and this document.",
}


USUAL_STREAM = (
    "Server-sent events, for a client that accepts `text/event-stream`: `started` at once, `progress` while the work "
    "goes on, then one `result` with what the JSON answer would be, or one `error` with what the JSON error would be. "
    "Each has an id and JSON as its data; lines that begin with a colon keep the connection alive. Whoever closes the "
    "stream ends the work."
)


class Addressed(Struct, Generic[P, B], frozen=True):
    """What is asked of an endpoint that has both params and a body."""

    params: P
    body: B


def _refusal(error: FaultError, _arguments: Any) -> Response:
    return refusal(error)


class Endpoint(Struct, frozen=True):
    """One operation: `run` gets what the gateway works with, the request, and the decoded body or `params`, or None.

    The fields of `params` are those that `path` has in braces, and of the query all others; with both `params` and
    `body` it gets them as Addressed, and a `body` that is `optional` may be left out where every field has a default.
    `answer` is the type of a 200, which is of the media type `also` where a request wants that, or None for something
    else of one of the types `media`. `accepted` is the type of
    a 202, for work that goes on after the answer; without `answer` there is no 200 then. `open` needs no key, any
    other one a key with `scope`. `errors` are the statuses that `run` itself fails with. `events` answers in place of
    `run` who wants server-sent events, and `stream` says what those are where they are not as usual.
    `example` is a body, or else params by name, which are `where` beside a body. `failure` is what
    errors of `run` are beside those of all, and `refuse` writes them, from what was asked as far as it could be read;
    with `own_scopes` it asks for the scope itself, since that hangs on what is asked. One that `mends` reads a page:
    its error for a body that breaks the contract has the body as it should be. One that is `keyed` takes the header
    Idempotency-Key. One that is `raw` takes a file of so many bytes at most, of whatever type, in place of JSON;
    one with a `form` the fields of an HTML form.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    name: str
    summary: str
    run: Callable[[AppContext, RequestContext, Any], Awaitable[Response]]
    answer: Any = None
    media: tuple[str, ...] = (JSON,)
    also: str | None = None
    accepted: Any = None
    body: Any = None
    optional: bool = False
    params: type[Struct] | None = None
    errors: frozenset[int] = frozenset()
    open: bool = False
    scope: Scope = Scope.BROWSE
    tag: Tag = Tag.OPERATION
    about: str = ""
    example: Mapping[str, Any] | None = None
    where: Mapping[str, Any] | None = None
    events: Callable[[AppContext, RequestContext, Any], Awaitable[Response]] | None = None
    stream: str = USUAL_STREAM
    failure: Any = None
    refuse: Callable[[FaultError, Any], Response] = _refusal
    own_scopes: bool = False
    mends: bool = False
    keyed: bool = False
    raw: int = 0
    form: type[Struct] | None = None

    @property
    def enveloped(self) -> bool:
        """Whether its answers, and its refusals too, stand in the envelope `{success, ...}`."""
        return in_envelope(self.path)

    @property
    def interacts(self) -> bool:
        """Whether its refusals stand in the envelope of 001."""
        return of_interact(self.path)

    @property
    def in_path(self) -> tuple[str, ...]:
        """The names of the params that stand in the path."""
        fields = self.params.__struct_encode_fields__ if self.params else ()
        return tuple(name for name in fields if f"{{{name}}}" in self.path)

    @property
    def in_query(self) -> tuple[str, ...]:
        """The names of the params that stand in the query."""
        fields = self.params.__struct_encode_fields__ if self.params else ()
        return tuple(name for name in fields if name not in self.in_path)

    @property
    def answers(self) -> Mapping[int, Any]:
        """The statuses of success, with the type of each."""
        if self.accepted is None:
            return {HTTPStatus.OK: self.answer}
        only_accepted = self.answer is None and self.media == (JSON,)
        waited: Mapping[int, Any] = {} if only_accepted else {HTTPStatus.OK: self.answer}
        return {**waited, HTTPStatus.ACCEPTED: self.accepted}

    @property
    def statuses(self) -> tuple[int, ...]:
        """Every status of failure that may answer, in ascending order."""
        statuses = self.errors | GATE_ERRORS | {HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR}
        if self.body is not None or self.form is not None:
            statuses |= BODY_ERRORS
        if self.raw:
            statuses |= {HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
        if self.in_path:
            statuses |= {HTTPStatus.NOT_FOUND}
        if not self.open:
            statuses |= {HTTPStatus.UNAUTHORIZED}
        return tuple(sorted(statuses))


def in_envelope(path: str) -> bool:
    """Return whether answers at this path stand in the envelope `{success, ...}`."""
    return path == "/health" or path.startswith("/v1/")


def of_interact(path: str) -> bool:
    """Return whether errors at this path stand in the envelope of 001."""
    return path in {"/api/agent/interact", "/api/session"} or path.startswith(("/api/session/", "/api/pusher/"))


def router(app: AppContext, endpoints: Iterable[Endpoint], further: Mapping[str, ASGIApp]) -> ASGIApp:
    """Route every endpoint, and what is at `further` paths; whatever else is asked for is a 404."""
    paths: dict[str, list[Endpoint]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, []).append(endpoint)
    resources: dict[str, ASGIApp] = {**further, **{path: Resource(app, there) for path, there in paths.items()}}
    plain = {path: resource for path, resource in resources.items() if "{" not in path}
    patterns = [Route(path, resource) for path, resource in resources.items() if path not in plain]
    others = Router(patterns, redirect_slashes=False, default=_not_found)

    async def route(scope: AsgiScope, receive: Receive, send: Send) -> None:
        await plain.get(scope["path"], others)(scope, receive, send)

    return route


def warm(endpoints: Iterable[Endpoint]) -> None:
    """Make what routers remember of endpoints: the decoders of bodies and the patterns of paths."""
    for endpoint in endpoints:
        compile_path(endpoint.path)
        if endpoint.body is not None:
            _body_decoder(endpoint.body)


@cache
def _body_decoder(kind: Any) -> Decoder[Any]:
    return Decoder(kind, Code.VALIDATION_INVALID_REQUEST, MAX_BODY_BYTES)


class Resource:
    """ASGI: one path, by the methods that it has; HEAD goes where GET goes (RFC 9110 §9.1)."""

    def __init__(self, app: AppContext, endpoints: list[Endpoint]) -> None:
        self._app = app
        self._endpoints = {one.method: one for one in endpoints}

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
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
            if endpoint.keyed:
                context = replace(context, idempotency_key=idempotency_key(request.headers))
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
        if endpoint.raw:
            return Addressed(params, await read_file(request, endpoint.raw))
        if endpoint.form is not None:
            return _params(endpoint.form, await read_form(request, endpoint.form.__struct_encode_fields__))
        if endpoint.body is None:
            return params
        body = await read_json(request, optional=endpoint.optional)
        arguments = _decoded(endpoint, _body_decoder(endpoint.body), body)
        await check_keys(body)
        return arguments if params is None else Addressed(params, arguments)


def _decoded(endpoint: Endpoint, decoder: Decoder[Any], body: bytes) -> Any:
    try:
        return decoded(decoder, body)
    except MalformedError as error:
        if endpoint.body is None or not endpoint.mends or error.fault.field is None or len(body) > MAX_MENDED_BYTES:
            raise
        given, where = anything(body), f"{endpoint.method} {endpoint.path}"
        raise FaultError(with_mended(error.fault, endpoint.body, given, where)) from None


def _params(kind: type[Struct], given: dict[str, str]) -> Struct:
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), kind) from None


async def _not_found(scope: AsgiScope, receive: Receive, send: Send) -> None:
    await refusal(nothing_here())(scope, receive, send)
