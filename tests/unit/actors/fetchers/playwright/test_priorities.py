"""Processes that compute for long get less of the processors, and others keep what they have."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from actors.fetchers.playwright.priorities import LOW_PRIORITY, Priorities

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


def test_a_renderer_that_computes_without_end_gives_way_and_nobody_else() -> None:
    looping, idle, renderer = "while True: pass", "import time; time.sleep(600)", "--type=renderer"
    own = Priorities(os.getpid(), patience_s=0.2)
    with running(looping, renderer) as busy, running(idle, renderer) as resting, running(looping, "x") as other:
        until = time.monotonic() + HANG_S
        while busy not in own.lowered and time.monotonic() < until:
            time.sleep(0.05)
            own.look()

        assert [priority(pid) for pid in (busy, resting, other)] == [LOW_PRIORITY, 0, 0]
    own.look()
    assert busy not in own.lowered
