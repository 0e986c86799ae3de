"""What may be said to a client while one of its requests is answered, and how it answers back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp.types import INVALID_REQUEST, REQUEST_TIMEOUT, ProgressToken, RequestId
from starlette.requests import Request

from actors.gateway.mcp.transport.questions import Question, Questions
from actors.gateway.mcp.transport.stream import Stream

PATIENCE_S = 600.0
"""How long a client may take to answer: there may be a person behind it who has to read and decide, in seconds."""

_LAST_WORD_S = 1.0


class Failure(msgspec.Struct, frozen=True):
    """The error of a JSON-RPC response."""

    code: int
    message: str
    data: Any = None


class Reply(msgspec.Struct, frozen=True):
    """A JSON-RPC response: a result, or an error."""

    result: dict[str, Any] | None = None
    error: Failure | None = None


_replies = msgspec.json.Decoder(Reply)


@dataclass(frozen=True)
class Asker:
    """How a client of the older era is asked something: who it is, and where its reply will be waited for."""

    questions: Questions
    caller: str


@dataclass(eq=False)
class Dialogue:
    """The SDK's dispatch context of one request: notices and questions go out on the stream of its answer.

    Clients of the newer era are asked nothing in between: without an `asker`, a question is an error.
    """

    stream: Stream
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    transport: TransportContext
    progress_token: ProgressToken | None = None
    asker: Asker | None = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    @classmethod
    def of(
        cls,
        request: Request,
        stream: Stream,
        number: RequestId,
        params: Mapping[str, Any] | None,
        asker: Asker | None = None,
    ) -> Dialogue:
        """Make that of a request in hand."""
        asks = asker is not None and stream.events
        return cls(
            stream,
            number,
            ServerMessageMetadata(request_context=request, can_send_request=asks),
            TransportContext(kind="streamable-http", can_send_request=asks, headers=request.headers),
            progress_token_from_params(params),
            asker if asks else None,
        )

    @property
    def can_send_request(self) -> bool:
        """Return whether the client can be asked anything."""
        return self.asker is not None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the client, and wait for its answer.

        Raises:
            MCPError: the client refused, or took too long.
        """
        if self.asker is None:
            raise NoBackChannelError(method)
        with self.asker.questions.asked(self.asker.caller) as question:
            await self.stream.tell(_message(method, params, id=question.id))
            reply = await self._reply(question, (opts or {}).get("timeout", PATIENCE_S))
        if reply.error is not None:
            raise MCPError(reply.error.code, reply.error.message, reply.error.data)
        return reply.result or {}

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Say something that wants no answer."""
        del opts
        await self.stream.tell(_message(method, params))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is, to a client that wants to know."""
        if self.progress_token is None:
            return
        told = {"progressToken": self.progress_token, "progress": progress, "total": total, "message": message}
        await self.notify("notifications/progress", {name: value for name, value in told.items() if value is not None})

    async def _reply(self, question: Question, timeout_s: float) -> Reply:
        try:
            with anyio.move_on_after(timeout_s):
                await question.replied.wait()
        finally:
            if not question.replied.is_set():
                await self._withdraw(question)
        if not question.replied.is_set():
            raise MCPError(REQUEST_TIMEOUT, "The client did not answer in time")
        try:
            return _replies.decode(question.reply)
        except msgspec.ValidationError:
            raise MCPError(INVALID_REQUEST, "The client answered what is no answer") from None

    async def _withdraw(self, question: Question) -> None:
        """Spare whoever is being asked an answer that nobody waits for any more."""
        with anyio.move_on_after(_LAST_WORD_S, shield=True):
            await self.notify("notifications/cancelled", {"requestId": question.id})


def _message(method: str, params: Mapping[str, Any] | None, **envelope: Any) -> dict[str, Any]:
    given = {} if params is None else {"params": dict(params)}
    return {"jsonrpc": "2.0", **envelope, "method": method, **given}
