"""MCP over HTTP: every version of the protocol at one address, without sessions, so that any replica answers.

Own code in place of the SDK's entry for the newer versions, which either refuses clients that take JSON alone or sends
no progress to any, and cannot end what clients listen to when a replica stops. The rules for versions, headers and
statuses are the SDK's.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import cast

import anyio
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp.types import CONNECTION_CLOSED, HEADER_MISMATCH, ErrorData
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.http import EVENTS, JSON, answer, invalid, not_allowed, refusal
from actors.gateway.http_input import read_json
from actors.gateway.mcp.replica_state import InFlight, ReplicaState
from actors.gateway.mcp.toolsets import Toolset, toolsets_of_query
from actors.gateway.mcp.transport.dispatch import PostExchange, RequestDispatch, respond
from actors.gateway.mcp.transport.legacy import LegacyProtocol
from actors.gateway.mcp.transport.messages import (
    BadMessageError,
    Json,
    JsonRpcMessage,
    JsonRpcRequest,
    ResponseStream,
    ResponseStreams,
    error_response,
    read_message,
)
from actors.gateway.request import RequestContext, request_context
from protocol.faults import FaultError


@dataclass
class McpEndpoint:
    """ASGI: the endpoint of MCP, which works while `running()` is entered. Our own gate has checked Host and Origin."""

    server: Server[RequestContext]
    app: AppContext
    state: ReplicaState
    toolsets: frozenset[Toolset]
    _streams: ResponseStreams = field(default_factory=ResponseStreams)

    def __post_init__(self) -> None:
        """Build what answers the newer and the older versions of the protocol."""
        self._modern = ModernProtocol(self.server, self.state.in_flight, self._streams)
        self._legacy = LegacyProtocol(
            self.server, self.app.bus, self.state.questions, self.state.in_flight, self._streams
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Hold what the server needs as long as it answers."""
        async with self.server.lifespan(self.server), anyio.create_task_group() as tasks:
            tasks.start_soon(self._streams.run)
            yield
            tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; there is no session to DELETE, and no stream to GET."""
        try:
            if scope["method"] != "POST":
                raise not_allowed("POST")
            trimmed: Scope = {**scope, "headers": [_trimmed(*header) for header in scope["headers"]]}
            request = Request(trimmed, receive)
            toolsets = toolsets_of_query(scope["query_string"], self.toolsets)
            context = replace(request_context(scope), toolsets=toolsets)
            accepted = _accepted(request)
            body = await read_json(request)
            await self._answer(PostExchange(request, ResponseStream(send, *accepted), context), body)
        except ClientDisconnect:
            return
        except FaultError as error:
            await refusal(error)(scope, receive, send)

    async def _answer(self, exchange: PostExchange, body: bytes) -> None:
        """Answer by the version that the client speaks; an unknown one is for the newer versions to refuse."""
        request = exchange.request
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        protocol = self._legacy if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS else self._modern
        try:
            await protocol.answer(exchange, body)
        except BadMessageError as bad:
            await answer(error_response(None, bad.error), 400)(request.scope, request.receive, exchange.stream.send)


class ModernProtocol(Struct, frozen=True):
    """Answers the clients of the versions without sessions: each request brings all that is known of its client."""

    server: Server[RequestContext]
    in_flight: InFlight
    streams: ResponseStreams

    async def answer(self, exchange: PostExchange, body: bytes) -> None:
        """Answer one POST.

        Raises:
            BadMessageError: the body is no request and no notification.
            RefusedError: 406, it asks for events that it does not accept.
        """
        message = await read_message(body)
        match message:
            case JsonRpcMessage(method=str() as method, id=int() | str() as request_id):
                response = await self._response(exchange, JsonRpcRequest(request_id, method, message.params))
                await exchange.stream.end(response, _status(response))
            case JsonRpcMessage(method=str(), id=None):
                raise BadMessageError
            case JsonRpcMessage(method=str()):
                await _acknowledge(exchange)
            case _:
                raise BadMessageError

    async def _response(self, exchange: PostExchange, request: JsonRpcRequest) -> Json:
        listens = request.method == _LISTEN
        if listens and not exchange.stream.events:
            raise invalid(f"What is listened to comes as {EVENTS}, which the client does not accept", 406)
        route = self._route(exchange, request)
        if isinstance(route, InboundLadderRejection):
            return error_response(request.id, _error(route))
        connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        response = error_response(request.id, _STOPPING)
        with self.streams.kept_alive(exchange.stream), self.in_flight.open_ended() if listens else nullcontext():
            response = await respond(self.server, exchange, request, connection, RequestDispatch.of(exchange, request))
        return response  # noqa: RET504 - what listens may be ended before it is answered

    def _route(self, exchange: PostExchange, request: JsonRpcRequest) -> InboundModernRoute | InboundLadderRejection:
        """Compare the headers with the body, so that whoever stands between us and the client may go by them.

        Only tools that are offered have arguments that are to stand in headers, too: of those a client learns nothing
        that may not know what is offered.
        """
        post = exchange.request
        duplicate = find_duplicated_routing_header(post.headers.items())
        if duplicate is not None:
            return InboundLadderRejection(HEADER_MISMATCH, f"{duplicate} header appears more than once")
        body = {"method": request.method, "params": request.params}
        route = classify_inbound_request(body, headers=dict(post.headers.items()))
        is_call = request.method == "tools/call" and exchange.context.sees_offers
        if isinstance(route, InboundLadderRejection) or not is_call:
            return route
        return self._mismatch(post, request.params or {}) or route

    def _mismatch(self, post: Request, params: Json) -> InboundLadderRejection | None:
        """Compare the arguments of a tool that are to stand in headers, too."""
        schema_of, name = self.server.get_tool_input_schema, params.get("name")
        given: object = params.get("arguments") or {}
        if schema_of is None or not isinstance(name, str) or not isinstance(given, dict):
            return None
        arguments = cast("Json", given)
        if not arguments and not any(header.startswith(_PARAM_PREFIX) for header in post.headers):
            return None
        schema = schema_of(name)
        return None if schema is None else validate_mcp_param_headers(schema, arguments, post.headers)


async def _acknowledge(exchange: PostExchange) -> None:
    """Accept a notification: in these versions none of a client's changes anything."""
    request = exchange.request
    unsupported = unsupported_protocol_version_rejection(request.headers.get(MCP_PROTOCOL_VERSION_HEADER, ""))
    if unsupported is not None:
        response = error_response(None, _error(unsupported))
        await exchange.stream.end(response, _status(response))
        return
    await Response(status_code=202)(request.scope, request.receive, exchange.stream.send)


def _error(rejection: InboundLadderRejection) -> ErrorData:
    return ErrorData(code=rejection.code, message=rejection.message, data=rejection.data)


def _status(response: Json) -> int:
    return ERROR_CODE_HTTP_STATUS.get(response["error"]["code"], 200) if "error" in response else 200


def _trimmed(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Strip the blanks around a header of MCP, which belong to no value (RFC 9110 §5.5); the server leaves some."""
    return name, value.strip(_BLANKS) if name.startswith(_MCP_PREFIX) else value


def _accepted(request: Request) -> tuple[bool, bool]:
    """Return whether the client takes JSON, and whether it takes events; one that does not say takes anything."""
    if "accept" not in request.headers:
        return True, True
    accepted = check_accept_headers(request)
    if accepted == (False, False):
        raise invalid(f"The answer is {JSON} or {EVENTS}, and the client accepts neither", 406)
    return accepted


_MCP_PREFIX = b"mcp-"
_PARAM_PREFIX = MCP_PARAM_HEADER_PREFIX.lower()
_BLANKS = b" \t"
_LISTEN = "subscriptions/listen"
_STOPPING = ErrorData(code=CONNECTION_CLOSED, message="This replica is about to stop: listen anew")
