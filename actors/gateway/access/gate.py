"""The gate before every request: who is asked (Host), from where (Origin), by whom (key)."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.access.caller import NOBODY, OWNER, called_by
from actors.gateway.rest.answers import RefusedError, refusal
from actors.gateway.rest.contract import CONVERSATION
from actors.settings import Settings
from protocol.faults import Action, Code, fault

PREFLIGHT_S = 600
"""How long a browser may remember what a preflight allowed, in seconds."""

_METHODS = "DELETE, GET, HEAD, POST"
_HEADERS = frozenset({"accept", "authorization", "content-type", "traceparent", "tracestate"})
_MCP_PREFIX = "mcp-"
_EXPOSED = f"{CONVERSATION}, Retry-After, WWW-Authenticate"
_HTTP_PORT = 80


@dataclass(frozen=True)
class Rules:
    """Whom the gate lets pass: exact Host and Origin headers in lower case, and the key as bytes."""

    hosts: frozenset[str]
    origins: frozenset[str]
    key: bytes = field(repr=False)
    open_paths: frozenset[str]


def rules(settings: Settings, open_paths: Iterable[str]) -> Rules:
    """Work out the rules of a gateway that listens where the settings say."""
    own = {_bracketed(settings.host), "localhost", "127.0.0.1", "[::1]"}
    hosts = {f"{name}:{settings.port}" for name in own}
    if settings.port == _HTTP_PORT:
        hosts |= own
    return Rules(
        hosts=_lower([*hosts, *settings.allowed_hosts]),
        origins=_lower([*(f"http://{host}" for host in hosts), *settings.allowed_origins]),
        key=settings.api_key.encode(),
        open_paths=frozenset(open_paths),
    )


class Gate:
    """ASGI: lets pass what the rules allow."""

    def __init__(self, app: ASGIApp, allowed: Rules) -> None:
        self._app = app
        self._rules = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = Headers(scope=scope)
        instead = self._refusal(headers) or self._preflight(scope, headers) or self._key_refusal(scope, headers)
        with called_by(OWNER if self._knows(headers) else NOBODY):
            await (instead or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        """Refuse a Host that is not ours, which is how DNS rebinding shows, and an Origin that is not allowed."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._rules.hosts:
            return _refused("This gateway does not answer for that Host", 421)
        if any(origin.lower() not in self._rules.origins for origin in headers.getlist("origin")):
            return _refused("This gateway does not answer to that Origin", 403)
        return None

    def _preflight(self, scope: Scope, headers: Headers) -> Response | None:
        """Answer the question that a browser asks before a request of an allowed origin."""
        if scope["method"] != "OPTIONS" or not {"origin", "access-control-request-method"} <= set(headers):
            return None
        asked = (name.strip().lower() for name in headers.get("access-control-request-headers", "").split(","))
        names = ", ".join(name for name in asked if name in _HEADERS or name.startswith(_MCP_PREFIX))
        allowed = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Max-Age": str(PREFLIGHT_S)}
        return Response(status_code=204, headers=allowed | ({"Access-Control-Allow-Headers": names} if names else {}))

    def _key_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["path"] in self._rules.open_paths or self._knows(headers):
            return None
        error = ', error="invalid_token"' if "authorization" in headers else ""
        way_out = Action(
            action="send_api_key",
            description="Send the API key as `Authorization: Bearer KEY`; `weft up` says where it is kept.",
        )
        told = fault(Code.AUTH_INVALID_CREDENTIALS, "This Weft wants its API key.", actions=(way_out,))
        return refusal(RefusedError(told, 401, {"WWW-Authenticate": f'Bearer realm="weft"{error}'}))

    def _knows(self, headers: Headers) -> bool:
        """Compare the key in constant time; an empty key lets nobody pass."""
        given = headers.getlist("authorization")
        if len(given) != 1 or not self._rules.key:
            return False
        scheme, _, key = given[0].partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(key.strip().encode("latin-1"), self._rules.key)


class Marks:
    """ASGI: tells browsers of every answer, whoever gave it, that its type is its type and which origin may read it."""

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


def _refused(message: str, status: int) -> Response:
    return refusal(RefusedError(fault(Code.SECURITY_ORIGIN_REFUSED, message), status))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
