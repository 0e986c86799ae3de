"""One SQLite file with a connection that writes and one that reads, each in a thread of its own.

What is in it is made of the ledger: a file that is broken, or of a newer Weft, is replaced by an empty one.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from secrets import token_hex
from typing import Any

import aiosqlite
import anyio
import structlog
from anyio import to_thread

from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

DATABASE_REPLACED = "database_replaced"
DATABASE_NOT_READ = "database_not_read"

BUSY_S = 5.0
"""How long to wait for a lock of somebody who looks into the file from outside."""

Row = tuple[Any, ...]
Write = tuple[str, Sequence[Sequence[Any]]]
"""A statement, and the values of each time that it is done."""


class BrokenError(Exception):
    """The file is no database that this Weft can work with."""


@dataclass
class Database:
    """The database at `path`, which nobody else opens."""

    path: Path
    broken: bool = False
    """Whether something could not be read or written: it is to be renewed."""
    _writer: aiosqlite.Connection | None = field(default=None, init=False, repr=False)
    _reader: aiosqlite.Connection | None = field(default=None, init=False, repr=False)
    _writing: anyio.Lock = field(default_factory=anyio.Lock, init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold both connections, with an empty file in place of one that is of no use.

        Raises:
            sqlite3.Error, OSError: not even an empty one can be made.
        """
        try:
            await self._opened()
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()

    async def renew(self) -> None:
        """Begin with an empty file."""
        with anyio.CancelScope(shield=True):
            async with self._writing:
                await self._close()
                await to_thread.run_sync(removed, self.path)
                await self._connect()
        self.broken = False

    async def read(self, query: str, values: Iterable[Any] = ()) -> list[Row]:
        """Ask for rows.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, when the file is broken; it is being replaced.
        """
        if self._reader is None:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
        try:
            return [tuple(row) for row in await self._reader.execute_fetchall(query, values)]
        except (sqlite3.Error, ValueError) as error:  # ValueError: it was closed meanwhile
            log.warning(DATABASE_NOT_READ, reason=str(error))
            self.broken = True
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None

    async def write(self, *writes: Write) -> None:
        """Do all of it or nothing.

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

    async def _opened(self) -> None:
        try:
            await self._connect()
        except (sqlite3.DatabaseError, BrokenError) as error:
            log.warning(DATABASE_REPLACED, reason=str(error))
            await self.renew()

    async def _connect(self) -> None:
        await to_thread.run_sync(_make, self.path)
        writer = self._writer = await aiosqlite.connect(self.path, isolation_level=None, timeout=BUSY_S)
        await writer.execute("PRAGMA journal_mode = WAL")
        await writer.execute("PRAGMA synchronous = NORMAL")  # what a power cut takes is read again from the ledger
        await writer.execute("PRAGMA foreign_keys = ON")
        await _migrate(writer)
        reader = self._reader = await aiosqlite.connect(self.path, isolation_level=None, timeout=BUSY_S)
        await reader.execute("PRAGMA query_only = ON")

    async def _close(self) -> None:
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        for connection in (reader, writer):
            if connection is not None:
                await connection.close()


async def _migrate(writer: aiosqlite.Connection) -> None:
    """Bring the tables to the newest form, one step in one transaction."""
    checked = await _one(writer, "PRAGMA quick_check(1)")
    if checked != "ok":
        raise BrokenError(f"quick_check: {checked}")
    steps = await to_thread.run_sync(_migrations)
    version = int(await _one(writer, "PRAGMA user_version"))
    if version > len(steps):
        raise BrokenError(f"version {version} is newer than {len(steps)}")
    for number, step in enumerate(steps[version:], version + 1):
        await writer.executescript(f"BEGIN IMMEDIATE;\n{step}\nPRAGMA user_version = {number};\nCOMMIT;")


async def _one(connection: aiosqlite.Connection, query: str) -> Any:
    (row,) = await connection.execute_fetchall(query)
    return row[0]


def _migrations() -> list[str]:
    folder = resources.files("actors.keeper") / "migrations"
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)
    return [one.read_text(encoding="utf-8") for one in found]


def _make(path: Path) -> None:
    """Make the file, so that nobody else may read it; what SQLite puts beside it is kept from them likewise."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


MAX_SLOTS = 1_000


@asynccontextmanager
async def claimed(folder: Path) -> AsyncGenerator[Path]:
    """Hold the first file of the folder that no other replica holds, as long as the block lasts.

    Raises:
        OSError: the folder cannot be written, or has no file to spare.
    """
    path, lock = await to_thread.run_sync(_claim, folder)
    try:
        yield path
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(_let_go, path, lock)


def removed(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _claim(folder: Path) -> tuple[Path, int]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        return folder / f"keeper-{token_hex(8)}.sqlite", -1  # nothing tells which of the others are still in use
    for number in range(MAX_SLOTS):
        lock = os.open(folder / f"keeper-{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _locked(lock):
            return folder / f"keeper-{number}.sqlite", lock
        os.close(lock)
    raise OSError(f"all {MAX_SLOTS} databases of {folder} are in use")


def _locked(lock: int) -> bool:
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go(path: Path, lock: int) -> None:
    if lock == -1:
        removed(path)
        return
    os.close(lock)
