"""The providers, in the order in which they are asked where no rule says otherwise (004 "Supported Providers")."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.router.provider import ProviderKind
from actors.router.providers import (
    anthropic,
    azure,
    bedrock,
    browseros,
    google,
    lmstudio,
    ollama,
    openai,
    openai_compatible,
    openrouter,
)
from protocol.models import Provider

PROVIDERS: Final[Mapping[Provider, ProviderKind]] = MappingProxyType(
    {
        module.KIND.provider: module.KIND
        for module in (
            anthropic,
            openai,
            google,
            openrouter,
            azure,
            ollama,
            lmstudio,
            bedrock,
            browseros,
            openai_compatible,
        )
    }
)

VARIABLES: Final = tuple(
    dict.fromkeys(name for kind in PROVIDERS.values() for names in kind.environment.values() for name in names)
)
"""Every variable of the environment that says anything of a provider: the router alone gets them."""
