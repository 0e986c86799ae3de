"""For whom this gateway answers, and what it says of itself to browsers and to authorization servers.

Host and Origin headers are taken exactly as they are. Browsers are told in every answer that its type is its type, and
which origin may read it. To an authorization server the gateway is a resource, with addresses that tokens are for
(RFC 8707).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from actors.gateway.http import CHALLENGE, CONVERSATION, HttpStatusError
from actors.settings import Settings
from protocol.faults import Code, fault

METADATA_PATH = "/.well-known/oauth-protected-resource"
RESOURCES = ("", "/mcp")
"""What of the gateway clients take for a resource of its own: all of it, or its MCP."""

EXTENSION_ORIGIN = "chrome-extension://hnljekgkageilpgpihbfcgkpcmlnecad"
"""Our extension, by the id that follows from the `key` of its manifest.

It is answered without a setting: no other extension and no page has this origin, a browser sends nothing along that
would let it in without a key, and without one it is told what everybody is.
"""

PREFLIGHT_S = 600
"""How long a browser may remember what a preflight allowed, in seconds."""

SIGNED = "/apps/"
"""Below it, servers sign their requests (`push/server_api.py`), and have no key."""

_CONVERSATION = CONVERSATION.lower().encode()
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_ALLOWED_METHODS = "DELETE, GET, HEAD, PATCH, POST, PUT"
_ALLOWED_HEADERS = frozenset(
    {"accept", "authorization", "content-type", "idempotency-key", "last-event-id", "traceparent", "tracestate"}
)
_MCP_PREFIX = "mcp-"
_EXPOSED = f"{CONVERSATION}, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate".encode()
_PRIVATE_NETWORK = "access-control-request-private-network"
_HTTP_PORT = 80

Header = tuple[bytes, bytes]


class AccessHeaders(NamedTuple):
    """What of a request's headers the gate goes by, each as often as it came."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    authorizations: tuple[str, ...]


def access_headers(scope: Scope) -> AccessHeaders:
    """Read the headers of a request."""
    hosts: list[str] = []
    origins: list[str] = []
    authorizations: list[str] = []
    for name, value in scope["headers"]:
        if name == b"host":
            hosts.append(value.decode("latin-1").lower())
        elif name == b"origin":
            origins.append(value.decode("latin-1").lower())
        elif name == b"authorization":
            authorizations.append(value.decode("latin-1"))
    return AccessHeaders(tuple(hosts), tuple(origins), tuple(authorizations))


class OriginRules(Struct, frozen=True):
    """Whom the gate lets pass: exact Host and Origin headers in lower case, and the paths that need no key."""

    hosts: frozenset[str]
    origins: frozenset[str]
    open_paths: frozenset[str]

    def is_open(self, path: str) -> bool:
        """Return whether a path needs no key: it is open to all, or what lies there is signed."""
        return path in self.open_paths or path.startswith(SIGNED)

    def check(self, request: AccessHeaders) -> None:
        """Refuse a Host that is not ours, which is how DNS rebinding shows, and an Origin that is not allowed.

        Raises:
            HttpStatusError: SECURITY_ORIGIN_REFUSED.
        """
        if len(request.hosts) != 1 or request.hosts[0] not in self.hosts:
            raise origin_refused("This gateway does not answer for that Host", 421)
        if not self.origins.issuperset(request.origins):
            raise origin_refused("This gateway does not answer to that Origin", 403)


def origin_rules(settings: Settings, open_paths: Iterable[str]) -> OriginRules:
    """Work out the rules of a gateway that listens where the settings say."""
    own = {_bracketed(settings.host), "localhost", "127.0.0.1", "[::1]"}
    hosts = {f"{name}:{settings.port}" for name in own}
    if settings.port == _HTTP_PORT:
        hosts |= own
    origins = {f"http://{host}" for host in hosts}
    if settings.public_url:
        public = urlsplit(settings.public_url)
        hosts.add(public.netloc)
        origins.add(f"{public.scheme}://{public.netloc}")
    return OriginRules(
        hosts=_lower([*hosts, *settings.allowed_hosts]),
        origins=_lower([*origins, EXTENSION_ORIGIN, *settings.allowed_origins]),
        open_paths=frozenset(open_paths),
    )


def origin_refused(message: str, status: int) -> HttpStatusError:
    """Make the error for a Host or an Origin that is not answered."""
    return HttpStatusError(fault(Code.SECURITY_ORIGIN_REFUSED, message), status)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)


class SecurityHeaders:
    """Adds to answers what tells browsers how to treat them, for the origins that the rules allow."""

    def __init__(self, allowed: OriginRules) -> None:
        self._origins = allowed.origins

    def on(self, headers: Iterable[Header], scope: Scope, conversation: str) -> list[Header]:
        """Return the headers of an answer with ours, of which the first names its conversation."""
        varies, added = list[bytes](), [(_CONVERSATION, conversation.encode()), _NOSNIFF]
        for name, value in headers:
            if name == b"vary":
                varies.append(value)
            else:
                added.append((name, value))
        added.append((b"vary", b", ".join([*varies, b"Origin"])))
        for name, value in scope["headers"]:
            if name == b"origin" and value.decode("latin-1").lower() in self._origins:
                added += [(b"access-control-allow-origin", value), (b"access-control-expose-headers", _EXPOSED)]
        return added


def preflight(scope: Scope) -> Response | None:
    """Answer the preflight that a browser sends before a request of an origin, which was found to be allowed."""
    if scope["method"] != "OPTIONS":
        return None
    headers = Headers(scope=scope)
    if not {"origin", "access-control-request-method"} <= set(headers):
        return None
    access_headers = (name.strip().lower() for name in headers.get("access-control-request-headers", "").split(","))
    names = ", ".join(name for name in access_headers if name in _ALLOWED_HEADERS or name.startswith(_MCP_PREFIX))
    allowed = {"Access-Control-Allow-Methods": _ALLOWED_METHODS, "Access-Control-Max-Age": str(PREFLIGHT_S)}
    if names:
        allowed["Access-Control-Allow-Headers"] = names
    if headers.get(_PRIVATE_NETWORK) == "true":
        allowed["Access-Control-Allow-Private-Network"] = "true"
    return Response(status_code=204, headers=allowed)


def metadata_paths(settings: Settings) -> tuple[str, ...]:
    """Name the paths of the metadata, which need no key."""
    return tuple(METADATA_PATH + resource for resource in RESOURCES) if settings.oauth_issuer else ()


def audiences(settings: Settings) -> tuple[str, ...]:
    """Name whom an access token may be for: the addresses of our resources (RFC 8707), unless the operator says."""
    return settings.oauth_audience or tuple(base_url(settings) + resource for resource in ("", "/", "/mcp"))


def token_challenge(settings: Settings) -> str:
    """Say how a client is asked for a token (RFC 9728 §5.1)."""
    return f'{CHALLENGE}, resource_metadata="{base_url(settings)}{METADATA_PATH}/mcp"'


def base_url(settings: Settings) -> str:
    """Return the address that clients know us by."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url or f"http://{host}:{settings.port}"
