"""Has pages that compute without end give way to those that begin: their processes get what nobody else wants.

A page shows what it has within a second; one that computes for longer may do so for ever. A few of them would
leave little of the processors to the pages of others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import CapacityLimiter, to_thread

LOOK_S = 0.2
PATIENCE_S = 0.4
"""Seconds of computing that a page has before it gives way."""

LOW_PRIORITY = 15
"""As nice(2) counts: a thirtieth of what others get, where they want it."""

_PROC = Path("/proc")
_RENDERER = b"--type=renderer"
_CPU = slice(11, 13)
"""Of /proc/PID/stat, counted after the name: what a process has computed, in ticks (proc(5))."""


@dataclass
class Priorities:
    """Watches the renderers below one process, while that is needed; it does nothing elsewhere than on Linux."""

    root: int
    is_needed: Callable[[], bool] = lambda: True
    patience_s: float = PATIENCE_S
    lowered: set[int] = field(default_factory=set[int])
    _parents: dict[int, int] = field(default_factory=dict[int, int])
    _renderers: dict[int, bool] = field(default_factory=dict[int, bool])

    async def watch(self) -> None:
        """Look at intervals until it is cancelled."""
        limiter = CapacityLimiter(1)
        while True:
            await anyio.sleep(LOOK_S)
            if self.is_needed():
                await to_thread.run_sync(self.look, limiter=limiter)

    def look(self) -> None:
        """Lower the priority of those that have computed for too long."""
        there = _processes()
        self.lowered &= there
        # Only who is new is asked for its parent: most processes of a machine are others'.
        self._parents = {pid: self._parents[pid] if pid in self._parents else _parent(pid) for pid in there}
        self._renderers = {pid: known for pid, known in self._renderers.items() if pid in there}
        for pid in there - self.lowered:
            if pid not in self._renderers:
                self._renderers[pid] = self._is_below(pid) and _RENDERER in _read(pid, "cmdline")
            if self._renderers[pid] and _computed_s(pid) > self.patience_s:
                self.lowered.add(pid)
                _lower(pid)

    def _is_below(self, pid: int) -> bool:
        while pid in self._parents and pid != self.root:
            pid = self._parents[pid]
        return pid == self.root


def _processes() -> set[int]:
    try:
        return {int(path.name) for path in _PROC.iterdir() if path.name.isdecimal()}
    except OSError:
        return set()


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(b") ")[2].split()
    return int(fields[1]) if fields else 0


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in (_PROC / str(pid) / "task").iterdir()]
    except OSError:
        return []


def _computed_s(pid: int) -> float:
    fields = _read(pid, "stat").rpartition(b") ")[2].split()
    return sum(map(int, fields[_CPU])) / os.sysconf("SC_CLK_TCK")


def _lower(pid: int) -> None:
    """Lower every thread: to Linux each has a priority of its own."""
    for thread in _threads(pid):
        with suppress(OSError):  # it has ended, or is another user's
            os.setpriority(os.PRIO_PROCESS, thread, LOW_PRIORITY)


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
