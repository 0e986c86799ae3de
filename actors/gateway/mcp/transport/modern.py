"""One POST of a client of the newer era: it says everything about itself, in its headers once more, and asks once."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import cast

from mcp.server import Server
from mcp.server.connection import Connection
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
from mcp.types import CONNECTION_CLOSED, HEADER_MISMATCH, ErrorData, RequestId
from starlette.requests import Request
from starlette.responses import Response

from actors.gateway.http import invalid
from actors.gateway.mcp.transport.answering import answered
from actors.gateway.mcp.transport.dialogue import Dialogue
from actors.gateway.mcp.transport.messages import BadMessageError, Json, Message, error, read_message
from actors.gateway.mcp.transport.stream import EVENTS, Stream, Streams
from actors.gateway.mcp.transport.underway import Underway
from actors.gateway.request import RequestContext

_LISTEN = "subscriptions/listen"
_STOPPING = ErrorData(code=CONNECTION_CLOSED, message="This replica is about to stop: listen anew")
_PARAM_PREFIX = MCP_PARAM_HEADER_PREFIX.lower()


@dataclass(frozen=True)
class Modern:
    """Answers the clients of the newer era."""

    server: Server[RequestContext]
    underway: Underway
    streams: Streams

    async def answer(self, request: Request, body: bytes, stream: Stream, context: RequestContext) -> None:
        """Answer one POST; `context` is who asks, and how.

        Raises:
            BadMessageError: the body is no request and no notification.
            HttpStatusError: 406, it asks for events that it does not accept.
        """
        message = await read_message(body)
        match message:
            case Message(method=str() as method, id=int() | str() as number):
                response = await self._response(request, stream, context, number, method, message.params)
                await stream.end(response, _status(response))
            case Message(method=str(), id=None):
                raise BadMessageError
            case Message(method=str()):
                await _note(request, stream)
            case _:
                raise BadMessageError

    async def _response(  # noqa: PLR0913, PLR0917 - one request
        self,
        request: Request,
        stream: Stream,
        context: RequestContext,
        number: RequestId,
        method: str,
        params: Json | None,
    ) -> Json:
        if method == _LISTEN and not stream.events:
            raise invalid(f"What is listened to comes as {EVENTS}, which the client does not accept", 406)
        route = self._route(request, method, params)
        if isinstance(route, InboundLadderRejection):
            return error(number, _told(route))
        connection = Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
        dialogue = Dialogue.of(request, stream, number, params)
        lasts = self.underway.lasting() if method == _LISTEN else nullcontext()
        response = error(number, _STOPPING)
        with self.streams.kept(stream), lasts:
            response = await answered(self.server, context, dialogue, connection, method, params)
        return response  # noqa: RET504 - what listens may be ended before it is answered

    def _route(self, request: Request, method: str, params: Json | None) -> InboundModernRoute | InboundLadderRejection:
        """Hold the headers against the body, so that whoever stands between us and the client may go by them."""
        twice = find_duplicated_routing_header(request.headers.items())
        if twice is not None:
            return InboundLadderRejection(HEADER_MISMATCH, f"{twice} header appears more than once")
        route = classify_inbound_request({"method": method, "params": params}, headers=dict(request.headers.items()))
        if isinstance(route, InboundLadderRejection) or method != "tools/call":
            return route
        return self._mismatch(request, params or {}) or route

    def _mismatch(self, request: Request, params: Json) -> InboundLadderRejection | None:
        """Compare the arguments of a tool that are to stand in headers, too."""
        lookup, name = self.server.get_tool_input_schema, params.get("name")
        given: object = params.get("arguments") or {}
        if lookup is None or not isinstance(name, str) or not isinstance(given, dict):
            return None
        arguments = cast("Json", given)
        if not arguments and not any(header.startswith(_PARAM_PREFIX) for header in request.headers):
            return None
        schema = lookup(name)
        return None if schema is None else validate_mcp_param_headers(schema, arguments, request.headers)


async def _note(request: Request, stream: Stream) -> None:
    """Take note of a notification: in this era a client tells nothing that changes anything."""
    unsupported = unsupported_protocol_version_rejection(request.headers.get(MCP_PROTOCOL_VERSION_HEADER, ""))
    if unsupported is not None:
        response = error(None, _told(unsupported))
        await stream.end(response, _status(response))
        return
    await Response(status_code=202)(request.scope, request.receive, stream.send)


def _told(rejection: InboundLadderRejection) -> ErrorData:
    return ErrorData(code=rejection.code, message=rejection.message, data=rejection.data)


def _status(response: Json) -> int:
    return ERROR_CODE_HTTP_STATUS.get(response["error"]["code"], 200) if "error" in response else 200
