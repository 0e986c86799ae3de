"""The SQLite file of a replica: locked for it alone, with one connection that writes and one that reads.

What is in it is made of journals: a file that is broken, or of a newer Weft, is replaced by an empty one.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, TypeVar

import aiosqlite
import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import astuple

from bus.errors import storage_full
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

DATABASE_REPLACED = "database_replaced"
DATABASE_NOT_READ = "database_not_read"

BUSY_S = 5.0
"""How long to wait for a lock of somebody who looks into the file from outside."""

LOG_BYTES = 4_000_000
"""What the log of writes may keep of the disk when what was written is in the tables."""

MAX_FILES = 1_000
"""How many replicas may keep a database in one folder."""

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})

S = TypeVar("S", bound=Struct)

Row = tuple[Any, ...]
Write = tuple[str, Sequence[Sequence[Any]]]
"""A statement, and the values of each of its executions."""


_POSITIONS = """
CREATE TABLE IF NOT EXISTS positions (
  journal TEXT PRIMARY KEY,
  applied INTEGER NOT NULL,
  line INTEGER NOT NULL,
  written_at INTEGER NOT NULL
) STRICT
"""
_ADVANCE = (
    "INSERT INTO positions VALUES (?, ?, ?, ?) ON CONFLICT (journal) DO UPDATE SET "
    "applied = excluded.applied, line = excluded.line, written_at = excluded.written_at"
)


class JournalPosition(Struct, frozen=True):
    """How much of a journal is in the tables, and the last line of that: its sequence, and when it was written."""

    applied: int
    line: int
    written_at: int


START: Final = JournalPosition(0, 0, 0)


class BrokenDatabaseError(Exception):
    """The file is no database that this version of Weft can use."""


@asynccontextmanager
async def locked_file(folder: Path) -> AsyncGenerator[Path]:
    """Lock the first file of the folder that no other replica has, as long as the block lasts; it is named like that.

    Raises:
        OSError: the folder cannot be written, or has no file to spare.
    """
    path, lock = await to_thread.run_sync(_lock_first, folder)
    try:
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_release, path, lock)


@dataclass
class Database:
    """The database at `path`, which no other process opens.

    Its tables are made by the files `migrations/*.sql` of a `package`, each one step, in the order of their names.
    """

    path: Path
    package: str
    broken: bool = False
    """Whether a read or a write has failed: the file is to be replaced."""

    full: bool = False
    """Whether there was no room for the last write: the file is as it was, and the write is tried again."""

    turn: anyio.Lock = field(default_factory=anyio.Lock, init=False, repr=False)
    """Held by the one who brings a journal further, so that nobody does who does not know that the file is another."""

    _writer: aiosqlite.Connection | None = field(default=None, init=False, repr=False)
    _reader: aiosqlite.Connection | None = field(default=None, init=False, repr=False)
    _writing: anyio.Lock = field(default_factory=anyio.Lock, init=False, repr=False)
    _positions: dict[str, JournalPosition] = field(default_factory=dict[str, JournalPosition], init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open both connections; a file that cannot be used is replaced by an empty one.

        Raises:
            sqlite3.Error, OSError: not even an empty one can be created.
        """
        try:
            await self._open_or_replace()
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()

    def position(self, journal: str) -> JournalPosition:
        """Return how much of a journal is in the tables."""
        return self._positions.get(journal, START)

    async def advance(self, journal: str, position: JournalPosition, *writes: Write) -> None:
        """Execute all statements, and note how much of a journal is in the tables now, in one transaction.

        Raises:
            sqlite3.Error: it cannot be written.
        """
        await self.write(*writes, (_ADVANCE, [(journal, *astuple(position))]))
        self._positions[journal] = position

    async def renew(self) -> None:
        """Replace the file by an empty one."""
        with anyio.CancelScope(shield=True):
            async with self._writing:
                await self._close()
                await to_thread.run_sync(_remove, self.path)
                await self._connect()
        self.broken = False

    async def read(self, query: str, values: Iterable[Any] = ()) -> list[Row]:
        """Query rows.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the file is broken; it is being replaced. CONFIG_STORAGE_FULL, when
                there is no room to do so, or to sort what was found.
        """
        if self._reader is None:
            raise FaultError(storage_full() if self.full else fault(Code.INTERNAL_UNAVAILABLE))
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(query, values)]
        except (sqlite3.Error, ValueError) as error:  # ValueError: it was closed meanwhile
            log.warning(DATABASE_NOT_READ, reason=str(error))
            if is_full(error):
                raise FaultError(storage_full()) from None
            self.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None

    async def write(self, *writes: Write) -> None:
        """Execute all statements in one transaction.

        Raises:
            sqlite3.Error: it cannot be written.
        """
        with anyio.CancelScope(shield=True):  # a transaction that is left in the middle would hold up the next
            async with self._writing:
                writer = self._writer
                if writer is None:
                    raise sqlite3.OperationalError("the database is closed")
                await writer.execute("BEGIN IMMEDIATE")
                try:
                    for statement, values in writes:
                        await writer.executemany(statement, values)
                    await writer.commit()
                except BaseException:
                    await writer.rollback()
                    raise

    async def _open_or_replace(self) -> None:
        try:
            await self._connect()
        except (sqlite3.DatabaseError, BrokenDatabaseError, OSError) as error:
            if is_full(error):
                self.broken = self.full = True  # it is made as soon as there is room
                return
            if isinstance(error, OSError):
                raise
            log.warning(DATABASE_REPLACED, reason=str(error))
            await self.renew()

    async def _connect(self) -> None:
        await to_thread.run_sync(_create, self.path)
        writer = self._writer = await aiosqlite.connect(self.path, isolation_level=None, timeout=BUSY_S)
        await writer.execute("PRAGMA journal_mode = WAL")
        await writer.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is read again from the journal
        await writer.execute("PRAGMA foreign_keys = ON")
        await writer.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        await _migrate(writer, self.package)
        rows = await writer.execute_fetchall("SELECT * FROM positions")
        self._positions = {journal: JournalPosition(*position) for journal, *position in rows}
        reader = self._reader = await aiosqlite.connect(self.path, isolation_level=None, timeout=BUSY_S)
        await reader.execute("PRAGMA query_only = ON")

    async def _close(self) -> None:
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        for connection in (reader, writer):
            if connection is not None:
                await connection.close()


def is_full(error: Exception) -> bool:
    """Return whether something could not be written for want of room."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    code = getattr(error, "sqlite_errorcode", None)
    return code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}


def rows(kind: type[S], records: Iterable[Row]) -> list[S]:
    """Convert rows whose columns are the fields of `kind`."""
    names = kind.__struct_encode_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), kind, strict=False) for row in records]


async def _migrate(writer: aiosqlite.Connection, package: str) -> None:
    """Bring the tables to the newest form, one step in one transaction."""
    checked = await _one(writer, "PRAGMA quick_check(1)")
    if checked != "ok":
        raise BrokenDatabaseError(f"quick_check: {checked}")
    await writer.execute(_POSITIONS)
    steps = await to_thread.run_sync(_migrations, package)
    version = int(await _one(writer, "PRAGMA user_version"))
    if version > len(steps):
        raise BrokenDatabaseError(f"version {version} is newer than {len(steps)}")
    for number, step in enumerate(steps[version:], version + 1):
        await writer.executescript(f"BEGIN IMMEDIATE;\n{step}\nPRAGMA user_version = {number};\nCOMMIT;")


async def _one(connection: aiosqlite.Connection, query: str) -> Any:
    (row,) = await connection.execute_fetchall(query)
    return row[0]


def _migrations(package: str) -> list[str]:
    folder = resources.files(package) / "migrations"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)
    return [file.read_text(encoding="utf-8") for file in files]


def _create(path: Path) -> None:
    """Create the file readable by its owner alone; what SQLite puts beside it gets the same permissions."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _remove(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _lock_first(folder: Path) -> tuple[Path, int]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return folder / f"{folder.name}-{token_hex(8)}.sqlite", -1  # no lock shows which of the others are still in use
    for number in range(MAX_FILES):
        lock = os.open(folder / f"{folder.name}-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _try_lock(lock):
            return folder / f"{folder.name}-{number}.sqlite", lock
        os.close(lock)
    raise OSError(f"all {MAX_FILES} databases of {folder} are in use")


def _try_lock(lock: int) -> bool:
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _release(path: Path, lock: int) -> None:
    if lock == -1:
        _remove(path)
        return
    os.close(lock)
