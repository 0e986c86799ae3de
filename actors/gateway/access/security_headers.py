"""What every answer tells a browser, whoever gave it: its type is its type, and which origin may read it."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from actors.gateway.access.rules import Rules
from actors.gateway.http.answers import CONVERSATION

PREFLIGHT_S = 600
"""How long a browser may remember what a preflight allowed, in seconds."""

_CONVERSATION = CONVERSATION.lower().encode()
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_METHODS = "DELETE, GET, HEAD, POST"
_HEADERS = frozenset({"accept", "authorization", "content-type", "last-event-id", "traceparent", "tracestate"})
_MCP_PREFIX = "mcp-"
_EXPOSED = f"{CONVERSATION}, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate".encode()
_PRIVATE_NETWORK = "access-control-request-private-network"

Header = tuple[bytes, bytes]


class SecurityHeaders:
    """Marks the answers to requests, for the origins that the rules allow."""

    def __init__(self, allowed: Rules) -> None:
        self._origins = allowed.origins

    def on(self, headers: Iterable[Header], scope: Scope, conversation: str) -> list[Header]:
        """Return the headers of an answer with the marks on them, of which the first names its conversation."""
        varies, marked = list[bytes](), [(_CONVERSATION, conversation.encode()), _NOSNIFF]
        for name, value in headers:
            if name == b"vary":
                varies.append(value)
            else:
                marked.append((name, value))
        marked.append((b"vary", b", ".join([*varies, b"Origin"])))
        for name, value in scope["headers"]:
            if name == b"origin" and value.decode("latin-1").lower() in self._origins:
                marked += [(b"access-control-allow-origin", value), (b"access-control-expose-headers", _EXPOSED)]
        return marked


def preflight(scope: Scope) -> Response | None:
    """Answer the question that a browser asks before a request of an origin, which was found to be allowed."""
    if scope["method"] != "OPTIONS":
        return None
    headers = Headers(scope=scope)
    if not {"origin", "access-control-request-method"} <= set(headers):
        return None
    asked = (name.strip().lower() for name in headers.get("access-control-request-headers", "").split(","))
    names = ", ".join(name for name in asked if name in _HEADERS or name.startswith(_MCP_PREFIX))
    allowed = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Max-Age": str(PREFLIGHT_S)}
    if names:
        allowed["Access-Control-Allow-Headers"] = names
    if headers.get(_PRIVATE_NETWORK) == "true":
        allowed["Access-Control-Allow-Private-Network"] = "true"
    return Response(status_code=204, headers=allowed)
