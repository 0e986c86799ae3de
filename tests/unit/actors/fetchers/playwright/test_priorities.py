"""Processes that compute for long get less of the processors, and others keep what they have."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from actors.fetchers.playwright.priorities import Priorities

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of processes in this way")
HANG_S = 60.0


@contextmanager
def running(program: str, mark: str) -> Generator[int]:
    with subprocess.Popen([sys.executable, "-c", program, mark]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def priority(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


@pytest.mark.slow
def test_a_renderer_that_computes_without_end_gives_way_step_by_step_and_nobody_else() -> None:
    looping, idle, renderer = "while True: pass", "import time; time.sleep(600)", "--type=renderer"
    own, seen = Priorities(os.getpid(), steps=((0.1, 10), (0.2, 15))), list[int]()
    with running(looping, renderer) as busy, running(idle, renderer) as resting, running(looping, "x") as other:
        until = time.monotonic() + HANG_S
        while seen[-1:] != [15] and time.monotonic() < until:
            time.sleep(0.01)
            own.look()
            if (now := priority(busy)) not in seen:
                seen.append(now)

        assert seen == [0, 10, 15]
        assert [priority(pid) for pid in (resting, other)] == [0, 0]
    own.look()
    assert busy not in own.lowered
