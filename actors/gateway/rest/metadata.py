"""The endpoints of the metadata that tells a client where tokens are to be had (RFC 9728)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.access.rules import RESOURCES, base_url, metadata_paths
from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.contract import Endpoint
from actors.settings import Settings

MAX_AGE_S = 3_600


def endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """Return the endpoints of the metadata: the same at the root and at the path of MCP, each for its own resource."""
    return tuple(
        Endpoint(
            method="GET",
            path=path,
            name=f"protectedResource{number}",
            summary="Tell where tokens for this Weft are to be had.",
            run=_telling(_document(settings, resource)),
            open=True,
        )
        for number, (path, resource) in enumerate(zip(metadata_paths(settings), RESOURCES, strict=False))
    )


class ProtectedResource(Struct, frozen=True, kw_only=True):
    """The metadata (RFC 9728 §2)."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] = tuple(scope.value for scope in Scope)
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Weft"


def _document(settings: Settings, resource: str) -> ProtectedResource:
    return ProtectedResource(resource=base_url(settings) + resource, authorization_servers=(settings.oauth_issuer,))


def _telling(document: ProtectedResource) -> Callable[[AppContext, RequestContext, Any], Awaitable[Response]]:
    async def tell(_app: Any, _request: RequestContext, _arguments: Any) -> Response:
        return answer(document, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})

    return tell
