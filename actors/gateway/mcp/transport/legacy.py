"""One POST of a client of the older era, which knows sessions, answered without one by whichever replica gets it.

The protocol of the newer era answers each request by itself; here the same is done for the older one. A client is not
known from one request to the next, but by the id that it shows. What the server asks a client in between goes out
on the stream of the answer; the client's replies and cancellations find the replica that waits for them over the bus.
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
    RequestId,
    RootsCapability,
    SamplingCapability,
    SamplingContextCapability,
    SamplingToolsCapability,
    UrlElicitationCapability,
)
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from actors.gateway.app_context import BusClient
from actors.gateway.mcp.transport.answering import answered
from actors.gateway.mcp.transport.client_id import HEADER, ClientId, new_client_id, read_client_id
from actors.gateway.mcp.transport.dialogue import Asker, Dialogue
from actors.gateway.mcp.transport.messages import BadMessageError, Json, Message, error, read_message
from actors.gateway.mcp.transport.questions import Questions
from actors.gateway.mcp.transport.stream import Stream, Streams
from actors.gateway.mcp.transport.underway import Underway
from actors.gateway.request import RequestContext
from protocol.faults import FaultError
from protocol.replicas import CallCancelled
from protocol.subjects import CALL_CANCELLED

log = structlog.stdlib.get_logger()

CANCEL_LOST = "mcp_cancel_lost"

REQUEST_CANCELLED = -32800
"""The code of LSP; the stream of this era ends with a response alone, even for whoever wants none any more."""

EVERYTHING = ClientCapabilities(
    sampling=SamplingCapability(context=SamplingContextCapability(), tools=SamplingToolsCapability()),
    elicitation=ElicitationCapability(form=FormElicitationCapability(), url=UrlElicitationCapability()),
    roots=RootsCapability(),
)
"""What is assumed of a client that does not show what it said: it refuses by itself what it cannot do."""


@dataclass(frozen=True)
class Legacy:
    """Answers the clients of the older era; `questions` and `underway` are those of this replica."""

    server: Server[RequestContext]
    bus: BusClient
    questions: Questions
    underway: Underway
    streams: Streams

    async def answer(self, request: Request, body: bytes, stream: Stream, context: RequestContext) -> None:
        """Answer one POST; `context` is who asks, and how.

        Raises:
            BadMessageError: the body is none that is answered.
        """
        client_id = read_client_id(request.headers.get(HEADER))
        post = _Post(request, client_id, stream, replace(context, client_id=client_id.name))
        message = await read_message(body)
        match message:
            case Message(method=str() as method, id=int() | str() as number):
                await self._request(number, method, message.params, post)
            case Message(method=str(), id=None):
                raise BadMessageError
            case Message(method=str() as method):
                await self._notice(method, message.params, post)
            case Message(id=str() as question) if message.responds:
                await self._reply(question, body, post)
            case _:
                raise BadMessageError

    async def _request(self, number: RequestId, method: str, params: Json | None, post: _Post) -> None:
        stream = post.stream
        if method == "initialize":
            stream.headers[HEADER] = new_client_id((params or {}).get("capabilities")).written()
        response = error(number, ErrorData(code=REQUEST_CANCELLED, message="Request cancelled"))
        with self.streams.kept(stream):
            with self.underway.held(post.context.caller.name, post.client_id.name, str(number)) as work:
                response = await self._response(number, method, params, post)
            # An event, where it was cancelled: a client that has given up a call may not bear an answer of its own.
            await stream.end(response, event=work.cancelled_caught)

    async def _response(self, number: RequestId, method: str, params: Json | None, post: _Post) -> Json:
        asker = Asker(self.questions, post.context.caller.name)
        dialogue = Dialogue.of(post.request, post.stream, number, params, asker)
        connection = Connection.from_envelope(post.version, None, None, outbound=dialogue)
        connection.client_capabilities = post.capabilities
        return await answered(self.server, post.context, dialogue, connection, method, params)

    async def _notice(self, method: str, params: Mapping[str, Any] | None, post: _Post) -> None:
        """Take note; of all that a client may tell, only that it wants no answer any more changes anything."""
        request = cancelled_request_id_from_params(params) if method == "notifications/cancelled" else None
        if request is not None and post.client_id.name:
            call = CallCancelled(caller=post.context.caller.name, client=post.client_id.name, request=str(request))
            self.underway.cancel(call)
            try:
                await self.bus.tell(CALL_CANCELLED, call)
            except FaultError as failure:
                log.info(CANCEL_LOST, code=failure.fault.code)
        await _accepted(post)

    async def _reply(self, question: str, body: bytes, post: _Post) -> None:
        if not await self.questions.deliver(self.bus, question, post.context.caller.name, body.decode()):
            raise BadMessageError(ErrorData(code=INVALID_REQUEST, message="Nobody post a question of this id"))
        await _accepted(post)


@dataclass(frozen=True)
class _Post:
    """A POST in hand."""

    request: Request
    client_id: ClientId
    stream: Stream
    context: RequestContext

    @property
    def version(self) -> str:
        return self.request.headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)

    @property
    def capabilities(self) -> ClientCapabilities:
        """Return what the client said at first, as its id tells."""
        if self.client_id.capabilities is None:
            return EVERYTHING
        try:
            return ClientCapabilities.model_validate(self.client_id.capabilities, by_name=False)
        except ValidationError:
            return EVERYTHING


async def _accepted(post: _Post) -> None:
    await Response(status_code=202)(post.request.scope, post.request.receive, post.stream.send)
