"""Any other server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    return OpenAIDialect(provider=Provider.OPENAI_COMPATIBLE).client(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.OPENAI_COMPATIBLE,
    requires=("api_key", "base_url"),
    environment={"api_key": ("OPENAI_COMPATIBLE_API_KEY",), "base_url": ("OPENAI_COMPATIBLE_BASE_URL",)},
    make=make,
)
