"""Responses of the gateway over HTTP: JSON of a Struct, refusals with a status, and the form that a client prefers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Message

from actors.gateway.errors import http_status, retry_after_s, to_error
from protocol.faults import Code, Fault, FaultError, fault

JSON = "application/json"
EVENTS = "text/event-stream"
HTML = "text/html"
MARKDOWN = "text/markdown; charset=utf-8"

FRONT = "/"
"""The path at which a person sees what runs here."""

CHALLENGE = 'Bearer realm="weft"'
"""How a client is asked for a key (RFC 6750 §3)."""

CONVERSATION = "X-Conversation-Id"
"""The header of every answer that names the conversation of its packets, as traces and logs do."""

_WEIGHT = re.compile(r"\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


class HttpStatusError(FaultError):
    """A request that is refused with a status of HTTP's own, which the code of its Fault does not tell."""

    def __init__(self, refused: Fault, status: int, headers: Mapping[str, str] | None = None) -> None:
        """Refuse with `status` and further headers."""
        super().__init__(refused)
        self.status = status
        self.headers = headers


def of_field(error: FaultError, field: str) -> FaultError:
    """Return the same error of a field that the client calls otherwise."""
    failure = error.fault.of_field(field)
    if isinstance(error, HttpStatusError):
        return HttpStatusError(failure, error.status, error.headers)
    return FaultError(failure)


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with JSON."""
    return Response(msgspec.json.encode(content), status, headers, JSON)


def refusal(error: FaultError, content: Struct | None = None) -> Response:
    """Answer with the StructuredError of a fault, or with `content` in its place, in the status that it stands for."""
    status = error.status if isinstance(error, HttpStatusError) else http_status(error.fault)
    return answer(content or to_error(error.fault), status, headers_of(error, status))


def headers_of(error: FaultError, status: int) -> dict[str, str]:
    """Return the headers of the answer to a fault: its own, and when to come back."""
    headers = dict(error.headers or {}) if isinstance(error, HttpStatusError) else {}
    if (seconds := retry_after_s(error.fault, status)) is not None:
        headers["Retry-After"] = str(seconds)
    return headers


def event_message(name: str, data: Struct, number: int | None = None) -> Message:
    """Write one event."""
    written = b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
    return {
        "type": "http.response.body",
        "body": written if number is None else b"id: %d\n%s" % (number, written),
        "more_body": True,
    }


def download_headers(file_name: str = "") -> dict[str, str]:
    """Return the headers of a file that came of pages: saved, never shown as ours; `file_name` as in RFC 6266."""
    return {
        "Content-Disposition": f"attachment; {file_name}".removesuffix("; "),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, no-store",
    }


def invalid(message: str, status: int, headers: Mapping[str, str] | None = None) -> HttpStatusError:
    """Make the error for a request that breaks the contract in a way which HTTP has a status for."""
    return HttpStatusError(fault(Code.VALIDATION_INVALID_REQUEST, message), status, headers)


def nothing_here() -> HttpStatusError:
    """Make the error for a path at which there is nothing."""
    return invalid("There is nothing at this path; /openapi.json and /mcp tell what there is", 404)


def not_allowed(*methods: str) -> FaultError:
    """Make the error for a method that a path does not have."""
    allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
    return invalid(f"This path takes {allowed} only", 405, {"Allow": allowed})


def is_visit(method: str, path: str, accept: Iterable[str]) -> bool:
    """Return whether a person looks at the front page: a program, which names no HTML, gets what it got everywhere."""
    weights = _weights(",".join(accept))
    html = weights.get(HTML, 0.0)
    return path == FRONT and method in {"GET", "HEAD"} and html > 0 and html >= weights.get(JSON, 0.0)


def wants_events(accept: Iterable[str]) -> bool:
    """Return whether a client names server-sent events, and likes JSON no better."""
    weights = _weights(",".join(accept))
    events = weights.get(EVENTS, 0.0)
    return events > 0 and events >= weights.get(JSON, 0.0)


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media type that is named in full; one that cannot be read counts as 0."""
    weights: dict[str, float] = {}
    for part in accept.split(","):
        essence, *parameters = part.split(";")
        weight = 1.0
        for parameter in parameters:
            if parameter.strip().lower().startswith("q"):
                read = _WEIGHT.fullmatch(parameter)
                weight = float(read[1]) if read else 0.0
        name = essence.strip().lower()
        weights[name] = max(weights.get(name, 0.0), weight)
    return weights
