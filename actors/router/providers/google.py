"""Google, by the Gemini API."""

from __future__ import annotations

from collections.abc import Collection

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.sdk_clients import google  # noqa: PLC0415 - comes with the extra, and is large

    return google(credentials, hosts)


KIND = ProviderKind(
    provider=Provider.GOOGLE,
    requires=("api_key",),
    environment={"api_key": ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "base_url": ("GOOGLE_GEMINI_BASE_URL",)},
    defaults={"base_url": "https://generativelanguage.googleapis.com"},
    make=make,
    modules=("pydantic_ai", "google.genai"),
    price_id="google",
)
