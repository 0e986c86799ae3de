"""Keeps the secrets among the settings out of sight."""

from __future__ import annotations

import re

MASK = "***"
SECRETS = frozenset({"api_key", "vault_key"})
"""The settings that nobody gets to see."""


def masked(name: str, value: object) -> object:
    """Return a value of the setting `name` as anybody may see it."""
    if name in SECRETS:
        return MASK if value else value
    return _without_credentials(value) if isinstance(value, str) and name == "nats_url" else value


def _without_credentials(urls: str) -> str:
    return ",".join(map(_without_userinfo, re.split(r",(?=\w+://)", urls)))


def _without_userinfo(url: str) -> str:
    scheme, _, rest = url.partition("://")
    userinfo, at, host = rest.rpartition("@")
    return f"{scheme}://{MASK}@{host}" if userinfo or at else url
