"""The settings as an operator may see them: each with what it does, where it comes from, and no secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from actors.settings import Loaded, Settings, describe
from actors.settings.loading import ENV_PREFIX
from actors.settings.settings import MASK, SECRETS

Source = Literal["default", "file", "environment", "flag"]


class ShownSetting(Struct, frozen=True, kw_only=True, rename="camel"):
    """A setting; `origin` is the file, the variable or the option that it comes from, where `source` is no default.

    The value of a `secret` one is `***`, whether it was chosen or made at the first start.
    """

    name: str
    variable: str
    type: str
    description: str
    value: str
    default: str
    source: Source
    origin: str
    secret: bool


def shown_settings(settings: Settings, origins: Mapping[str, str]) -> tuple[ShownSetting, ...]:
    """Return every setting, in the order in which they are written down."""
    known = dict.fromkeys(Settings.__struct_fields__, "default") | dict(origins)
    return tuple(
        ShownSetting(
            name=row.name,
            variable=row.env,
            type=row.type,
            description=row.description,
            value=MASK if row.name in SECRETS else row.value,
            default=row.default,
            source=_source(row.origin),
            origin=row.origin,
            secret=row.name in SECRETS,
        )
        for row in describe(Loaded(settings, known))
    )


def _source(origin: str) -> Source:
    if origin == "default":
        return "default"
    if origin.startswith("--"):
        return "flag"
    return "environment" if origin.startswith(ENV_PREFIX) else "file"
