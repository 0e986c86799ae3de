"""What every answer tells a browser, whoever gave it: its type is its type, and which origin may read it."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.access.rules import Rules
from actors.gateway.rest.contract import CONVERSATION

PREFLIGHT_S = 600
"""How long a browser may remember what a preflight allowed, in seconds."""

_METHODS = "DELETE, GET, HEAD, POST"
_HEADERS = frozenset({"accept", "authorization", "content-type", "last-event-id", "traceparent", "tracestate"})
_MCP_PREFIX = "mcp-"
_EXPOSED = f"{CONVERSATION}, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate"
_PRIVATE_NETWORK = "access-control-request-private-network"


class Marks:
    """ASGI: marks the answers of an application."""

    def __init__(self, app: ASGIApp, allowed: Rules) -> None:
        self._app = app
        self._origins = allowed.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._mark(MutableHeaders(scope=message), Headers(scope=scope).get("origin"))
            await send(message)

        await self._app(scope, receive, marked)

    def _mark(self, headers: MutableHeaders, origin: str | None) -> None:
        headers["X-Content-Type-Options"] = "nosniff"
        headers.add_vary_header("Origin")
        if origin is not None and origin.lower() in self._origins:
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = _EXPOSED


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
