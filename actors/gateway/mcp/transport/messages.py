"""JSON-RPC over one HTTP exchange: reads the message of a POST, and writes its response as JSON or as an event stream.

Own code, as the SDK has this as private parts of its transports only, and those do not fit (see `legacy` and `http`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import msgspec
from anyio import to_thread
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, RequestId
from msgspec import UNSET, Struct, UnsetType
from starlette.types import Send

from actors.gateway.http import EVENTS, JSON

Json = dict[str, Any]

KEEP_ALIVE_S = 15.0
"""After so much silence, in seconds, a comment is sent: proxies cut a connection on which nothing moves."""

OK = 200

_IN_THREAD_BYTES = 65_536
"""A larger body is parsed in a thread."""

_NOT_ONE_MESSAGE = ErrorData(code=INVALID_REQUEST, message="The body must be one JSON-RPC message")
_NOT_JSON = ErrorData(code=PARSE_ERROR, message="The body is no JSON")


class BadMessageError(Exception):
    """A body, or a message, that breaks the rules of JSON-RPC; `error` says which."""

    def __init__(self, error: ErrorData = _NOT_ONE_MESSAGE) -> None:
        """Store the error that the client gets."""
        super().__init__(error.message)
        self.error = error


class JsonRpcMessage(Struct, frozen=True):
    """A request, a notification or a response."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Json | None = None
    result: Json | UnsetType = UNSET
    error: Json | UnsetType = UNSET

    @property
    def is_response(self) -> bool:
        """Return whether it is the response to a request."""
        return self.method is UNSET and (self.result is UNSET) != (self.error is UNSET)


class JsonRpcRequest(Struct, frozen=True):
    """A request of a client, which is answered."""

    id: RequestId
    method: str
    params: Json | None


async def read_message(body: bytes) -> JsonRpcMessage:
    """Parse the one message of a body; a large one in a thread.

    Raises:
        BadMessageError: it is something else.
    """
    return await to_thread.run_sync(_parse, body) if len(body) > _IN_THREAD_BYTES else _parse(body)


def error_response(request_id: RequestId | None, error: ErrorData) -> Json:
    """Build the response to a request that failed; None for one whose id is not known."""
    data = error.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"jsonrpc": "2.0", "id": request_id, "error": data}


@dataclass(eq=False)
class ResponseStream:
    """The response to one POST: JSON, or events where notifications or requests go out before the result.

    `json` and `events` are the forms in which the client takes it.
    """

    send: Send
    json: bool
    events: bool
    headers: dict[str, str] = field(default_factory=dict[str, str])
    _started: bool = False
    _ended: bool = False
    _last_sent_s: float = field(default_factory=anyio.current_time)
    _lock: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

    async def write(self, message: Mapping[str, Any]) -> None:
        """Send a message before the result; dropped where the client takes no events, and after the result."""
        await self._write(_event(message))

    async def end(self, message: Mapping[str, Any], status: int = OK, *, event: bool = False) -> None:
        """Send the result, or the error in its place; `status` is HTTP's, where there is still time to send one.

        With `event` it is an event even where nothing was sent before it, if the client takes any.
        """
        async with self._lock:
            if self._ended:
                return
            self._ended = True
            if not self._started and (status != OK or (self.json and not (event and self.events))):
                body = _encoder.encode(message)
                await self._start({**self.headers, "Content-Type": JSON, "Content-Length": str(len(body))}, status)
                await self._send_body(body, more=False)
                return
            if not self._started:
                await self._start({**self.headers, **_EVENT_HEADERS})
            await self._send_body(_event(message), more=False)

    async def keep_alive(self) -> None:
        """Send a comment where nothing was sent for long."""
        if anyio.current_time() - self._last_sent_s >= KEEP_ALIVE_S:
            await self._write(_COMMENT)

    async def _write(self, chunk: bytes) -> None:
        async with self._lock:
            if self._ended or not self.events:
                return
            if not self._started:
                await self._start({**self.headers, **_EVENT_HEADERS})
            await self._send_body(chunk, more=True)

    async def _start(self, headers: Mapping[str, str], status: int = OK) -> None:
        self._started = True
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": raw})

    async def _send_body(self, chunk: bytes, *, more: bool) -> None:
        self._last_sent_s = anyio.current_time()
        await self.send({"type": "http.response.body", "body": chunk, "more_body": more})


class ResponseStreams(Struct, frozen=True):
    """The responses that are not complete yet, so that none of them is silent for too long."""

    _open: set[ResponseStream] = msgspec.field(default_factory=set[ResponseStream])

    @contextmanager
    def kept_alive(self, stream: ResponseStream) -> Generator[None]:
        """Keep a stream alive while the block lasts."""
        self._open.add(stream)
        try:
            yield
        finally:
            self._open.discard(stream)

    async def run(self) -> None:
        """Send keep-alive comments until cancelled."""
        while True:
            await anyio.sleep(KEEP_ALIVE_S)
            async with anyio.create_task_group() as tasks:
                for stream in tuple(self._open):
                    tasks.start_soon(_keep_alive, stream)


async def _keep_alive(stream: ResponseStream) -> None:
    with anyio.move_on_after(KEEP_ALIVE_S), suppress(OSError):  # a client that does not read holds nobody else up
        await stream.keep_alive()


def _parse(body: bytes) -> JsonRpcMessage:
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError:
        raise BadMessageError from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadMessageError(_NOT_JSON) from None


def _event(message: Mapping[str, Any]) -> bytes:
    return b"event: message\r\ndata: " + _encoder.encode(message) + b"\r\n\r\n"


_COMMENT = b": still at work\r\n\r\n"
_EVENT_HEADERS = {
    "Content-Type": EVENTS,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}
_decoder = msgspec.json.Decoder(JsonRpcMessage)
_encoder = msgspec.json.Encoder()
