"""Writes the log of events: what has happened, line by line as JSON, made of the journals (003 "Logging")."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct

from actors.keeper.log_events import events_of
from bus import TransportError
from bus.stores import EVERYTHING, JournalLine, JournalLog
from protocol.faults import FaultError

log = structlog.stdlib.get_logger()

NOT_WRITTEN = "event_log_not_written"

MAX_BYTES: Final = 20 * 1024 * 1024
KEPT: Final = 5
"""Full files that are kept beside the one that is written (003)."""

AGAIN_S: Final = 2.0
"""How often a replica asks whether the log has lost its writer."""

LOOK_S: Final = 10.0
"""How long to wait for a signal before reading all the same."""

GATHER_S: Final = 0.5
"""How long lines gather before they are logged together: nobody waits for them."""

_TAIL_BYTES: Final = 1_000_000
_BATCH: Final = 256


class _LoggedLine(Struct, frozen=True):
    """As much of a line of the log as says how far it is."""

    journal: str = ""
    line: int = 0


class EventLog(Struct, frozen=True):
    """The log of one host: of its keepers one writes it, and another one when that is gone.

    How far the log is stands beside it and in its own last lines, so that a line of a journal is logged once, whoever
    dies; the file and those it was before are for their owner alone.
    """

    path: Path
    journals: Sequence[JournalLog[Any]]
    previews: bool = False
    max_bytes: int = MAX_BYTES
    _positions: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    _turn: anyio.Lock = msgspec.field(default_factory=anyio.Lock)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Write while the block lasts, as soon as no other replica does."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            yield
            tasks.cancel_scope.cancel()

    async def _run(self) -> None:
        while True:
            try:
                async with AsyncExitStack() as stack:
                    if await self._locked(stack):
                        self._positions.update(await to_thread.run_sync(_positions, self.path))
                        async with anyio.create_task_group() as tasks:
                            for journal in self.journals:
                                tasks.start_soon(self._follow, journal)
            except* (OSError, TransportError, FaultError) as errors:
                log.warning(NOT_WRITTEN, reason=", ".join(sorted({type(one).__name__ for one in errors.exceptions})))
            await anyio.sleep(AGAIN_S)

    async def _locked(self, stack: AsyncExitStack) -> bool:
        """Lock the log for as long as the stack is open; False where another replica has it."""
        lock = await to_thread.run_sync(_lock, self.path.with_suffix(".lock"))
        if lock is not None:
            stack.callback(os.close, lock)
        return lock is not None

    async def _follow(self, journal: JournalLog[Any]) -> None:
        name = journal.journal.name
        if await journal.end() < self._positions.get(name, 0):
            self._positions[name] = 0  # another journal: the log goes on with its beginning
        async with journal.records.signal() as wait:
            while True:
                async with aclosing(journal.read(EVERYTHING, self._positions.get(name, 0))) as lines:
                    batch = list[JournalLine[Any]]()
                    async for line in lines:
                        batch.append(line)
                        if len(batch) == _BATCH:
                            await self._log(name, batch)
                            batch.clear()
                await self._log(name, batch)
                journal.note_place("event log", self._positions.get(name, 0))
                with anyio.move_on_after(LOOK_S):
                    await wait()
                await anyio.sleep(GATHER_S)

    async def _log(self, name: str, lines: Sequence[JournalLine[Any]]) -> None:
        if lines:
            async with self._turn:
                await to_thread.run_sync(self._write, name, lines)

    def _write(self, name: str, lines: Sequence[JournalLine[Any]]) -> None:
        for line in lines:
            events = events_of(name, line, previews=self.previews)
            if written := b"".join(msgspec.json.encode(event) + b"\n" for event in events):
                _append(self.path, written, self.max_bytes)
        self._positions[name] = lines[-1].sequence
        _keep_positions(self.path, self._positions)


def _append(path: Path, written: bytes, max_bytes: int) -> None:
    with suppress(FileNotFoundError):
        if path.stat().st_size + len(written) > max_bytes:
            _rotate(path)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, written)
    finally:
        os.close(file)


def _rotate(path: Path) -> None:
    """Renumber the files: the newest full one is 1, the oldest goes."""
    for number in range(KEPT - 1, 0, -1):
        with suppress(FileNotFoundError):
            _numbered(path, number).replace(_numbered(path, number + 1))
    path.replace(_numbered(path, 1))


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _positions(path: Path) -> Mapping[str, int]:
    """Return how far the log is, and cut off the line at its end that was never written whole."""
    positions: dict[str, int] = {}
    with suppress(FileNotFoundError, msgspec.DecodeError):
        positions = msgspec.json.decode(_beside(path).read_bytes(), type=dict[str, int])
    for file in (_numbered(path, 1), path):
        for line in _last_lines(file):
            with suppress(msgspec.DecodeError):
                written = msgspec.json.decode(line, type=_LoggedLine)
                positions[written.journal] = max(positions.get(written.journal, 0), written.line)
    return positions


def _last_lines(path: Path) -> list[bytes]:
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL_BYTES, 0))
            tail = file.read()
            whole = tail.rfind(b"\n") + 1
            file.truncate(size - len(tail) + whole)
    except FileNotFoundError:
        return []
    return tail[:whole].splitlines()


def _keep_positions(path: Path, positions: Mapping[str, int]) -> None:
    new = _beside(path).with_suffix(".new")
    new.write_bytes(msgspec.json.encode(positions))
    new.replace(_beside(path))


def _beside(path: Path) -> Path:
    return path.with_suffix(".positions")


def _lock(path: Path) -> int | None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    if sys.platform == "win32":
        return lock  # one keeper a host is what runs there
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
