"""LM Studio: models on a machine of the operator's."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import Capabilities, ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    return OpenAIDialect(provider=Provider.LMSTUDIO).client(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.LMSTUDIO,
    requires=("base_url",),
    environment={"base_url": ("LMSTUDIO_BASE_URL",), "api_key": ("LMSTUDIO_API_KEY",)},
    defaults={"base_url": "http://127.0.0.1:1234/v1"},
    make=make,
    capabilities=Capabilities(local=True),
)
