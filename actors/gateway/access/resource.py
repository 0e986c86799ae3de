"""What the gateway is to an authorization server: a resource, with addresses that tokens are for (RFC 8707)."""

from __future__ import annotations

from actors.gateway.access.caller import CHALLENGE
from actors.settings import Settings

PATH = "/.well-known/oauth-protected-resource"
RESOURCES = ("", "/mcp")
"""What of the gateway clients take for a resource of its own: all of it, or its MCP."""


def paths(settings: Settings) -> tuple[str, ...]:
    """Name the paths of the metadata, which need no key."""
    return tuple(PATH + resource for resource in RESOURCES) if settings.oauth_issuer else ()


def audiences(settings: Settings) -> tuple[str, ...]:
    """Name whom an access token may be for: the addresses of our resources (RFC 8707), unless the operator says."""
    return settings.oauth_audience or tuple(base(settings) + resource for resource in ("", "/", "/mcp"))


def challenge(settings: Settings) -> str:
    """Say how a client is asked for a token (RFC 9728 §5.1)."""
    return f'{CHALLENGE}, resource_metadata="{base(settings)}{PATH}/mcp"'


def base(settings: Settings) -> str:
    """Return the address that clients know us by."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.public_url or f"http://{host}:{settings.port}"
