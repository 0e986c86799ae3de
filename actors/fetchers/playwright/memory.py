"""Looks at processes as the kernel knows them: their memory, children and command lines (Linux; elsewhere nothing)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PROC = Path("/proc")
_PARENT = 1
"""Of /proc/PID/stat, counted after the name (proc(5))."""

_RESIDENT, _SHARED = 1, 2
"""Of /proc/PID/statm, in pages (proc(5))."""


def private_bytes(pids: Iterable[int]) -> int:
    """Add up the memory that each of these processes shares with no other."""
    return sum(map(_private_pages, pids)) * os.sysconf("SC_PAGE_SIZE") if _PROC.is_dir() else 0


def children(parent: int, mark: str) -> Iterator[int]:
    """Find the children of a process whose command line holds `mark`."""
    return (pid for pid in _processes() if _parent(pid) == parent and mark in command(pid))


def named(mark: str) -> Iterator[int]:
    """Find every process whose command line holds `mark`, which nobody else's does."""
    return (pid for pid in _processes() if mark in command(pid))


def command(pid: int) -> str:
    """Return the command line of a process; nothing for one that has ended."""
    return _read(pid, "cmdline")


def _processes() -> Iterator[int]:
    if _PROC.is_dir():
        yield from (int(path.name) for path in _PROC.iterdir() if path.name.isdecimal())


def _private_pages(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[_RESIDENT]) - int(fields[_SHARED]) if fields else 0


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(") ")[2].split()
    return int(fields[_PARENT]) if fields else 0


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
