"""The settings of a Weft system, each with its meaning, limits and default, read from five layers."""

from __future__ import annotations

from actors.settings.fields import Settings
from actors.settings.keys import key_file, resolve_api_key, resolve_vault_key, vault_key_file
from actors.settings.masking import masked
from actors.settings.reading import load
from actors.settings.telling import Loaded, Setting, describe, env_name, text_of

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
    "text_of",
    "vault_key_file",
]
