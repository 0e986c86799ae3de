"""Anthropic, by its Messages API."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.sdk_clients import anthropic  # noqa: PLC0415 - comes with the extra, and is large

    return anthropic(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.ANTHROPIC,
    requires=("api_key",),
    environment={"api_key": ("ANTHROPIC_API_KEY",), "base_url": ("ANTHROPIC_BASE_URL",)},
    defaults={"base_url": "https://api.anthropic.com"},
    make=make,
    modules=("pydantic_ai", "anthropic"),
    price_id="anthropic",
)
