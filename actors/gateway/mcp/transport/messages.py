"""The messages of JSON-RPC, as they come in and as errors go out."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from anyio import to_thread
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, RequestId
from msgspec import UNSET, Struct, UnsetType

Json = dict[str, Any]

_READ_APART_BYTES = 65_536

_NOT_ONE = ErrorData(code=INVALID_REQUEST, message="The body must be one JSON-RPC message")
_NO_JSON = ErrorData(code=PARSE_ERROR, message="The body is no JSON")


class BadMessageError(Exception):
    """A body, or a message, that breaks the rules of JSON-RPC; `told` says which."""

    def __init__(self, told: ErrorData = _NOT_ONE) -> None:
        """Keep what the client is told."""
        super().__init__(told.message)
        self.told = told


class Message(Struct, frozen=True):
    """A request, a notification or a response."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Json | None = None
    result: Json | UnsetType = UNSET
    error: Json | UnsetType = UNSET

    @property
    def responds(self) -> bool:
        """Return whether it is the response to a request."""
        return self.method is UNSET and (self.result is UNSET) != (self.error is UNSET)


_messages = msgspec.json.Decoder(Message)


async def read_message(body: bytes) -> Message:
    """Read the one message of a body; a large one in a thread.

    Raises:
        BadMessageError: it is something else.
    """
    return await to_thread.run_sync(_read, body) if len(body) > _READ_APART_BYTES else _read(body)


def error(number: RequestId | None, told: ErrorData) -> Json:
    """Write the response to a request that failed; None for one whose id is not known."""
    return {"jsonrpc": "2.0", "id": number, "error": told.model_dump(mode="json", by_alias=True, exclude_none=True)}


def _read(body: bytes) -> Message:
    try:
        return _messages.decode(body)
    except msgspec.ValidationError:
        raise BadMessageError from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadMessageError(_NO_JSON) from None
