"""Has pages that compute without end give way to those that begin: their processes get what nobody else wants.

Most pages show what they have after a tenth of a second of computing, and all within a second; one that computes for
longer may do so for ever. A few of them would leave little of the processors to the pages of others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
from anyio import CapacityLimiter, to_thread

LOOK_S, IDLE_LOOK_S = 0.1, 0.5
"""How often to look at pages, and at whether there are any."""

STEPS: Final[tuple[tuple[float, int], ...]] = ((0.15, 10), (1.0, 15))
"""Seconds of computing, in which that of the start of a renderer is, and the priority from there on.

As nice(2) counts: 10 is a tenth of what others get where they want it, 15 a thirtieth. Pages that take a while go
before those that take for ever.
"""

_PROC = Path("/proc")
_RENDERER = b"--type=renderer"
_CPU = slice(11, 13)
"""Of /proc/PID/stat, counted after the name: what a process has computed, in ticks (proc(5))."""


@dataclass
class Priorities:
    """Watches the renderers below one process, while that is needed; it does nothing elsewhere than on Linux."""

    root: int
    is_needed: Callable[[], bool] = lambda: True
    steps: Sequence[tuple[float, int]] = STEPS
    lowered: dict[int, int] = field(default_factory=dict[int, int])
    """The priorities of those that were lowered."""
    _parents: dict[int, int] = field(default_factory=dict[int, int])
    _renderers: dict[int, bool] = field(default_factory=dict[int, bool])

    async def watch(self) -> None:
        """Look at intervals until it is cancelled."""
        limiter = CapacityLimiter(1)
        while True:
            is_needed = self.is_needed()
            await anyio.sleep(LOOK_S if is_needed else IDLE_LOOK_S)
            if is_needed:
                await to_thread.run_sync(self.look, limiter=limiter)

    def look(self) -> None:
        """Lower the priority of those that have computed for too long."""
        there = _processes()
        self.lowered = {pid: priority for pid, priority in self.lowered.items() if pid in there}
        # Only who is new is asked for its parent: most processes of a machine are others'.
        self._parents = {pid: self._parents[pid] if pid in self._parents else _parent(pid) for pid in there}
        self._renderers = {pid: known for pid, known in self._renderers.items() if pid in there}
        for pid in there:
            if pid not in self._renderers:
                self._renderers[pid] = self._is_below(pid) and _RENDERER in _read(pid, "cmdline")
            if self._renderers[pid] and self.lowered.get(pid) != self.steps[-1][1]:
                self._lower(pid)

    def _lower(self, pid: int) -> None:
        computed_s = _computed_s(pid)
        priority = max((priority for after_s, priority in self.steps if computed_s > after_s), default=0)
        if priority > self.lowered.get(pid, 0):
            self.lowered[pid] = priority
            _set_priority(pid, priority)

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


def _set_priority(pid: int, priority: int) -> None:
    """Lower every thread: to Linux each has a priority of its own."""
    for thread in _threads(pid):
        with suppress(OSError):  # it has ended, or is another user's
            os.setpriority(os.PRIO_PROCESS, thread, priority)


def _read(pid: int, name: str) -> bytes:
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
