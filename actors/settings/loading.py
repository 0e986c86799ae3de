"""Loads the settings from five layers (defaults, two files, the environment, the command line) and explains each."""

from __future__ import annotations

import difflib
import importlib.resources
import ipaddress
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct

from actors.settings.settings import SECRETS, Settings, masked
from protocol.actions import Action
from protocol.codec import NO_CHOICE, choices, parted
from protocol.faults import Code, FaultError, fault
from protocol.shapes import in_words

SHIPPED = "config/weft.toml"


ENV_PREFIX = "WEFT_"


OTHERS = frozenset({"WEFT_PYTHON"})
"""Variables that are no settings: scripts/ reads them before there is a Weft."""


_NETWORKS = frozenset({"allow_private", "trusted_proxies"})


_TRUTHS = {"true": True, "false": False}
"""How a variable or an option says yes and no, as TOML does."""


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


def load(*, config_file: Path | None, overrides: Mapping[str, Any], environ: Mapping[str, str]) -> Loaded:
    """Read the settings: defaults < config/weft.toml < `config_file` < WEFT_* in `environ` < `overrides`.

    `overrides` has the names of fields; None there leaves a setting as it is.

    Raises:
        FaultError: CONFIG_INVALID, naming the setting, where its value came from, and the way out.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    for name, raw, origin in _layers(config_file, overrides, environ):
        values[name] = _convert(name, raw, origin)
        origins[name] = origin
    return Loaded(Settings(**values), origins)


def secret_variables() -> tuple[str, ...]:
    """Return the variables of the settings that nobody gets to see."""
    return tuple(sorted(map(env_name, SECRETS)))


def with_secrets(loaded: Loaded, variables: Mapping[str, str]) -> Loaded:
    """Add the secret settings that stand in `variables`, as from the environment, which they were withheld from.

    Raises:
        FaultError: CONFIG_INVALID, naming the setting and the way out.
    """
    values = {name: variables[env_name(name)] for name in sorted(SECRETS) if env_name(name) in variables}
    made = {name: _convert(name, text, env_name(name)) for name, text in values.items()}
    settings = msgspec.structs.replace(loaded.settings, **made)
    return Loaded(settings, {**loaded.origins, **{name: env_name(name) for name in made}})


def describe(loaded: Loaded | None = None) -> tuple[Setting, ...]:
    """Explain every setting, with the values of `loaded`, or else the defaults; no secret is shown."""
    return tuple(_row(field, loaded) for field in _fields())


def env_name(name: str) -> str:
    """Name the environment variable of a setting."""
    return ENV_PREFIX + name.upper()


def text_of(value: object) -> str:
    """Write a value as it would stand in an environment variable."""
    return ",".join(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else str(value)


def invalid(field: str | None, what: str, cure: str) -> FaultError:
    """Make the error of a setting that cannot be used."""
    action = Action(action="fix_setting", description=cure)
    return FaultError(fault(Code.CONFIG_INVALID, f"{what}. {cure}", field=field, actions=(action,)))


def _layers(
    config_file: Path | None, overrides: Mapping[str, Any], environ: Mapping[str, str]
) -> Iterator[tuple[str, Any, str]]:
    shipped = importlib.resources.files("config") / "weft.toml"
    for path, origin in ((shipped, SHIPPED), (config_file, str(config_file))):
        if path is not None:
            for key, raw in _table(path, origin).items():
                yield _known(key, key, origin), raw, origin
    for variable, text in environ.items():
        if variable.startswith(ENV_PREFIX) and variable not in OTHERS:
            name = _known(variable.removeprefix(ENV_PREFIX).lower(), variable, "the environment")
            yield name, _typed(name, text), variable
    for key, raw in overrides.items():
        if raw is not None:
            option = f"--{key.replace('_', '-')}"
            name = _known(key, option, "the command line")
            yield name, _typed(name, raw) if isinstance(raw, str) else raw, option


def _table(path: Traversable, origin: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise invalid(None, f"{origin} cannot be read: {error.strerror}", "Check the path given to --config.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise invalid(None, f"{origin} is not TOML: {error}", f"Correct {origin} at that place.") from None


def _known(name: str, spelling: str, where: str) -> str:
    if name in Settings.__struct_fields__:
        return name
    close = difflib.get_close_matches(name, Settings.__struct_fields__, n=1)
    shape = env_name if spelling.startswith(ENV_PREFIX) else str
    cure = f"Did you mean {shape(close[0])}?" if close else "`weft doctor` lists every setting."
    raise invalid(name, f"{spelling} in {where} is no setting of Weft", cure)


def _typed(name: str, text: str) -> object:
    """Read the text of a variable or an option as TOML would have it typed; what does not fit stays text."""
    inner = typing.get_args(kinds()[name])[0]
    if typing.get_origin(inner) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if inner is bool:
        return _TRUTHS.get(text.strip().lower(), text)
    return int(text) if inner is int and re.fullmatch(r"[+-]?[0-9]{1,19}", text) else text


def _convert(name: str, raw: object, origin: str) -> object:
    kind = kinds()[name]
    try:
        value: object = msgspec.convert(raw, kind, dec_hook=_path)
        if name in _NETWORKS:
            return tuple(str(ipaddress.ip_network(network)) for network in cast("tuple[str, ...]", value))
    except (msgspec.ValidationError, ValueError, RuntimeError) as error:  # RuntimeError: ~nobody has no home folder
        # both quote the value, and these may hold a secret
        reason = "not in the form it must have" if name in {*SECRETS, "nats_url"} else _reason(str(error), kind)
        cure = f"{name} is {type_text(kind)}: {meta_of(name).description}"
        raise invalid(name, f"{name}, set by {origin}: {reason}", cure) from None
    return value


def _reason(complaint: str, kind: Any) -> str:
    """Say what is wrong of a value; where it is a word, with the words that there are."""
    reason, path = parted(complaint)
    words = choices(kind, path) if reason.startswith(NO_CHOICE) else ()
    return f"{reason}; there are {', '.join(words)}" if words else in_words(complaint)


def _path(kind: type, raw: object) -> Path:
    if kind is Path and isinstance(raw, str | Path) and str(raw):
        return Path(raw).expanduser().absolute()
    msg = "Expected the path of a folder"
    raise ValueError(msg)


@cache
def _fields() -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(Settings)


@cache
def kinds() -> dict[str, Any]:
    """Return the annotated type of every setting."""
    return {field.name: field.type for field in _fields()}


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
