"""OpenRouter: it passes a request on to whoever takes all that it asks for."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    demands = {"provider": {"require_parameters": True}}
    return OpenAIDialect(provider=Provider.OPENROUTER, with_demands=demands).client(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.OPENROUTER,
    requires=("api_key",),
    environment={"api_key": ("OPENROUTER_API_KEY",), "base_url": ("OPENROUTER_BASE_URL",)},
    defaults={"base_url": "https://openrouter.ai/api/v1"},
    make=make,
    price_id="openrouter",
)
