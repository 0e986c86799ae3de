"""Processes as the kernel knows them: who lives in a session, and whether they are gone (Linux)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import anyio

_COMM_ENDS = b") "
_STATE, _PARENT, _SESSION, _STARTED = 0, 1, 3, 19  # of /proc/PID/stat, counted after the name; see proc(5)


@dataclass(frozen=True)
class Life:
    """One life of a process: a pid that comes again is another life. `name` is what ps shows."""

    pid: int
    started: int
    parent: int
    session: int
    name: str


def session(leader: int) -> frozenset[Life]:
    """Find everything that lives in the session of `leader`: all that it started, orphans too."""
    pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal())
    return frozenset(life for pid in pids if (life := _look(pid)) is not None and life.session == leader)


def named(lives: Iterable[Life], name: str) -> Life:
    """Find the one of that name."""
    (found,) = [life for life in lives if life.name == name]
    return found


async def gone(lives: Iterable[Life]) -> None:
    """Wait until none of them lives; the caller's deadline bounds it."""
    await until(lambda: not any(_lives(life) for life in lives))


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something; the caller's deadline bounds it."""
    while not happened():
        await anyio.sleep(0.02)


def _lives(life: Life) -> bool:
    now = _look(life.pid)
    return now is not None and now.started == life.started


def _look(pid: int) -> Life | None:
    """Look at a process; None when it has ended, buried or not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    head, _, tail = stat.rpartition(_COMM_ENDS)
    fields = tail.split()
    if fields[_STATE] in (b"Z", b"X"):
        return None
    return Life(
        pid=pid,
        started=int(fields[_STARTED]),
        parent=int(fields[_PARENT]),
        session=int(fields[_SESSION]),
        name=head.partition(b"(")[2].decode(),
    )
