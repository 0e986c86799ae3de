"""The envelope that some clients expect around every answer: `{success, data}` or `{success: false, error}`."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

import msgspec
from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.errors import to_failure
from actors.gateway.http.answers import JSON
from actors.gateway.rest.contract import in_envelope
from protocol.browse import SCHEMA_VERSION, StructuredError

T = TypeVar("T")

_FIRST_ERROR = 400
_MAX_ERROR_BYTES = 1_000_000
"""No error of ours is as large."""


class Success(Struct, Generic[T], frozen=True, kw_only=True, rename="camel"):
    """An answer in its envelope."""

    success: Literal[True] = True
    data: T
    schema_version: str = SCHEMA_VERSION


_errors = msgspec.json.Decoder(StructuredError)


class Enveloped:
    """ASGI: puts every error at the paths of the envelope into it, whoever gave it: the gates, too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http" and in_envelope(scope["path"]):
            send = _Rewriting(send).tell
        await self._app(scope, receive, send)


class _Rewriting:
    """Holds an error back until it is whole, and sends it in the envelope."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_error(message):
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False) or len(self._body) > _MAX_ERROR_BYTES:
            start, self._start = self._start, None
            body = _rewritten(bytes(self._body))
            MutableHeaders(scope=start)["Content-Length"] = str(len(body))
            await self._send(start)
            await self._send({**message, "body": body})


def _is_error(start: Message) -> bool:
    essence = Headers(scope=start).get("content-type", "").partition(";")[0]
    return start["status"] >= _FIRST_ERROR and essence == JSON


def _rewritten(body: bytes) -> bytes:
    try:
        return msgspec.json.encode(to_failure(_errors.decode(body)))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body
