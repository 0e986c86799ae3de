"""What a client is told that may get tokens from an authorization server: the metadata of RFC 9728."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from actors.gateway.access.caller import CHALLENGE, Scope
from actors.gateway.rest.answers import answer
from actors.gateway.rest.contract import Endpoint
from actors.settings import Settings

PATH = "/.well-known/oauth-protected-resource"
RESOURCES = ("", "/mcp")
"""What of the gateway clients take for a resource of its own: all of it, or its MCP."""

MAX_AGE_S = 3_600


def paths(settings: Settings) -> tuple[str, ...]:
    """Name the paths of the metadata, which need no key."""
    return tuple(PATH + resource for resource in RESOURCES) if settings.oauth_issuer else ()


def audiences(settings: Settings) -> tuple[str, ...]:
    """Name whom an access token may be for: the addresses of our resources (RFC 8707), unless the operator says."""
    return settings.oauth_audience or tuple(_base(settings) + resource for resource in ("", "/", "/mcp"))


def challenge(settings: Settings) -> str:
    """Say how a client is asked for a token (RFC 9728 §5.1)."""
    return f'{CHALLENGE}, resource_metadata="{_base(settings)}{PATH}/mcp"'


def endpoints(settings: Settings) -> tuple[Endpoint[Any], ...]:
    """Give the endpoints of the metadata: the same at the root and at the path of MCP, each for its own resource."""
    return tuple(
        Endpoint(
            method="GET",
            path=path,
            name=f"protectedResource{number}",
            summary="Tell where tokens for this Weft are to be had.",
            run=_telling(_document(settings, resource)),
            open=True,
        )
        for number, (path, resource) in enumerate(zip(paths(settings), RESOURCES, strict=False))
    )


class ProtectedResource(Struct, frozen=True, kw_only=True):
    """The metadata (RFC 9728 §2)."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] = tuple(scope.value for scope in Scope)
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Weft"


def _document(settings: Settings, resource: str) -> ProtectedResource:
    return ProtectedResource(resource=_base(settings) + resource, authorization_servers=(settings.oauth_issuer,))


def _telling(document: ProtectedResource) -> Callable[[Any, Any], Awaitable[Response]]:
    async def tell(_desk: Any, _asked: Any) -> Response:
        return answer(document, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})

    return tell


def _base(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url or f"http://{host}:{settings.port}"
