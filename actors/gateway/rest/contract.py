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
from actors.gateway.http.answers import JSON

D = TypeVar("D")

GATE_ERRORS = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST, HTTPStatus.TOO_MANY_REQUESTS})
"""What the Origin and Host gates and the limits refuse with."""

BODY_ERRORS = frozenset({HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE})
"""What a body can be refused with before its request is understood."""


class Tag(StrEnum):
    """The families of endpoints, by which the document is ordered."""

    PAGES = "Pages"
    DOMAINS = "Domains"
    SESSIONS = "Saved logins"
    PACKETS = "Packets"
    COMPATIBLE = "Compatible"
    OPERATION = "Operation"


TAGS: Mapping[Tag, str] = {
    Tag.PAGES: "Read pages, and look ahead what reading them would take.",
    Tag.DOMAINS: "What Weft knows of a domain.",
    Tag.SESSIONS: "Logins that pages are read with. No value of one is ever told.",
    Tag.PACKETS: "LLMCP packets, as Weft's own actors exchange them.",
    Tag.COMPATIBLE: "The same for clients that expect `{success, data}`. Errors come as `{success: false, error}`.",
    Tag.OPERATION: "Health, figures and this document.",
}


@dataclass(frozen=True)
class Endpoint(Generic[D]):
    """One operation: `run` gets what the gateway works with, and the decoded body or `params` (None without either).

    The fields of `params` are those that `path` has in braces, and of the query all others. `answer` is the type of
    a 200, or None for something else of type `media`. `open` needs no key, any other one a key
    with `scope`. `errors` are the statuses that `run` itself fails with. `events` answers in place of `run` who wants
    server-sent events. `example` is a body, or params by name. `failure` is what errors of `run` are beside those of
    all; with `own_scopes` it asks for the scope itself, since that hangs on what is asked.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    name: str
    summary: str
    run: Callable[[D, Any], Awaitable[Response]]
    answer: Any = None
    media: str = JSON
    body: type[Struct] | None = None
    params: type[Struct] | None = None
    errors: frozenset[int] = frozenset()
    open: bool = False
    scope: Scope = Scope.BROWSE
    tag: Tag = Tag.OPERATION
    about: str = ""
    example: Mapping[str, Any] | None = None
    events: Callable[[D, Any], Awaitable[Response]] | None = None
    failure: Any = None
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
    def statuses(self) -> tuple[int, ...]:
        """Every status but 200 that may answer, in ascending order."""
        found = self.errors | GATE_ERRORS | {HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR}
        if self.body is not None:
            found |= BODY_ERRORS
        if self.in_path:
            found |= {HTTPStatus.NOT_FOUND}
        if not self.open:
            found |= {HTTPStatus.UNAUTHORIZED}
        return tuple(sorted(found))


def in_envelope(path: str) -> bool:
    """Tell whether answers at this path stand in the envelope `{success, ...}`."""
    return path == "/health" or path.startswith("/v1/")
