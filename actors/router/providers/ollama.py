"""Ollama: models on a machine of the operator's."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from msgspec import structs

from actors.router.provider import Capabilities, ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider

_PORT = 11_434


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    return OpenAIDialect(provider=Provider.OLLAMA).client(credentials, hosts)


def complete(given: ProviderCredentials) -> ProviderCredentials:
    """Make an address of what OLLAMA_HOST may be, which is also what the server itself listens on."""
    if not given.base_url:
        return given
    text = given.base_url.rstrip("/")
    parts = urlsplit(text if "://" in text else f"//{text}", scheme="http")
    host = parts.hostname or "127.0.0.1"
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound: it listens on all, and is found at one
        host = "127.0.0.1"
    named = f"[{host}]" if ":" in host else host
    port = parts.port or {"http": _PORT, "https": 443}.get(parts.scheme, _PORT)
    return structs.replace(given, base_url=f"{parts.scheme}://{named}:{port}{parts.path.removesuffix('/v1')}/v1")


KIND = ProviderKind(
    provider=Provider.OLLAMA,
    requires=("base_url",),
    environment={"base_url": ("OLLAMA_BASE_URL", "OLLAMA_HOST"), "api_key": ("OLLAMA_API_KEY",)},
    defaults={"base_url": f"http://127.0.0.1:{_PORT}/v1"},
    make=make,
    complete=complete,
    capabilities=Capabilities(local=True),
)
