"""Reads config/routing.toml and the operator's own file over it, and reads that again whenever it changes."""

from __future__ import annotations

import importlib.resources
import re
import tomllib
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import anyio
import msgspec
import structlog
from anyio import to_thread

from actors.settings import Settings
from protocol.actions import Action
from protocol.documents import NonEmpty
from protocol.faults import Code, FaultError, fault
from protocol.routing import ClassModels, RouteRule, Routing, RoutingFile

log = structlog.stdlib.get_logger()

ROUTING_REFUSED = "routing_file_refused"
ROUTING_READ = "routing_file_read"

SHIPPED: Final = "config/routing.toml"
LOOK_S: Final = 1.0
"""How often the operator's file is looked at."""


@dataclass
class WatchedRouting:
    """The routing as it stands; `routing` is another value after the operator's file has changed."""

    settings: Settings
    look_s: float = LOOK_S
    routing: Routing = field(default_factory=Routing, init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[WatchedRouting]:
        """Read the files, and watch the operator's while the block lasts.

        Where that is wrong by now, what is shipped counts until it is mended: the start of a system has checked it.
        """
        path = own_file(self.settings)
        stamp = await to_thread.run_sync(_stamp, path)
        self.routing = await to_thread.run_sync(read_routing)
        await self._read(path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, path, stamp)
            yield self
            tasks.cancel_scope.cancel()

    async def _watch(self, path: Path, stamp: object) -> None:
        while True:
            await anyio.sleep(self.look_s)
            current = await to_thread.run_sync(_stamp, path)
            if current == stamp:
                continue
            stamp = current
            if await self._read(path):
                log.info(ROUTING_READ, file=str(path))

    async def _read(self, path: Path) -> bool:
        try:
            self.routing = await to_thread.run_sync(read_routing, path)
        except FaultError as error:
            log.warning(ROUTING_REFUSED, reason=error.fault.message)
            return False
        return True


def own_file(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    return Path(settings.routing_file).expanduser() if settings.routing_file else settings.data_dir / "routing.toml"


def read_routing(own: Path | None = None, *, needed: bool = False) -> Routing:
    """Read the shipped file and over it the operator's, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    files = [shipped()]
    if own is not None and (needed or own.is_file()):
        try:
            text = own.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise _invalid(f"{own} cannot be read: {reason}") from None
        files.append(parse(text, str(own)))
    return Routing.of(*files)


@cache
def shipped() -> RoutingFile:
    """Return what is shipped."""
    text = (importlib.resources.files("config") / "routing.toml").read_text(encoding="utf-8")
    return parse(text, SHIPPED)


def parse(text: str, name: str) -> RoutingFile:
    """Read the text of one file, which is called `name` where it is wrong.

    Raises:
        FaultError: CONFIG_INVALID, with the line that is wrong.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _invalid(f"{name} is not TOML: {error}") from None
    for part in _parts(tables):
        try:
            msgspec.convert(part.raw, part.kind)
        except msgspec.ValidationError as error:
            raise _invalid(f"{name}, line {_line(text, part, str(error))}: {_words(error, part)}") from None
    file = msgspec.convert(tables, RoutingFile)
    for provider, ladder in file.ladders.items():
        if len(set(ladder)) < len(ladder):
            part = _Part("[ladders]", 0, provider, ladder, tuple)
            raise _invalid(f"{name}, line {_line(text, part)}: a model stands twice in the ladder of {provider}")
    patterns = set[str]()
    for number, rule in enumerate(file.routes):
        if rule.tools in patterns:
            part = _Part("[[routes]]", number, "tools", {}, RouteRule)
            raise _invalid(f"{name}, line {_line(text, part)}: the tools {rule.tools} have a route already")
        patterns.add(rule.tools)
    return file


class _Part(NamedTuple):
    """A piece of a file: the header above it and which of those that is, its key if it is one, and its form."""

    header: str
    number: int
    key: str
    raw: Any
    kind: Any


def _parts(tables: dict[str, Any]) -> Iterator[_Part]:
    """Yield what a file consists of, the smallest pieces first, so that the first that is wrong is what is wrong."""
    for number, row in enumerate(_listed(tables.get("routes"))):
        yield _Part("[[routes]]", number, "", row, RouteRule)
    for provider, models in _named(tables.get("models")):
        yield _Part(f"[models.{provider}]", 0, "", models, ClassModels)
    for provider, ladder in _named(tables.get("ladders")):
        yield _Part("[ladders]", 0, provider, ladder, tuple[NonEmpty, ...])
    for key, raw in tables.items():
        field_type = _FIELDS.get(key)
        if field_type is not None:
            yield _Part(_HEADERS.get(key, ""), 0, key if key not in _HEADERS else "", raw, field_type)
    yield _Part("", 0, "", tables, RoutingFile)


_FIELDS: Final = {one.name: one.type for one in msgspec.structs.fields(RoutingFile)}
_HEADERS: Final = {"routes": "[[routes]]", "models": "[models.", "ladders": "[ladders]"}


def _listed(raw: object) -> list[Any]:
    return raw if isinstance(raw, list) else []  # pyright: ignore[reportUnknownVariableType] - TOML


def _named(raw: object) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", raw).items()) if isinstance(raw, dict) else []


_FIELD = re.compile(r"(?=.*`\$\.(\w+)|.*field `([^`]+)`|.*value '([^']+)' - at `key`)")


def _line(text: str, part: _Part, message: str = "") -> int:
    """Find the line of a part, or of that key below its header which a message is about; from 1."""
    field_named = _FIELD.match(message)
    key = part.key or (next(filter(None, field_named.groups())) if field_named else "")
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip().startswith(part.header or "\0")]
    start = starts[part.number] if part.number < len(starts) else -1
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if key and re.match(rf'(\[\w*\.?)?"?{re.escape(key)}"?\s*[=\]]', line):
            return number + 1
        if line.startswith("[") and part.header:
            break
    return max(start, 0) + 1


def _words(error: msgspec.ValidationError, part: _Part) -> str:
    where = f"{part.header} " if part.header.endswith("]") else ""
    return f"{where}{part.key + ': ' if part.key else ''}{error}"


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _invalid(what: str) -> FaultError:
    action = Action(action="fix_setting", description=f"Write it like {SHIPPED}, or take the file away.")
    return FaultError(fault(Code.CONFIG_INVALID, f"routing_file: {what}", field="routing_file", actions=(action,)))
