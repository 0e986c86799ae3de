"""All settings of a Weft system as one value, and what of it may be shown."""

from __future__ import annotations

import re
from typing import Any

from actors.settings.push_fields import PushSettings


class Settings(PushSettings, frozen=True, kw_only=True):
    """Everything an operator may choose; `load` reads it, `describe` explains it."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Show every field to rich, secrets masked."""
        return [(name, masked(name, getattr(self, name))) for name in self.__struct_fields__]

    def __repr__(self) -> str:
        """Show every field, secrets masked."""
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"


MASK = "***"
SECRETS = frozenset({"api_key", "vault_key", "push_secret"})
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
