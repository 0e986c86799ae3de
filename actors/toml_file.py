"""Reads TOML files of the operator: strictly, with file and line of what is wrong, and again whenever they change.

A file is a Struct: rows of a list stand below `[[name]]`, tables of a dict below `[name.key]`.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast, get_args

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct, inspect

from protocol.actions import Action
from protocol.codec import parted
from protocol.faults import Code, FaultError, fault
from protocol.shapes import in_words

log = structlog.stdlib.get_logger()

FILE_READ = "own_file_read"
FILE_REFUSED = "own_file_refused"

LOOK_S: Final = 1.0
"""How often the operator's file is looked at."""

F = TypeVar("F", bound=msgspec.Struct)
V = TypeVar("V")


class Place(NamedTuple):
    """A piece of a file: the header above it and which of those that is (from 0), and its key if it is one."""

    header: str = ""
    number: int = 0
    key: str = ""


Complaint = tuple[Place, str]


class TomlForm(Struct, Generic[F], frozen=True, dict=True):
    """The form of a file that is shipped below `config/`, and which the setting `setting` names another one of.

    `complain` finds what is wrong of a file that has the form.
    """

    kind: type[F]
    setting: str
    shipped_name: str
    complain: Callable[[F], Iterator[Complaint]] = lambda _: iter(())

    @cached_property
    def shipped_text(self) -> str:
        """The text of what is shipped."""
        package, _, name = self.shipped_name.partition("/")
        return (importlib.resources.files(package) / name).read_text(encoding="utf-8")

    @cached_property
    def shipped(self) -> F:
        """What is shipped."""
        return self.parse(self.shipped_text, self.shipped_name)

    def read(self, path: Path) -> F:
        """Read the operator's file.

        Raises:
            FaultError: CONFIG_INVALID, with the file and the line that is wrong.
        """
        return self.parse(self.text_of(path), str(path))

    def text_of(self, path: Path) -> str:
        """Read the text of the operator's file.

        Raises:
            FaultError: CONFIG_INVALID, when it cannot be read.
        """
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise self._invalid(f"{path} cannot be read: {reason}") from None

    def parse(self, text: str, name: str) -> F:
        """Read the text of one file, which is called `name` where it is wrong.

        Raises:
            FaultError: CONFIG_INVALID, with the line that is wrong.
        """
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._invalid(f"{name} is not TOML: {error}") from None
        for place, raw, kind in self._parts(tables):
            try:
                msgspec.convert(raw, kind)
            except msgspec.ValidationError as error:
                line = line_of(text, place, str(error))
                raise self._invalid(f"{name}, line {line}: {_words(error, place)}") from None
        file = msgspec.convert(tables, self.kind)
        for place, message in self.complain(file):
            raise self._invalid(f"{name}, line {line_of(text, place)}: {message}")
        return file

    def _parts(self, tables: dict[str, Any]) -> Iterator[tuple[Place, Any, Any]]:
        """Yield what a file consists of, the smallest pieces first: the first that is wrong is what is wrong."""
        fields = {one.encode_name: one.type for one in msgspec.structs.fields(self.kind)}
        for name, raw in tables.items():
            match inspect.type_info(fields[name]) if name in fields else None:
                case inspect.VarTupleType(item_type=inspect.StructType(cls=row)):
                    yield from ((Place(f"[[{name}]]", number), one, row) for number, one in enumerate(_listed(raw)))
                    yield Place(f"[[{name}]]"), raw, fields[name]
                case inspect.DictType(value_type=inspect.StructType(cls=row)):
                    yield from ((Place(f"[{name}.{key}]"), one, row) for key, one in _named(raw))
                    yield Place(f"[{name}."), raw, fields[name]
                case inspect.StructType() | inspect.UnionType():  # a table, which may be missing
                    yield Place(f"[{name}]"), raw, fields[name]
                case inspect.DictType():
                    value = get_args(fields[name])[1]
                    yield from ((Place(f"[{name}]", 0, key), one, value) for key, one in _named(raw))
                    yield Place(f"[{name}]"), raw, fields[name]
                case None:
                    continue
                case _:
                    yield Place("", 0, name), raw, fields[name]
        yield Place(), tables, self.kind

    def _invalid(self, what: str) -> FaultError:
        action = Action(action="fix_setting", description=f"Write it like {self.shipped_name}, or take the file away.")
        return FaultError(fault(Code.CONFIG_INVALID, f"{self.setting}: {what}", field=self.setting, actions=(action,)))


@dataclass
class Watched(Generic[V]):
    """What a file of the operator's says as it stands: `value` is another one after the file has changed.

    `read` lays it over what is shipped, or returns that alone, and raises FaultError where it is wrong.
    """

    path: Path
    read: Callable[[Path | None], V]
    look_s: float = LOOK_S
    value: V = field(init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Watched[V]]:
        """Read the files, and watch the operator's while the block lasts.

        Where that is wrong by now, what is shipped counts until it is mended: the start of a system has checked it.
        """
        stamp = await to_thread.run_sync(_stamp, self.path)
        if not await self._read():
            self.value = await to_thread.run_sync(self.read, None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, stamp)
            yield self
            tasks.cancel_scope.cancel()

    async def _watch(self, stamp: object) -> None:
        while True:
            await anyio.sleep(self.look_s)
            current = await to_thread.run_sync(_stamp, self.path)
            if current == stamp:
                continue
            stamp = current
            if await self._read():
                log.info(FILE_READ, file=str(self.path))

    async def _read(self) -> bool:
        try:
            self.value = await to_thread.run_sync(self.read, self.path)
        except FaultError as error:
            log.warning(FILE_REFUSED, reason=error.fault.message)
            return False
        return True


def _listed(raw: object) -> list[Any]:
    return raw if isinstance(raw, list) else []  # pyright: ignore[reportUnknownVariableType] - TOML


def _named(raw: object) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", raw).items()) if isinstance(raw, dict) else []


_FIELD: Final = re.compile(r"(?=.*`\$\.(\w+)|.*field `([^`]+)`|.*value '([^']+)' - at `key`)")


def line_of(text: str, place: Place, message: str = "") -> int:
    """Find the line of a place, or of that key below its header which a message is about; from 1."""
    field_named = _FIELD.match(message)
    key = place.key or (next(filter(None, field_named.groups())) if field_named else "")
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip().startswith(place.header or "\0")]
    start = starts[place.number] if place.number < len(starts) else -1
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if key and re.match(rf'(\[\w*\.?)?"?{re.escape(key)}"?\s*[=\]]', line):
            return number + 1
        if line.startswith("[") and place.header:
            break
    return max(start, 0) + 1


def _words(error: msgspec.ValidationError, place: Place) -> str:
    where = f"{place.header} " if place.header.endswith("]") else ""
    reason, path = parted(str(error))
    at = f" - at `${path}`" if path else ""
    return f"{where}{place.key + ': ' if place.key else ''}{in_words(reason)}{at}"


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
