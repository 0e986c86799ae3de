"""The settings of a Weft system, each with its meaning, limits and default, read from five layers."""

from __future__ import annotations

import difflib
import importlib.resources
import ipaddress
import os
import re
import secrets
import stat
import tomllib
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct

from protocol.faults import Action, Code, FaultError, fault

ENV_PREFIX = "WEFT_"
SHIPPED = "config/weft.toml"
MASK = "***"
KEY_BYTES = 32
OTHERS = frozenset({"WEFT_PYTHON"})
"""Variables that are no settings: scripts/ reads them before there is a Weft."""

_TRUTHS = {"true": True, "false": False}
"""How a variable or an option says yes and no, as TOML does."""

Port = Annotated[int, Meta(ge=0, le=65_535)]
Ms = Annotated[int, Meta(ge=0, le=86_400_000)]
Bytes = Annotated[int, Meta(ge=1, le=2**50)]
Word = Annotated[str, Meta(min_length=1)]


def _user_data_dir() -> Path:
    import platformdirs  # noqa: PLC0415 - costs 10 ms, and most callers name a folder

    return platformdirs.user_data_path("weft", appauthor=False)


class Settings(Struct, frozen=True, kw_only=True):
    """Everything an operator may choose; `load` reads it, `describe` explains it."""

    data_dir: Annotated[
        Path,
        Meta(
            description="Folder that holds everything that is kept: JetStream, databases, the API key. "
            "`~` is the home folder.",
            extra={"default": "the platform's user data folder"},
        ),
    ] = msgspec.field(default_factory=_user_data_dir)
    host: Annotated[Word, Meta(description="Address that the gateway listens on.")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="Port that the gateway listens on (REST and MCP); 0 takes a free one.")] = (
        8720
    )
    api_key: Annotated[
        str,
        Meta(
            pattern=r"^[\x21-\x7e]*$",
            description="Key that clients send as `Authorization: Bearer`, without blanks; "
            "empty: a random one, made at first start and kept in the file api-key of the data folder.",
            extra={"secret": True},
        ),
    ] = ""
    vault_key: Annotated[
        str,
        Meta(
            pattern=r"^(?:[A-Za-z0-9_-]{43}=?)?$",
            description="Key that saved logins are encrypted with, 32 bytes in URL-safe base64, the same on every "
            "host; empty: a random one, made at first start and kept in the file vault-key of the data folder.",
            extra={"secret": True},
        ),
    ] = ""
    nats_url: Annotated[
        str,
        Meta(
            pattern=r"^(?:(?:nats|tls|wss?)://[^\s,]+(?:,(?:nats|tls|wss?)://[^\s,]+)*)?$",
            description="NATS to join, as nats://host:4222, several servers of a cluster separated by commas; "
            "empty: start a server of our own.",
        ),
    ] = ""
    nats_port: Annotated[Port, Meta(description="Port of the NATS server of our own; 0 takes a free one.")] = 0
    allow_private: Annotated[
        tuple[str, ...],
        Meta(description="Networks in CIDR form that may be fetched although they are private, such as 127.0.0.0/8."),
    ] = ()
    allowed_hosts: Annotated[
        tuple[Word, ...],
        Meta(description="Host headers that the gateway accepts besides the address it listens on."),
    ] = ()
    allowed_origins: Annotated[
        tuple[Word, ...],
        Meta(description="Origin headers that the gateway accepts besides its own, such as https://console.example."),
    ] = ()
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="The least level that is logged.")
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "pretty"],
        Meta(description="How log lines are written; auto: pretty on a terminal, else JSON."),
    ] = "auto"
    start_method: Annotated[
        Literal["auto", "fork", "spawn"],
        Meta(description="How actor processes are started; auto: fork on Linux, spawn elsewhere."),
    ] = "auto"
    drain_ms: Annotated[Ms, Meta(description="Milliseconds that work in hand gets to finish at stop.")] = 10_000
    restart_grace_ms: Annotated[
        Ms, Meta(description="Milliseconds that a request waits for an actor that is away, as while it is restarted.")
    ] = 2_000
    restart_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Deaths of one actor that restart_window_ms may see; at one more it is given up.",
        ),
    ] = 5
    restart_window_ms: Annotated[Ms, Meta(description="Milliseconds over which the deaths of an actor count.")] = 60_000
    restart_backoff_ms: Annotated[
        Ms, Meta(description="Milliseconds before the first restart of an actor; doubled at each further one.")
    ] = 50
    restart_backoff_max_ms: Annotated[Ms, Meta(description="Milliseconds before a restart at most.")] = 5_000
    fetch_max_bytes: Annotated[Bytes, Meta(description="Bytes of one page, after decompression, at most.")] = 20_000_000
    fetch_max_redirects: Annotated[
        int, Meta(ge=0, le=50, description="Redirects that are followed for one page at most.")
    ] = 10
    fetch_connect_timeout_ms: Annotated[
        int, Meta(ge=1, le=300_000, description="Milliseconds that connecting to a site may take.")
    ] = 5_000
    fetch_user_agent: Annotated[
        str,
        Meta(pattern=r"^[\x20-\x7e]+$", description="User-Agent header that is sent to sites, in printable ASCII."),
    ] = "Weft/0.1"
    fetch_cache_bytes: Annotated[
        int, Meta(ge=0, le=2**50, description="Bytes of pages that a fetcher keeps to answer again; 0: none.")
    ] = 32_000_000
    fetch_shared_cache_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=2**50,
            description="Bytes of pages, encrypted, that fetchers keep on the bus for each other; 0: none.",
        ),
    ] = 400_000_000
    fetch_host_rate: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            description="Pages a minute that all replicas together get of one host; 0: as many as they like. "
            "Addresses of allow_private are not limited.",
        ),
    ] = 300
    fetch_host_burst: Annotated[
        int, Meta(ge=1, le=10_000, description="Pages of one host that may come at once before fetch_host_rate counts.")
    ] = 20
    fetch_host_at_once: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Requests that all replicas together have open to one host at once at most; 0: as many as "
            "they like.",
        ),
    ] = 16
    fetch_robots: Annotated[
        Literal["asked", "always", "never"],
        Meta(
            description="When robots.txt is obeyed; asked: where the request wants it, as those of a batch do by "
            "themselves.",
        ),
    ] = "asked"
    fetch_robots_ttl_ms: Annotated[Ms, Meta(description="Milliseconds that a robots.txt is believed.")] = 86_400_000
    fetch_ca_file: Annotated[
        str, Meta(description="PEM file of certificate authorities to trust for sites; empty: the usual ones.")
    ] = ""
    markdown_offers: Annotated[
        bool,
        Meta(
            description="Take Markdown from sites that offer it: asked for by Accept, and where a page is read poorly, "
            "linked by it or listed in llms.txt."
        ),
    ] = True
    browser_executable: Annotated[
        str,
        Meta(description="Program of the Chromium to use; empty: the one that is found (`weft doctor` says which)."),
    ] = ""
    browser_sandbox: Annotated[
        Literal["auto", "off"],
        Meta(
            description="Whether Chromium puts up its own sandbox; auto: yes, except as root, where it cannot; "
            "off: no, on machines that do not let it."
        ),
    ] = "auto"
    browser_block: Annotated[
        Literal["unseen", "always", "never"],
        Meta(
            description="When the browser leaves out images, fonts, media and trackers; unseen: where no picture "
            "is taken of the page."
        ),
    ] = "unseen"
    browser_pages: Annotated[
        int, Meta(ge=1, le=50, description="Pages that one replica of the browser tier works on at once at most.")
    ] = 4
    browser_max_bytes: Annotated[
        Bytes, Meta(description="Bytes of memory beyond which a browser is replaced by a fresh one.")
    ] = 1_500_000_000
    browser_session_idle_ms: Annotated[
        int, Meta(ge=1_000, le=86_400_000, description="Milliseconds that a browser session lives without a call.")
    ] = 1_800_000
    light_processes: Annotated[
        int,
        Meta(
            ge=1,
            le=64,
            description="Processes of the light engine that one replica keeps at once, each with two pages at most.",
        ),
    ] = 2
    light_without_walls: Annotated[
        bool,
        Meta(
            description="Run pages in the light engine although this kernel lacks a wall of its sandbox; "
            "the walls that there are still stand."
        ),
    ] = False
    light_settle_ms: Annotated[
        int, Meta(ge=100, le=60_000, description="Milliseconds that the scripts of a page get in the light engine.")
    ] = 5_000
    tier_learning: Annotated[bool, Meta(description="Learn from visits which tier a host needs, and begin there.")] = (
        True
    )
    hosts_file: Annotated[
        str,
        Meta(
            description="TOML file of hosts whose kind is known, in the form of config/hosts.toml, which it adds to; "
            "empty: none."
        ),
    ] = ""
    hedge_percent: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="Share of the cost of a visit, in percent, that may be spent in vain on starting the next tier "
            "early where the one at work mostly fails; 0: never.",
        ),
    ] = 10
    jetstream_max_bytes: Annotated[
        Bytes, Meta(description="Bytes on disk that JetStream of the server of our own may take.")
    ] = 2**31

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Show every field to rich, secrets masked."""
        return [(name, masked(name, getattr(self, name))) for name in self.__struct_fields__]

    def __repr__(self) -> str:
        """Show every field, secrets masked."""
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"


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


def resolve_api_key(settings: Settings) -> str:
    """Give the key that clients must send: the one that is set, else the one in the data folder, made when missing.

    Raises:
        FaultError: CONFIG_INVALID when the file cannot be made or read.
    """
    return settings.api_key or _key_in("api_key", key_file(settings))


def resolve_vault_key(settings: Settings) -> str:
    """Give the key that saved logins are encrypted with: the one that is set, else the one in the data folder.

    Raises:
        FaultError: CONFIG_INVALID when the file cannot be made or read.
    """
    return settings.vault_key or _key_in("vault_key", vault_key_file(settings))


def key_file(settings: Settings) -> Path:
    """Name the file that holds the key when none is set."""
    return settings.data_dir / "api-key"


def vault_key_file(settings: Settings) -> Path:
    """Name the file that holds the key of saved logins when none is set."""
    return settings.data_dir / "vault-key"


def describe(loaded: Loaded | None = None) -> tuple[Setting, ...]:
    """Explain every setting, with the values of `loaded`, or else the defaults; no secret is shown."""
    return tuple(_row(field, loaded) for field in msgspec.structs.fields(Settings))


def env_name(name: str) -> str:
    """Name the environment variable of a setting."""
    return ENV_PREFIX + name.upper()


def masked(name: str, value: object) -> object:
    """Give a value of the setting `name` as anybody may see it."""
    if _meta(name).extra == {"secret": True}:
        return MASK if value else value
    return _without_credentials(value) if isinstance(value, str) and name == "nats_url" else value


def _row(field: msgspec.structs.FieldInfo, loaded: Loaded | None) -> Setting:
    meta = _meta(field.name)
    default = (meta.extra or {}).get("default") or text_of(field.default)
    return Setting(
        name=field.name,
        env=env_name(field.name),
        type=_type_text(field.type),
        default=default,
        description=meta.description or "",
        value=text_of(masked(field.name, getattr(loaded.settings, field.name))) if loaded else default,
        origin=loaded.origins[field.name] if loaded else "default",
    )


def text_of(value: object) -> str:
    """Write a value as it would stand in an environment variable."""
    return ",".join(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else str(value)


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
        raise _invalid(
            None, f"{origin} cannot be read: {error.strerror}", "Check the path given to --config."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _invalid(None, f"{origin} is not TOML: {error}", f"Correct {origin} at that place.") from None


def _known(name: str, said: str, where: str) -> str:
    if name in Settings.__struct_fields__:
        return name
    close = difflib.get_close_matches(name, Settings.__struct_fields__, n=1)
    shape = env_name if said.startswith(ENV_PREFIX) else str
    cure = f"Did you mean {shape(close[0])}?" if close else "`weft doctor` lists every setting."
    raise _invalid(name, f"{said} in {where} is no setting of Weft", cure)


def _typed(name: str, text: str) -> object:
    """Read the text of a variable or an option as TOML would have it typed; what does not fit stays text."""
    inner = typing.get_args(_kinds()[name])[0]
    if typing.get_origin(inner) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if inner is bool:
        return _TRUTHS.get(text.strip().lower(), text)
    return int(text) if inner is int and re.fullmatch(r"[+-]?[0-9]{1,19}", text) else text


def _convert(name: str, raw: object, origin: str) -> object:
    kind = _kinds()[name]
    try:
        value: object = msgspec.convert(raw, kind, dec_hook=_path)
        if name == "allow_private":
            return tuple(str(ipaddress.ip_network(network)) for network in cast("tuple[str, ...]", value))
    except (msgspec.ValidationError, ValueError, RuntimeError) as error:  # RuntimeError: ~nobody has no home folder
        # both quote the value, which of these two may hold a secret
        reason = "not in the form it must have" if name in ("api_key", "nats_url") else str(error)
        cure = f"{name} is {_type_text(kind)}: {_meta(name).description}"
        raise _invalid(name, f"{name}, set by {origin}: {reason}", cure) from None
    return value


def _path(kind: type, raw: object) -> Path:
    if kind is Path and isinstance(raw, str | Path) and str(raw):
        return Path(raw).expanduser().absolute()
    msg = "Expected the path of a folder"
    raise ValueError(msg)


def _invalid(field: str | None, what: str, cure: str) -> FaultError:
    action = Action(action="fix_setting", description=cure)
    return FaultError(fault(Code.CONFIG_INVALID, f"{what}. {cure}", field=field, actions=(action,)))


@cache
def _kinds() -> dict[str, Any]:
    return {field.name: field.type for field in msgspec.structs.fields(Settings)}


@cache
def _meta(name: str) -> Meta:
    metas = typing.get_args(_kinds()[name])[1:]
    return next(meta for meta in metas if isinstance(meta, Meta) and meta.description)


def _type_text(kind: object) -> str:
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


def _without_credentials(urls: str) -> str:
    return ",".join(map(_without_userinfo, re.split(r",(?=\w+://)", urls)))


def _without_userinfo(url: str) -> str:
    scheme, _, rest = url.partition("://")
    userinfo, at, host = rest.rpartition("@")
    return f"{scheme}://{MASK}@{host}" if userinfo or at else url


def _key_in(name: str, path: Path) -> str:
    try:
        if not path.exists():
            _make_key(path)
        _close_to_others(path)
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(
            name, f"{path} cannot be used: {error}", f"Repair or delete it, or set {env_name(name)}."
        ) from None
    if not key:
        raise _invalid(name, f"{path} is empty", "Delete it, and the next start makes a new key.")
    return key


def _make_key(path: Path) -> None:
    """Write a new key unless somebody else does so first; nobody ever reads half a key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123 - with an opener, which Path.open does not take
        file.write(secrets.token_urlsafe(KEY_BYTES) + "\n")
    try:
        os.link(draft, path)  # as exclusive as O_EXCL, and the file is whole when it appears
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _close_to_others(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o600)
