"""Runs one request of a client by the SDK's kernel, with a channel to the client for as long as the request lasts.

Own code in place of the SDK's contexts, which send requests to a client in one process only: here the client's response
may arrive at any replica.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
import structlog
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data, progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST, REQUEST_TIMEOUT, ErrorData, ProgressToken, RequestId
from msgspec import Struct
from pydantic import ValidationError
from starlette.requests import Request

from actors.gateway.mcp.replica_state import PendingQuestion, PendingQuestions
from actors.gateway.mcp.transport.messages import Json, JsonRpcRequest, ResponseStream, error_response
from actors.gateway.request import RequestContext

log = structlog.stdlib.get_logger()

REQUEST_FAILED = "mcp_request_failed"

CLIENT_TIMEOUT_S = 600.0
"""How long a client may take to answer: there may be a person behind it who has to read and decide, in seconds."""

_WITHDRAW_S = 1.0

_INTERNAL = ErrorData(code=INTERNAL_ERROR, message="Internal server error")


class PostExchange(Struct, frozen=True):
    """One POST in hand: the request, the stream of its response, and who asks."""

    request: Request
    stream: ResponseStream
    context: RequestContext


class BackChannel(Struct, frozen=True):
    """How a client of a version with sessions is sent requests: who it is, and where its response is awaited."""

    questions: PendingQuestions
    caller: str


@dataclass(eq=False)
class RequestDispatch:
    """The SDK's dispatch context of one request: notifications and requests go out on the stream of its response.

    Clients of the versions without sessions are sent no requests: without a `back_channel`, sending one is an error.
    """

    stream: ResponseStream
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext
    progress_token: ProgressToken | None = None
    back_channel: BackChannel | None = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    @classmethod
    def of(
        cls, exchange: PostExchange, request: JsonRpcRequest, back_channel: BackChannel | None = None
    ) -> RequestDispatch:
        """Build the context of a request."""
        can_send = back_channel is not None and exchange.stream.events
        post = exchange.request
        return cls(
            exchange.stream,
            request.id,
            ServerMessageMetadata(request_context=post, can_send_request=can_send),
            TransportContext(kind="streamable-http", can_send_request=can_send, headers=post.headers),
            progress_token_from_params(request.params),
            back_channel if can_send else None,
        )

    @property
    def can_send_request(self) -> bool:
        """Return whether the client can be sent requests."""
        return self.back_channel is not None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send the client a request, and wait for its response.

        Raises:
            MCPError: the client refused, or took too long.
        """
        if self.back_channel is None:
            raise NoBackChannelError(method)
        with self.back_channel.questions.pending(self.back_channel.caller) as question:
            await self.stream.write(_message(method, params, id=question.id))
            response = await self._response(question, (opts or {}).get("timeout", CLIENT_TIMEOUT_S))
        if response.error is not None:
            raise MCPError(response.error.code, response.error.message, response.error.data)
        return response.result or {}

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification."""
        del opts
        await self.stream.write(_message(method, params))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send how far the work is, to a client that gave a token for it."""
        if self.progress_token is None:
            return
        params = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        await self.notify(
            "notifications/progress", {name: value for name, value in params.items() if value is not None}
        )

    async def _response(self, question: PendingQuestion, timeout_s: float) -> _ClientResponse:
        try:
            with anyio.move_on_after(timeout_s):
                await question.replied.wait()
        finally:
            if not question.replied.is_set():
                await self._withdraw(question)
        if not question.replied.is_set():
            raise MCPError(REQUEST_TIMEOUT, "The client did not answer in time")
        try:
            return _responses.decode(question.reply)
        except msgspec.ValidationError:
            raise MCPError(INVALID_REQUEST, "The client answered what is no answer") from None

    async def _withdraw(self, question: PendingQuestion) -> None:
        """Cancel a request whose response nobody waits for any more."""
        with anyio.move_on_after(_WITHDRAW_S, shield=True):
            await self.notify("notifications/cancelled", {"requestId": question.id})


async def respond(
    server: Server[RequestContext],
    exchange: PostExchange,
    request: JsonRpcRequest,
    connection: Connection,
    dispatch: RequestDispatch,
) -> Json:
    """Run a request and return its response; an error that nobody foresaw says nothing of the inside.

    What the SDK knows as the state of the server's lifespan is our own request: who asks, and how.
    """
    try:
        result = await serve_one(
            server,
            dispatch,
            request.method,
            request.params,
            connection=connection,
            lifespan_state=exchange.context,
        )
    except (MCPError, ValidationError) as failure:
        return error_response(request.id, handler_exception_to_error_data(failure) or _INTERNAL)
    except Exception:
        log.exception(REQUEST_FAILED, method=request.method)
        return error_response(request.id, _INTERNAL)
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


class _ClientError(msgspec.Struct, frozen=True):
    """The error of a client's response."""

    code: int
    message: str
    data: Any = None


class _ClientResponse(msgspec.Struct, frozen=True):
    """The response of a client: a result, or an error."""

    result: dict[str, Any] | None = None
    error: _ClientError | None = None


_responses = msgspec.json.Decoder(_ClientResponse)


def _message(method: str, params: Mapping[str, Any] | None, **envelope: Any) -> dict[str, Any]:
    fields = {} if params is None else {"params": dict(params)}
    return {"jsonrpc": "2.0", **envelope, "method": method, **fields}
