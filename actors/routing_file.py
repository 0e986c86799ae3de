"""Reads config/routing.toml and the operator's own file over it, and reads that again whenever it changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from actors.settings import Settings
from actors.toml_file import LOOK_S, Complaint, Place, TomlForm, Watched
from protocol.routing import Routing, RoutingFile


@dataclass
class WatchedRouting:
    """The routing as it stands; `routing` is another value after the operator's file has changed."""

    settings: Settings
    look_s: float = LOOK_S
    _file: Watched[Routing] = field(init=False, repr=False)

    @property
    def routing(self) -> Routing:
        """The routing as it stands."""
        return self._file.value

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[WatchedRouting]:
        """Read the files, and watch the operator's while the block lasts."""
        self._file = Watched(own_file(self.settings), read_routing, self.look_s)
        async with self._file.open():
            yield self


def own_file(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    return Path(settings.routing_file).expanduser() if settings.routing_file else settings.data_dir / "routing.toml"


def read_routing(own: Path | None = None, *, needed: bool = False) -> Routing:
    """Read the shipped file and over it the operator's, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    if own is not None and (needed or own.is_file()):
        return Routing.of(ROUTING_FORM.shipped, ROUTING_FORM.read(own))
    return Routing.of(ROUTING_FORM.shipped)


def _complaints(file: RoutingFile) -> Iterator[Complaint]:
    for provider, ladder in file.ladders.items():
        if len(set(ladder)) < len(ladder):
            yield Place("[ladders]", 0, provider), f"a model stands twice in the ladder of {provider}"
    patterns = set[str]()
    for number, rule in enumerate(file.routes):
        if rule.tools in patterns:
            yield Place("[[routes]]", number, "tools"), f"the tools {rule.tools} have a route already"
        patterns.add(rule.tools)


ROUTING_FORM: Final = TomlForm(RoutingFile, "routing_file", "config/routing.toml", _complaints)
"""The form of the files."""
