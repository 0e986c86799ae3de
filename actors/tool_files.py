"""Reads the operator's files of search engines and of integrations, over those that are shipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from actors.settings import Settings
from actors.toml_file import Complaint, Place, TomlForm
from actors.web.guard import networks
from protocol.integrations import Integration, IntegrationsFile
from protocol.search import LOCAL_INDEX, EngineKind, SearchEngine, SearchFile

CUSTOM: Final = "custom"
"""What 003 calls an engine of the operator's own."""

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]*")


def own_engines(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    return Path(settings.search_file).expanduser() if settings.search_file else settings.data_dir / "search.toml"


def read_engines(own: Path | None = None, *, needed: bool = False) -> tuple[SearchEngine, ...]:
    """Read the shipped file, and before it the operator's, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    first = ENGINES_FORM.read(own).engines if own is not None and (needed or own.is_file()) else ()
    names = {one.name for one in first}
    return (*first, *(one for one in ENGINES_FORM.shipped.engines if one.name not in names))


def _engine_complaints(file: SearchFile) -> Iterator[Complaint]:
    names = {LOCAL_INDEX, CUSTOM}
    for number, one in enumerate(file.engines):
        if one.name in names:
            yield Place("[[engines]]", number, "name"), f"the name {one.name} is taken already"
        names.add(one.name)
        if (one.kind is EngineKind.PAGE) != ("{query}" in one.url):
            yield Place("[[engines]]", number, "url"), "a page has {query} in its address, and nothing else has"
        try:
            networks(one.allow_private)
        except ValueError as error:
            yield Place("[[engines]]", number, "allow_private"), str(error)


ENGINES_FORM: Final = TomlForm(SearchFile, "search_file", "config/search.toml", _engine_complaints)
"""The form of the files."""


def own_integrations(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    named = settings.integrations_file
    return Path(named).expanduser() if named else settings.data_dir / "integrations.toml"


def read_integrations(own: Path | None = None, *, needed: bool = False) -> Mapping[str, Integration]:
    """Read the operator's file, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    file = INTEGRATIONS_FORM.read(own) if own is not None and (needed or own.is_file()) else INTEGRATIONS_FORM.shipped
    return {one.name: one for one in file.integrations}


def _integration_complaints(file: IntegrationsFile) -> Iterator[Complaint]:
    names = set[str]()
    for number, one in enumerate(file.integrations):
        if one.name in names:
            yield Place("[[integrations]]", number, "name"), f"the integration {one.name} is there already"
        names.add(one.name)
        try:
            networks(one.allow_private)
        except ValueError as error:
            yield Place("[[integrations]]", number, "allow_private"), str(error)
        for name, value in one.headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                yield Place("[[integrations]]", number, "headers"), f"{name} is no header that can be sent"


INTEGRATIONS_FORM: Final = TomlForm(
    IntegrationsFile, "integrations_file", "config/integrations.toml", _integration_complaints
)
"""The form of the files."""
