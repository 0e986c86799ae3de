"""HTTP of the gateway: responses, refusals with a status of their own, and requests, read strictly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from anyio import to_thread
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive

from actors.gateway.errors import http_status, retry_after_s, to_error
from protocol.codec import MAX_QUOTED_CHARS, Decoder, MalformedError
from protocol.faults import Code, Fault, FaultError, fault

JSON = "application/json"
EVENTS = "text/event-stream"

CONVERSATION = "X-Conversation-Id"
"""The header of every answer that names the conversation of its packets, as traces and logs do."""

T = TypeVar("T")

MAX_BODY_BYTES = 4 * 1024 * 1024
"""The largest body that is read; the MCP SDK has the same limit."""

MAX_QUERY_FIELDS = 32
_FLOAT = "got `float`"
_READ_APART_BYTES = 65_536
"""A body that is larger is looked through in a thread."""

_WEIGHT = re.compile(r"\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


class HttpStatusError(FaultError):
    """A request that is refused with a status of HTTP's own, which the code of its Fault does not tell."""

    def __init__(self, refused: Fault, status: int, headers: Mapping[str, str] | None = None) -> None:
        """Refuse with `status` and further headers."""
        super().__init__(refused)
        self.status = status
        self.headers = headers


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


def invalid(message: str, status: int, headers: Mapping[str, str] | None = None) -> HttpStatusError:
    """Make the error for a request that breaks the contract in a way which HTTP has a status for."""
    return HttpStatusError(fault(Code.VALIDATION_INVALID_REQUEST, message), status, headers)


def not_allowed(*methods: str) -> FaultError:
    """Make the error for a method that a path does not have."""
    allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
    return invalid(f"This path takes {allowed} only", 405, {"Allow": allowed})


async def read_json(request: Request, *, optional: bool = False) -> bytes:
    """Read a JSON body; one that is `optional` and left out is an empty object.

    Raises:
        HttpStatusError: 413 or 415, for a body that is too large or of another type.
    """
    fits = request.headers.get("content-type", "").partition(";")[0].strip().lower() == JSON
    body = await _read(request) if fits or optional else b""
    if optional and not body:
        return b"{}"
    if not fits:
        raise invalid(f"The body has to be {JSON}", 415)
    return body


def decoded(decoder: Decoder[T], body: bytes) -> T:
    """Decode a body; to JSON Schema, 1.0 is an integer.

    Raises:
        MalformedError: it is something else.
    """
    try:
        return decoder.decode(body)
    except MalformedError as error:
        if _FLOAT not in error.fault.message:
            raise
        return decoder.decode(msgspec.json.encode(_whole(msgspec.json.decode(body))))


async def check_keys(body: bytes) -> None:
    """Refuse JSON, which was read already, in which a key stands twice: readers disagree which one counts.

    Raises:
        MalformedError: that key.
    """
    if len(body) > _READ_APART_BYTES:
        await to_thread.run_sync(_look_through, body)
    else:
        _look_through(body)


async def drain(receive: Receive) -> None:
    """Pass over whatever body there is: whoever holds the request hears the client leave from then on."""
    while (await receive()).get("more_body", False):
        pass


def query(raw: bytes, known: tuple[str, ...]) -> dict[str, str]:
    """Read a query strictly: only what is known, and nothing twice.

    Raises:
        MalformedError: whatever else stands there.
    """
    if not raw:
        return {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except UnicodeError:
        raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "The query is not UTF-8")) from None
    except ValueError:
        raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "The query has too many fields")) from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            taken = f"; there are {', '.join(known)}" if known else ""
            raise _at(name, f"no such query parameter{taken}")
        if name in fields:
            raise _at(name, "stands in the query more than once")
        fields[name] = value
    return fields


def named(path_params: Mapping[str, Any], raw_path: bytes) -> dict[str, str]:
    """Return what the path names, which has to be UTF-8: a server reads anything else as replacement characters.

    Raises:
        MalformedError: it is something else.
    """
    if path_params:
        try:
            unquote_to_bytes(raw_path).decode()
        except UnicodeDecodeError:
            raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "The path is not UTF-8")) from None
    return {name: str(value) for name, value in path_params.items()}


def wants_events(accept: Iterable[str]) -> bool:
    """Return whether a client names server-sent events, and likes JSON no better."""
    weights = _weights(",".join(accept))
    events = weights.get(EVENTS, 0.0)
    return events > 0 and events >= weights.get(JSON, 0.0)


def _whole(value: Any) -> Any:
    """Write what is an integer as one."""
    match value:
        case dict():
            return {name: _whole(inner) for name, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [_whole(inner) for inner in cast("Iterable[Any]", value)]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _look_through(body: bytes) -> None:
    try:
        _decoder.decode(body.decode())
    except RecursionError:
        raise MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, "Nested too deeply")) from None


def _unique(pairs: list[tuple[str, Any]]) -> None:
    names = {name for name, _ in pairs}
    if len(names) < len(pairs):
        known = set[str]()
        for name, _ in pairs:
            if name in known:
                raise _at(name, "stands in the body more than once")
            known.add(name)


def _at(name: str, complaint: str) -> MalformedError:
    shown = name if len(name) <= MAX_QUOTED_CHARS else f"{name[:MAX_QUOTED_CHARS]}…"
    return MalformedError(fault(Code.VALIDATION_INVALID_REQUEST, f"{shown}: {complaint}", field=shown))


async def _read(request: Request) -> bytes:
    """Read a body, and stop where it gets too large, whatever it said of its length."""
    body, more = bytearray(), True
    if _declared(request) > MAX_BODY_BYTES:
        raise _too_large()
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
        more = message.get("more_body", False)
    return bytes(body)


def _too_large() -> HttpStatusError:
    return invalid(f"The body has more than {MAX_BODY_BYTES} bytes", 413)


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


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


_decoder = json.JSONDecoder(object_pairs_hook=_unique)
