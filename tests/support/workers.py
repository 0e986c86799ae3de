"""How many tests run at once: `python -m tests.support.workers` prints it.

Most tests wait for other processes, so more of them run at once than there are cores. Where the cores are slow, or have
other work, they would all wait for one another until their time is up: there it is one more than there are cores.
"""

from __future__ import annotations

import os
import timeit
from concurrent.futures import ProcessPoolExecutor

_ADDITIONS = 5_000_000

_QUICK_S = 0.5
"""In which each core does the additions while the others do, too: .2 to .3 s on machines of 2024."""

_MORE_QUICK = 3
_MORE_SLOW = 1


def _loop_s(_: int) -> float:
    return min(timeit.repeat("total += 1", "total = 0", number=_ADDITIONS, repeat=3))


def workers() -> int:
    """Return how many workers pytest should have on this machine, as it is now."""
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        quick = max(pool.map(_loop_s, range(cores))) < _QUICK_S
    return cores + (_MORE_QUICK if quick else _MORE_SLOW)


if __name__ == "__main__":
    print(workers())  # noqa: T201 - what it is for
