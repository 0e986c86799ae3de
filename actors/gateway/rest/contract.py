"""What an endpoint of REST takes and gives: the one record that routing, decoding and the OpenAPI document go by."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import JSON, refusal
from actors.gateway.request import RequestContext
from protocol.faults import FaultError

B = TypeVar("B")
P = TypeVar("P")

GATE_ERRORS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST, HTTPStatus.TOO_MANY_REQUESTS})
"""What the Origin and Host gates and the limits refuse with."""

BODY_ERRORS = frozenset({HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE})
"""What a body can be refused with before its request is understood."""


class Tag(StrEnum):
    """The families of endpoints, by which the document is ordered."""

    PAGES = "Pages"
    DOMAINS = "Domains"
    SESSIONS = "Saved logins"
    RUNS = "Runs"
    PACKETS = "Packets"
    COMPATIBLE = "Compatible"
    OPERATION = "Operation"


TAGS: Mapping[Tag, str] = {
    Tag.PAGES: "Read pages, and look ahead what reading them would take.",
    Tag.DOMAINS: "What Weft knows of a domain.",
    Tag.SESSIONS: "Logins that pages are read with. No value of one is ever told.",
    Tag.RUNS: "Templates of work with many steps, their runs, and the files that those leave. Errors have `errorCode`, "
    "`recoverHint` and `details` too.",
    Tag.PACKETS: "LLMCP packets, as Weft's own actors exchange them.",
    Tag.COMPATIBLE: "The same for clients that expect `{success, data}`. Errors come as `{success: false, error}`.",
    Tag.OPERATION: "Health, figures and this document.",
}


USUAL_STREAM = (
    "Server-sent events, for a client that accepts `text/event-stream`: `started` at once, `progress` while the work "
    "goes on, then one `result` with what the JSON answer would be, or one `error` with what the JSON error would be. "
    "Each has an id and JSON as its data; lines that begin with a colon keep the connection alive. Whoever closes the "
    "stream ends the work."
)


@dataclass(frozen=True)
class Addressed(Generic[P, B]):
    """What is asked of an endpoint that has both params and a body."""

    params: P
    body: B


def _refusal(error: FaultError, _arguments: Any) -> Response:
    return refusal(error)


@dataclass(frozen=True)
class Endpoint:
    """One operation: `run` gets what the gateway works with, the request, and the decoded body or `params`, or None.

    The fields of `params` are those that `path` has in braces, and of the query all others; with both `params` and
    `body` it gets them as Addressed, and a `body` that is `optional` may be left out where every field has a default.
    `answer` is the type of a 200, or None for something else of one of the types `media`. `accepted` is the type of
    a 202, for work that goes on after the answer; without `answer` there is no 200 then. `open` needs no key, any
    other one a key with `scope`. `errors` are the statuses that `run` itself fails with. `events` answers in place of
    `run` who wants server-sent events, and `stream` says what those are where they are not as usual.
    `example` is a body, or else params by name, which are `where` beside a body. `failure` is what
    errors of `run` are beside those of all, and `refuse` writes them, from what was asked as far as it could be read;
    with `own_scopes` it asks for the scope itself, since that hangs on what is asked.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    run: Callable[[AppContext, RequestContext, Any], Awaitable[Response]]
    answer: Any = None
    media: tuple[str, ...] = (JSON,)
    accepted: Any = None
    body: type[Struct] | None = None
    optional: bool = False
    params: type[Struct] | None = None
    errors: frozenset[int] = frozenset()
    open: bool = False
    scope: Scope = Scope.BROWSE
    tag: Tag = Tag.OPERATION
    about: str = ""
    example: Mapping[str, Any] | None = None
    where: Mapping[str, Any] | None = None
    events: Callable[[AppContext, RequestContext, Any], Awaitable[Response]] | None = None
    stream: str = USUAL_STREAM
    failure: Any = None
    refuse: Callable[[FaultError, Any], Response] = _refusal
    own_scopes: bool = False

    @property
    def enveloped(self) -> bool:
        """Whether its answers, and its refusals too, stand in the envelope `{success, ...}`."""
        return in_envelope(self.path)

    @property
    def in_path(self) -> tuple[str, ...]:
        """The names of the params that stand in the path."""
        fields = self.params.__struct_encode_fields__ if self.params else ()
        return tuple(name for name in fields if f"{{{name}}}" in self.path)

    @property
    def in_query(self) -> tuple[str, ...]:
        """The names of the params that stand in the query."""
        fields = self.params.__struct_encode_fields__ if self.params else ()
        return tuple(name for name in fields if name not in self.in_path)

    @property
    def answers(self) -> Mapping[int, Any]:
        """The statuses of success, with the type of each."""
        if self.accepted is None:
            return {HTTPStatus.OK: self.answer}
        waited: Mapping[int, Any] = {} if self.answer is None else {HTTPStatus.OK: self.answer}
        return {**waited, HTTPStatus.ACCEPTED: self.accepted}

    @property
    def statuses(self) -> tuple[int, ...]:
        """Every status of failure that may answer, in ascending order."""
        found = self.errors | GATE_ERRORS | {HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR}
        if self.body is not None:
            found |= BODY_ERRORS
        if self.in_path:
            found |= {HTTPStatus.NOT_FOUND}
        if not self.open:
            found |= {HTTPStatus.UNAUTHORIZED}
        return tuple(sorted(found))


def in_envelope(path: str) -> bool:
    """Return whether answers at this path stand in the envelope `{success, ...}`."""
    return path == "/health" or path.startswith("/v1/")
