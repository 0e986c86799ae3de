"""One POST of a client of the older versions, which know sessions, answered without one by whichever replica gets it.

Own code, as the SDK keeps a session in one process, and cannot ask a client anything without one. Here each request is
answered by itself, as in the newer versions. A client is not known from one request to the next, but by the id that it
shows. Requests to a client go out on the stream of the response; its responses and cancellations find the replica that
waits for them over the bus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.types import (
    DEFAULT_NEGOTIATED_VERSION,
    INVALID_REQUEST,
    ClientCapabilities,
    ElicitationCapability,
    ErrorData,
    FormElicitationCapability,
    RootsCapability,
    SamplingCapability,
    SamplingContextCapability,
    SamplingToolsCapability,
    UrlElicitationCapability,
)
from msgspec import structs
from pydantic import ValidationError
from starlette.responses import Response

from actors.gateway.app_context import BusClient
from actors.gateway.mcp.clients import CLIENT_ID_HEADER, ClientId, new_client_id, read_client_id
from actors.gateway.mcp.replica_state import InFlight, PendingQuestions
from actors.gateway.mcp.transport.dispatch import BackChannel, PostExchange, RequestDispatch, respond
from actors.gateway.mcp.transport.messages import (
    BadMessageError,
    Json,
    JsonRpcMessage,
    JsonRpcRequest,
    ResponseStreams,
    error_response,
    read_message,
)
from actors.gateway.request import RequestContext
from protocol.faults import FaultError
from protocol.replicas import CallCancelled
from protocol.subjects import CALL_CANCELLED

log = structlog.stdlib.get_logger()

CANCEL_LOST = "mcp_cancel_lost"

REQUEST_CANCELLED = -32800
"""The code of LSP; a stream of these versions ends with a response, even for a client that wants none any more."""

EVERYTHING = ClientCapabilities(
    sampling=SamplingCapability(context=SamplingContextCapability(), tools=SamplingToolsCapability()),
    elicitation=ElicitationCapability(form=FormElicitationCapability(), url=UrlElicitationCapability()),
    roots=RootsCapability(),
)
"""What is assumed of a client that does not show what it declared: it refuses by itself what it cannot do."""


@dataclass(frozen=True)
class LegacyProtocol:
    """Answers the clients of the older versions; `questions` and `in_flight` are those of this replica."""

    server: Server[RequestContext]
    bus: BusClient
    questions: PendingQuestions
    in_flight: InFlight
    streams: ResponseStreams

    async def answer(self, exchange: PostExchange, body: bytes) -> None:
        """Answer one POST.

        Raises:
            BadMessageError: the body is none that is answered.
        """
        client = read_client_id(exchange.request.headers.get(CLIENT_ID_HEADER))
        context = replace(exchange.context, client_id=client.name, program=client.program)
        exchange = structs.replace(exchange, context=context)
        message = await read_message(body)
        match message:
            case JsonRpcMessage(method=str() as method, id=int() | str() as request_id):
                await self._request(exchange, client, JsonRpcRequest(request_id, method, message.params))
            case JsonRpcMessage(method=str(), id=None):
                raise BadMessageError
            case JsonRpcMessage(method=str() as method):
                await self._notification(exchange, method, message.params)
            case JsonRpcMessage(id=str() as question_id) if message.is_response:
                await self._reply(exchange, question_id, body)
            case _:
                raise BadMessageError

    async def _request(self, exchange: PostExchange, client: ClientId, request: JsonRpcRequest) -> None:
        stream = exchange.stream
        if request.method == "initialize":
            stream.headers[CLIENT_ID_HEADER] = new_client_id(request.params).header()
        response = error_response(request.id, ErrorData(code=REQUEST_CANCELLED, message="Request cancelled"))
        with self.streams.kept_alive(stream):
            with self.in_flight.cancellable(exchange.context.caller.name, client.name, str(request.id)) as work:
                response = await self._response(exchange, client, request)
            # An event, where it was cancelled: a client that has given up a call may not bear an answer of its own.
            await stream.end(response, event=work.cancelled_caught)

    async def _response(self, exchange: PostExchange, client: ClientId, request: JsonRpcRequest) -> Json:
        dispatch = RequestDispatch.of(exchange, request, BackChannel(self.questions, exchange.context.caller.name))
        version = exchange.request.headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)
        connection = Connection.from_envelope(version, None, None, outbound=dispatch)
        connection.client_capabilities = _capabilities(client)
        return await respond(self.server, exchange, request, connection, dispatch)

    async def _notification(self, exchange: PostExchange, method: str, params: Mapping[str, Any] | None) -> None:
        """Accept a notification; of all of them, only a cancellation changes anything."""
        request_id = cancelled_request_id_from_params(params) if method == "notifications/cancelled" else None
        context = exchange.context
        if request_id is not None and context.client_id:
            call = CallCancelled(caller=context.caller.name, client=context.client_id, request=str(request_id))
            self.in_flight.cancel(call)
            try:
                await self.bus.tell(CALL_CANCELLED, call)
            except FaultError as error:
                log.info(CANCEL_LOST, code=error.fault.code)
        await _accept(exchange)

    async def _reply(self, exchange: PostExchange, question_id: str, body: bytes) -> None:
        if not await self.questions.deliver(self.bus, question_id, exchange.context.caller.name, body.decode()):
            raise BadMessageError(ErrorData(code=INVALID_REQUEST, message="Nobody asked a question of this id"))
        await _accept(exchange)


def _capabilities(client: ClientId) -> ClientCapabilities:
    """Return what the client declared at first, as its id tells."""
    if client.capabilities is None:
        return EVERYTHING
    try:
        return ClientCapabilities.model_validate(client.capabilities, by_name=False)
    except ValidationError:
        return EVERYTHING


async def _accept(exchange: PostExchange) -> None:
    request = exchange.request
    await Response(status_code=202)(request.scope, request.receive, exchange.stream.send)
