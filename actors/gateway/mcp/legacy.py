"""One POST of a client of the older era, which knows sessions, answered without one by whichever replica gets it.

The protocol of the newer era answers each request by itself; here the same is done for the older one. A client is not
known from one request to the next, but by the label that it shows. What the server asks a client in between goes out
on the stream of the answer; the client's replies and cancellations find the replica that waits for them over the bus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import structlog
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import (
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
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
from msgspec import UNSET, Struct, UnsetType
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from actors.gateway.access.caller import caller
from actors.gateway.asking import Asking
from actors.gateway.mcp.dialogue import Dialogue
from actors.gateway.mcp.label import HEADER, Label, labelled, new_label, read_label
from actors.gateway.mcp.questions import Questions
from actors.gateway.mcp.stream import Stream, Streams
from actors.gateway.mcp.underway import Underway
from actors.gateway.rest.answers import JSON
from protocol.edge import CallCancelled
from protocol.faults import FaultError
from protocol.subjects import CALL_CANCELLED

log = structlog.stdlib.get_logger()

REQUEST_FAILED = "mcp_request_failed"
CANCEL_LOST = "mcp_cancel_lost"

REQUEST_CANCELLED = -32800
"""The code of LSP; the stream of this era ends with a response alone, even for whoever wants none any more."""

EVERYTHING = ClientCapabilities(
    sampling=SamplingCapability(context=SamplingContextCapability(), tools=SamplingToolsCapability()),
    elicitation=ElicitationCapability(form=FormElicitationCapability(), url=UrlElicitationCapability()),
    roots=RootsCapability(),
)
"""What is assumed of a client that does not show what it said: it refuses by itself what it cannot do."""


class Message(Struct, frozen=True):
    """A JSON-RPC message: a request, a notification or a response."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | None = None
    result: dict[str, Any] | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET


_messages = msgspec.json.Decoder(Message)


@dataclass(frozen=True)
class Legacy:
    """Answers the clients of the older era; `questions` and `underway` are those of this replica."""

    server: Server[Any]
    bus: Asking
    questions: Questions
    underway: Underway
    streams: Streams

    async def answer(self, request: Request, body: bytes, stream: Stream, state: object) -> None:
        """Answer one POST; `state` is what the lifespan of the server gave."""
        label = read_label(request.headers.get(HEADER))
        try:
            message = _messages.decode(body)
        except msgspec.ValidationError:
            await _refuse(INVALID_REQUEST, "The body must be one JSON-RPC message", request, stream.send)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            await _refuse(PARSE_ERROR, "The body is no JSON", request, stream.send)
        else:
            with labelled(label.name):
                await self._heed(message, body, _Asked(request, label, stream, state))

    async def _heed(self, message: Message, body: bytes, asked: _Asked) -> None:
        match message:
            case Message(method=str() as method, id=int() | str() as number):
                await self._request(number, method, message.params, asked)
            case Message(method=str() as method, id=UnsetType()):
                await self._notice(method, message.params, asked)
            case Message(id=str() as question) if (message.result is UNSET) != (message.error is UNSET):
                await self._reply(question, body, asked)
            case _:
                await _refuse(INVALID_REQUEST, "The body must be one JSON-RPC message", asked.request, asked.send)

    async def _request(self, number: RequestId, method: str, params: dict[str, Any] | None, asked: _Asked) -> None:
        stream = asked.stream
        if method == "initialize":
            stream.headers[HEADER] = new_label((params or {}).get("capabilities")).written()
        response = _error(number, ErrorData(code=REQUEST_CANCELLED, message="Request cancelled"))
        with self.streams.kept(stream):
            with self.underway.held(caller().name, asked.label.name, str(number)):
                response = await self._response(number, method, params, asked)
            await stream.end(response)

    async def _response(
        self, number: RequestId, method: str, params: dict[str, Any] | None, asked: _Asked
    ) -> dict[str, Any]:
        """Have the server answer; what nobody foresaw says nothing of the inside."""
        dialogue = self._dialogue(number, params, asked)
        connection = Connection.from_envelope(asked.version, None, None, outbound=dialogue)
        connection.client_capabilities = asked.capabilities
        try:
            result = await serve_one(
                self.server, dialogue, method, params, connection=connection, lifespan_state=asked.state
            )
        except (MCPError, ValidationError) as error:
            told = handler_exception_to_error_data(error)
            return _error(number, told or ErrorData(code=INTERNAL_ERROR, message="Internal server error"))
        except Exception:
            log.exception(REQUEST_FAILED, method=method)
            return _error(number, ErrorData(code=INTERNAL_ERROR, message="Internal server error"))
        return {"jsonrpc": "2.0", "id": number, "result": result}

    def _dialogue(self, number: RequestId, params: dict[str, Any] | None, asked: _Asked) -> Dialogue:
        events = asked.stream.events
        return Dialogue(
            stream=asked.stream,
            questions=self.questions,
            caller=caller().name,
            request_id=number,
            message_metadata=ServerMessageMetadata(request_context=asked.request, can_send_request=events),
            transport=TransportContext(kind="streamable-http", can_send_request=events, headers=asked.request.headers),
            progress_token=progress_token_from_params(params),
        )

    async def _notice(self, method: str, params: Mapping[str, Any] | None, asked: _Asked) -> None:
        """Take note; of all that a client may tell, only that it wants no answer any more changes anything."""
        request = cancelled_request_id_from_params(params) if method == "notifications/cancelled" else None
        if request is not None and asked.label.name:
            call = CallCancelled(caller=caller().name, client=asked.label.name, request=str(request))
            self.underway.cancel(call)
            try:
                await self.bus.tell(CALL_CANCELLED, call)
            except FaultError as error:
                log.info(CANCEL_LOST, code=error.fault.code)
        await _accepted(asked)

    async def _reply(self, question: str, body: bytes, asked: _Asked) -> None:
        if await self.questions.deliver(self.bus, question, caller().name, body.decode()):
            await _accepted(asked)
        else:
            await _refuse(INVALID_REQUEST, "Nobody asked a question of this id", asked.request, asked.send)


@dataclass(frozen=True)
class _Asked:
    """A POST in hand."""

    request: Request
    label: Label
    stream: Stream
    state: object

    @property
    def version(self) -> str:
        return self.request.headers.get("mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION)

    @property
    def capabilities(self) -> ClientCapabilities:
        told = self.label.capabilities
        if told is None:
            return EVERYTHING
        try:
            return ClientCapabilities.model_validate(told, by_name=False)
        except ValidationError:
            return EVERYTHING

    @property
    def send(self) -> Send:
        return self.stream.send


def _error(number: RequestId | None, told: ErrorData) -> dict[str, Any]:
    error = told.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"jsonrpc": "2.0", "id": number, "error": error}


async def _refuse(code: int, message: str, request: Request, send: Send) -> None:
    words = msgspec.json.encode(_error(None, ErrorData(code=code, message=message)))
    await Response(words, 400, media_type=JSON)(request.scope, request.receive, send)


async def _accepted(asked: _Asked) -> None:
    await Response(status_code=202)(asked.request.scope, asked.request.receive, asked.send)
