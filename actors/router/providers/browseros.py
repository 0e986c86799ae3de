"""BrowserOS: the models of a BrowserOS server on this machine, which needs no credentials (004 "Supported Providers").

The seed has it route internally and names no address, so it counts once an address is set.
"""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import Capabilities, ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.openai_dialect import OpenAIDialect  # noqa: PLC0415 - loads httpx2

    return OpenAIDialect(provider=Provider.BROWSEROS).client(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.BROWSEROS,
    requires=(),
    environment={"base_url": ("BROWSEROS_BASE_URL",), "api_key": ("BROWSEROS_API_KEY",)},
    defaults={"base_url": "http://127.0.0.1:9100/v1"},
    make=make,
    capabilities=Capabilities(local=True),
)
