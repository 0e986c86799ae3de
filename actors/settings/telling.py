"""Explains every setting to a person: type, default, meaning, and where a value came from."""

from __future__ import annotations

import typing
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct

from actors.settings.fields import Settings
from actors.settings.masking import masked

ENV_PREFIX = "WEFT_"


class Loaded(NamedTuple):
    """Settings, and for each field where its value came from: default, a file, a variable or an option."""

    settings: Settings
    origins: dict[str, str]


class Setting(Struct, frozen=True, kw_only=True):
    """A row that explains one setting to a person; `value` and `origin` are those of a system, secrets masked."""

    name: str
    env: str
    type: str
    default: str
    description: str
    value: str
    origin: str


def describe(loaded: Loaded | None = None) -> tuple[Setting, ...]:
    """Explain every setting, with the values of `loaded`, or else the defaults; no secret is shown."""
    return tuple(_row(field, loaded) for field in msgspec.structs.fields(Settings))


def env_name(name: str) -> str:
    """Name the environment variable of a setting."""
    return ENV_PREFIX + name.upper()


def text_of(value: object) -> str:
    """Write a value as it would stand in an environment variable."""
    return ",".join(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else str(value)


@cache
def kinds() -> dict[str, Any]:
    """Return the annotated type of every setting."""
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


@cache
def meta_of(name: str) -> Meta:
    """Return what is said of a setting: its meaning and limits."""
    metas = typing.get_args(kinds()[name])[1:]
    return next(meta for meta in metas if isinstance(meta, Meta) and meta.description)


def type_text(kind: object) -> str:
    """Say in words what a setting takes."""
    inner, *metas = typing.get_args(kind)
    if typing.get_origin(inner) is Literal:
        return " | ".join(typing.get_args(inner))
    if typing.get_origin(inner) is tuple:
        return "a list of texts (in a variable: separated by commas)"
    if inner is int:
        bounds = next(meta for meta in cast("list[Meta]", metas) if meta.le is not None)
        return f"an integer from {bounds.ge} to {bounds.le}"
    if inner is bool:
        return "true or false"
    return "the path of a folder" if inner is Path else "a text"


def _row(field: msgspec.structs.FieldInfo, loaded: Loaded | None) -> Setting:
    meta = meta_of(field.name)
    default = (meta.extra or {}).get("default") or text_of(field.default)
    return Setting(
        name=field.name,
        env=env_name(field.name),
        type=type_text(field.type),
        default=default,
        description=meta.description or "",
        value=text_of(masked(field.name, getattr(loaded.settings, field.name))) if loaded else default,
        origin=loaded.origins[field.name] if loaded else "default",
    )
