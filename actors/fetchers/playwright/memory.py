"""The processes of a browser: which there are, how much memory each holds, and an end to those that hold too much.

All is read from /proc (Linux; elsewhere nothing is known): that spares psutil.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from msgspec import Struct

_PROC = Path("/proc")
_PARENT = 1
"""Of /proc/PID/stat, counted after the name (proc(5))."""

_RESIDENT, _SHARED = 1, 2
"""Of /proc/PID/statm, in pages (proc(5))."""

_PAGE = os.sysconf("SC_PAGE_SIZE") if sys.platform != "win32" else 4_096
_WATCH_S = 0.1
"""A page may fill 2 GB in a second."""

_SCAN_S = 2.0
_MAX_NEW = 64
"""Every so often, or where so many threads and processes have begun since, all processes are listed."""

_IDLE_S = 0.3
_MEMORY_S = 5.0
"""How long after an end for memory a page that is gone is taken for the one that was ended."""

_MAX_DEPTH = 16
_RENDERER = "--type=renderer"
_COMPUTED = slice(11, 13)
"""Of /proc/PID/stat, counted after the name: what a process has computed, in ticks (proc(5))."""

_STEP = 10_000_000
"""By how many bytes the browser's own process changes until that is shared out."""


class MemoryLimits(Struct, frozen=True):
    """In bytes: when a browser is replaced once it is idle, what a page may hold at most, and what all of it may."""

    worn: int
    page: int
    all: int


class ProcessSize(Struct, frozen=True):
    """A process of a browser, and the bytes it holds; `root` is the browser's own, which has `kept` more for it."""

    pid: int
    size: int
    root: bool = False
    kept: int = 0

    @property
    def weight(self) -> int:
        """The bytes that would be free without it."""
        return self.size + self.kept


def overgrown(held: Iterable[ProcessSize], limits: MemoryLimits) -> ProcessSize | None:
    """Return the process that has to end: one that is too large by itself, or the largest of too many.

    The browser's own process goes, with all pages, only where it holds more than half of what all may.
    """
    all_of_it = sorted(held, key=lambda one: one.weight, reverse=True)
    pages = [one for one in all_of_it if not one.root]
    if pages and pages[0].weight > limits.page:
        return pages[0]
    if sum(one.size for one in all_of_it) <= limits.all:
        return None
    root = next((one for one in all_of_it if one.root), None)
    if root is not None and root.size * 2 > limits.all:
        return root
    return pages[0] if pages else root


@dataclass(eq=False)
class RootMemory:
    """Estimates what the browser's own process keeps for each page, such as blobs and files, by the page's process.

    Nobody says for whom it is: what it has grown by is shared out among the pages by what they computed meanwhile.
    """

    kept: dict[int, float] = field(default_factory=dict[int, float])
    _size: int = 0
    _computed: Mapping[int, int] = field(default_factory=dict[int, int])

    def has_changed(self, size: int) -> bool:
        """Whether there is something to share out."""
        return abs(size - self._size) >= _STEP

    def share_out(self, size: int, computed: Mapping[int, int]) -> None:
        """Share out what it has grown by since the last time; `computed` is how long each page ever did, in ticks."""
        spent = {pid: ticks - self._computed.get(pid, 0) for pid, ticks in computed.items()}
        growth, total = (size - self._size if self._size else 0), sum(spent.values())
        left = min(size / self._size, 1.0) if self._size else 1.0
        self.kept = {
            pid: self.kept.get(pid, 0.0) * left + (max(growth, 0) * ticks / total if total else 0.0)
            for pid, ticks in spent.items()
        }
        self._size, self._computed = size, computed


@dataclass(eq=False)
class MemoryWatch:
    """Ends what holds too much of the processes below `root`, in a thread of its own, until `stop`."""

    root: int
    limits: MemoryLimits
    is_busy: Callable[[], bool]
    """Whether there is a page: without one it looks less often."""

    held: int = 0
    """Bytes of all of it, as last measured."""

    largest: int = 0
    """Bytes of the largest process that was ever measured."""

    _stopped: Event = field(default_factory=Event)
    _parents: dict[int, int] = field(default_factory=dict[int, int])
    _ended: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_MAX_DEPTH))
    _of_root: RootMemory = field(default_factory=RootMemory)
    _last_pid: int = 0
    _scanned_s: float = 0.0

    def run(self) -> None:
        """Watch; returns after `stop`, or where there is no /proc."""
        while _PROC.is_dir() and not self._stopped.wait(_WATCH_S if self.is_busy() else _IDLE_S):
            self._look()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()

    def excess(self) -> int:
        """Return the limit in bytes for which something was ended just now; 0 where nothing was."""
        recent = [limit for at, limit in self._ended if time.monotonic() - at < _MEMORY_S]
        return recent[-1] if recent else 0

    def _look(self) -> None:
        self._learn()
        sizes = {pid: _size(pid, self.limits.page) for pid in self._tree()}
        if self._of_root.has_changed(sizes.get(self.root, 0)):
            pages = [pid for pid in sizes if _RENDERER in command(pid)]
            self._of_root.share_out(sizes.get(self.root, 0), {pid: _computed(pid) for pid in pages})
        kept = self._of_root.kept
        held = [ProcessSize(pid, size, pid == self.root, round(kept.get(pid, 0))) for pid, size in sizes.items()]
        self.held = sum(one.size for one in held)
        self.largest = max(self.largest, *(one.size for one in held), 0)
        victim = overgrown(held, self.limits)
        if victim is None:
            return
        single = not victim.root and victim.weight > self.limits.page
        self._ended.append((time.monotonic(), self.limits.page if single else self.limits.all))
        with suppress(ProcessLookupError, PermissionError):
            os.kill(victim.pid, signal.SIGKILL)

    def _learn(self) -> None:
        """Learn which processes have begun and ended; of each the parent is read once."""
        last, now = _last_pid(), time.monotonic()
        if 0 <= last - self._last_pid <= _MAX_NEW and now - self._scanned_s < _SCAN_S:
            there = {pid for pid in range(self._last_pid + 1, last + 1) if _is_process(pid)}
        else:
            there, self._scanned_s = set(_processes()), now
            self._parents = {pid: parent for pid, parent in self._parents.items() if pid in there}
        self._last_pid = last
        for pid in there - self._parents.keys():
            self._parents[pid] = _parent(pid)

    def _tree(self) -> list[int]:
        return [pid for pid in self._parents if self._is_below(pid)]

    def _is_below(self, pid: int) -> bool:
        for _ in range(_MAX_DEPTH):
            if pid == self.root:
                return True
            pid = self._parents.get(pid, 0)
        return False


def _last_pid() -> int:
    """Return the number that was given last to a process or thread (proc_loadavg(5))."""
    return int((_PROC / "loadavg").read_text("ascii").split()[-1])


def _is_process(pid: int) -> bool:
    """Return whether a number is that of a process, and not of a thread."""
    return f"\nTgid:\t{pid}\n" in _read(pid, "status")


def _size(pid: int, suspicious: int) -> int:
    """Return the bytes that a process holds alone; of a suspicious one its share of what several hold, too."""
    fields = _read(pid, "statm").split()
    if not fields:
        return 0
    resident, shared = int(fields[_RESIDENT]) * _PAGE, int(fields[_SHARED]) * _PAGE
    if resident <= suspicious:
        return resident - shared
    share = re.search(r"^Pss: +(\d+) kB", _read(pid, "smaps_rollup"), re.MULTILINE)
    return max(resident - shared, int(share[1]) * 1024 if share else 0)


def children(parent: int, mark: str) -> Iterator[int]:
    """Find the children of a process whose command line holds `mark`."""
    return (pid for pid in _processes() if _parent(pid) == parent and mark in command(pid))


def with_mark(mark: str) -> Iterator[int]:
    """Find every process whose command line holds `mark`, which is unique to them."""
    return (pid for pid in _processes() if mark in command(pid))


def command(pid: int) -> str:
    """Return the command line of a process; nothing for one that has ended."""
    return _read(pid, "cmdline")


def _processes() -> Iterator[int]:
    if _PROC.is_dir():
        yield from (int(path.name) for path in _PROC.iterdir() if path.name.isdecimal())


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(") ")[2].split()
    return int(fields[_PARENT]) if fields else 0


def _computed(pid: int) -> int:
    return sum(map(int, _read(pid, "stat").rpartition(") ")[2].split()[_COMPUTED]))


def _read(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
