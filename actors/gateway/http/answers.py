"""The HTTP answers of the gateway: JSON of a Struct, and refusals as StructuredError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from actors.gateway.errors import http_status, retry_after_s, to_error
from protocol.faults import Code, Fault, FaultError, fault

JSON = "application/json"
EVENTS = "text/event-stream"

CONVERSATION = "X-Conversation-Id"
"""The header of every answer that names the conversation of its packets, as traces and logs do."""


class RefusedError(FaultError):
    """A request that is refused with a status of HTTP's own, which the code of its Fault does not tell."""

    def __init__(self, told: Fault, status: int, headers: Mapping[str, str] | None = None) -> None:
        """Refuse with `status` and further headers."""
        super().__init__(told)
        self.status = status
        self.headers = headers


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(content), status, headers, JSON)


def refusal(error: FaultError, told: Struct | None = None) -> Response:
    """Answer with the StructuredError of a fault, or with `told` in its place, in the status that it stands for."""
    status = error.status if isinstance(error, RefusedError) else http_status(error.fault)
    return answer(told or to_error(error.fault), status, headers_of(error, status))


def headers_of(error: FaultError, status: int) -> dict[str, str]:
    """Return the headers of an answer that tells of a fault: its own, and when to come back."""
    headers = dict(error.headers or {}) if isinstance(error, RefusedError) else {}
    if (seconds := retry_after_s(error.fault, status)) is not None:
        headers["Retry-After"] = str(seconds)
    return headers


def invalid(message: str, status: int, headers: Mapping[str, str] | None = None) -> RefusedError:
    """Make the error for a request that breaks the contract in a way which HTTP has a status for."""
    return RefusedError(fault(Code.VALIDATION_INVALID_REQUEST, message), status, headers)


def not_allowed(*methods: str) -> FaultError:
    """Make the error for a method that a path does not have."""
    allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
    return invalid(f"This path takes {allowed} only", 405, {"Allow": allowed})
