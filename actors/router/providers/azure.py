"""Azure OpenAI, by its v1 surface; the names of models are those of the deployments."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from msgspec import structs

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider

_SURFACE = "/openai/v1"


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    dialect = OpenAIDialect(provider=Provider.AZURE, key_header="api-key", max_tokens_field="max_completion_tokens")
    return dialect.client(credentials, hosts)


def complete(given: ProviderCredentials) -> ProviderCredentials:
    """Add the address of a resource, or the name of the one at an address, and the surface."""
    base_url, name = given.base_url.rstrip("/"), given.resource_name
    if name and not base_url:
        base_url = f"https://{name}.openai.azure.com"
    if base_url and not name:
        name = (urlsplit(base_url).hostname or "").partition(".")[0]
    if base_url and not base_url.endswith(_SURFACE):
        base_url = base_url.removesuffix("/openai") + _SURFACE
    return structs.replace(given, base_url=base_url, resource_name=name)


KIND = ProviderKind(
    provider=Provider.AZURE,
    requires=("api_key", "base_url", "resource_name"),
    environment={
        "api_key": ("AZURE_OPENAI_API_KEY",),
        "base_url": ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL"),
        "resource_name": ("AZURE_OPENAI_RESOURCE_NAME",),
    },
    make=make,
    complete=complete,
    price_id="azure",
)
