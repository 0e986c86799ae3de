"""AWS Bedrock, by its Converse API."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import structs

from actors.router.provider import ProviderClient, ProviderCredentials, ProviderKind
from protocol.models import Provider


def make(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client."""
    from actors.router.providers.sdk_clients import bedrock  # noqa: PLC0415 - comes with the extra, and is large

    return bedrock(credentials, hosts)


def complete(given: ProviderCredentials) -> ProviderCredentials:
    """Add the address of the region."""
    if given.base_url or not given.region:
        return given
    return structs.replace(given, base_url=f"https://bedrock-runtime.{given.region}.amazonaws.com")


KIND = ProviderKind(
    provider=Provider.BEDROCK,
    requires=("region", "access_key_id", "secret_access_key"),
    environment={
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
        "access_key_id": ("AWS_ACCESS_KEY_ID",),
        "secret_access_key": ("AWS_SECRET_ACCESS_KEY",),
        "session_token": ("AWS_SESSION_TOKEN",),
        "base_url": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
    },
    make=make,
    complete=complete,
    modules=("pydantic_ai", "boto3"),
    price_id="aws",
)
