"""The APIs that people have written down: what Weft ships, the operator's own file, and what users have corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from actors.learner.patterns.sources.source import ApiEndpoint, host_of
from actors.settings import Settings
from actors.toml_file import TomlForm
from protocol.patterns.pattern import AuthKind

MAX_KNOWN: Final = 1_000

Template = Annotated[str, Meta(pattern=r"^https?://[a-z0-9.-]+(:\d{1,5})?/[^\s]*$(?!\n)", max_length=1_024)]
"""An address of the web with slots such as `{name}`, but none in its host."""


class KnownApi(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An API for the pages at `page`, which `url` answers for. `auth_headers` are names alone."""

    page: Template
    url: Template
    auth: AuthKind | None = None
    auth_headers: tuple[Annotated[str, Meta(max_length=60)], ...] = ()
    reason: Annotated[str, Meta(max_length=200)] = ""


class KnownApis(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of the files."""

    api: Annotated[tuple[KnownApi, ...], Meta(max_length=MAX_KNOWN)] = ()


KNOWN_APIS: Final = TomlForm(KnownApis, setting="patterns_file", shipped_name="config/patterns.toml")
"""The form of the files, and what is shipped."""


def own_apis(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    return Path(settings.patterns_file).expanduser() if settings.patterns_file else settings.data_dir / "patterns.toml"


def read_apis(own: Path | None = None, *, needed: bool = False) -> tuple[KnownApi, ...]:
    """Read the operator's file, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    return KNOWN_APIS.read(own).api if own is not None and (needed or own.is_file()) else ()


def endpoints(apis: tuple[KnownApi, ...], page_url: str) -> tuple[ApiEndpoint, ...]:
    """Return those of the host of a page."""
    host = host_of(page_url)
    return tuple(
        ApiEndpoint(
            url=api.url,
            page=api.page,
            auth=api.auth,
            auth_headers=api.auth_headers,
            reason=api.reason or "written down for this site",
        )
        for api in apis
        if host_of(api.page) == host
    )
