"""The settings of a Weft system, each with its meaning, limits and default, read from five layers."""

from __future__ import annotations

from actors.settings.keys import key_file, resolve_api_key, resolve_vault_key, vault_key_file
from actors.settings.loading import (
    Loaded,
    Setting,
    describe,
    env_name,
    load,
    secret_variables,
    text_of,
    with_secrets,
)
from actors.settings.settings import Settings, masked

__all__ = [
    "Loaded",
    "Setting",
    "Settings",
    "describe",
    "env_name",
    "key_file",
    "load",
    "masked",
    "resolve_api_key",
    "resolve_vault_key",
    "secret_variables",
    "text_of",
    "vault_key_file",
    "with_secrets",
]
