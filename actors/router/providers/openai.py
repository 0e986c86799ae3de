"""OpenAI."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    dialect = OpenAIDialect(provider=Provider.OPENAI, max_tokens_field="max_completion_tokens")
    return dialect.client(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.OPENAI,
    requires=("api_key",),
    environment={"api_key": ("OPENAI_API_KEY",), "base_url": ("OPENAI_BASE_URL",)},
    defaults={"base_url": "https://api.openai.com/v1"},
    make=make,
    price_id="openai",
)
