"""What processes cost: their CPU and their memory, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def family(root: int) -> list[int]:
    """Return a process and everything that descends from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_s(pids: list[int]) -> float:
    """Return the CPU that processes have used so far, user and system, with that of their dead children."""
    return sum(sum(int(value) for value in fields[11:15]) for pid in pids if (fields := _stat(pid))) * TICK_S


def pss_mb(pid: int) -> float:
    """Return the memory of a process, of which it pays its share where it shares."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
