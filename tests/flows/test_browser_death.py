"""A replica of the browser tier that dies in the middle of a fetch costs its caller one retry at most."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actors.fetchers.playwright import memory
from tests.flows.system import System, weft_up
from tests.site import Site
from tests.support.scale import first

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

BROWSER = "fetchers.playwright"
DEADLINE_MS = 60_000


def pids(system: System) -> list[int]:
    return [int(str(replica["pid"])) for replica in system.replicas() if replica["actor"] == BROWSER]


def with_browser(replicas: list[int]) -> list[int]:
    """Find the replicas that have started a browser: those that were asked for a page."""
    return [pid for pid in replicas if any(memory.children(pid, "playwright/driver"))]


@pytest.mark.full
@pytest.mark.parametrize("replicas", first(1, [1, 2]))
def test_a_fetch_outlives_the_replica_that_had_it(tmp_path: Path, site: Site, replicas: int) -> None:
    actors = f"gateway,navigator,verifier,{BROWSER}={replicas}"
    with weft_up(tmp_path, "--actors", actors) as system, ThreadPoolExecutor(1) as threads:
        candidates = pids(system)
        assert len(candidates) == replicas
        path = f"/slow?ms=2500&n={replicas}"
        before = site.hits["/slow"]
        began = time.monotonic()
        call = threads.submit(system.page, site.url(path), forceTier="playwright", maxLatencyMs=DEADLINE_MS)
        while site.hits["/slow"] == before:
            assert time.monotonic() - began < DEADLINE_MS / 1000
            time.sleep(0.02)
        (victim,) = with_browser(candidates)
        os.kill(victim, signal.SIGKILL)
        found = call.result(DEADLINE_MS / 1000)

        assert (found.metadata.tier, found.title) == ("playwright", "How a loom is warped")
        assert site.hits["/slow"] - before == 2
