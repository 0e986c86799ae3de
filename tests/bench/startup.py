"""What it costs to start a system, to keep it idle, and to have a killed actor back."""

from __future__ import annotations

import os
import signal
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from tests.bench.processes import cpu_s, family, pss_mb
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

ACTORS = "gateway,navigator=3,verifier=3,fetchers.intelligence=3"
REPLICAS = 10
ROUNDS = 3
IDLE_S = 1.0


async def measure() -> list[Row]:
    """Run this benchmark."""
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        single = [await _start(Path(folder) / f"single{n}", "--single-process") for n in range(ROUNDS)]
        multi = [await _start(Path(folder) / f"multi{n}") for n in range(ROUNDS)]
        async with running_weft(Path(folder) / "idle", ["--actors", ACTORS], WEFT_LOG_LEVEL="warning") as weft:
            await anyio.sleep(IDLE_S)
            pids = {int(str(replica["pid"])) for replica in await weft.replicas()}
            actor_mb = statistics.mean(pss_mb(pid) for pid in pids)
            system_mb = sum(pss_mb(pid) for pid in family(weft.process.pid))
            back_s = statistics.median([await _kill(weft, "navigator") for _ in range(5)])
    wall, cpu = min(one[0] for one in multi), min(one[1] for one in multi)
    single_wall = min(one[0] for one in single)
    return [
        Row(f"weft up, {REPLICAS} replicas: CPU until ready", f"{cpu:.2f} s", "-", cpu, 1.5, "<=", "s"),
        Row(f"weft up, {REPLICAS} replicas: wall until ready", f"{wall:.2f} s", f"one process {single_wall:.2f} s",
            wall / single_wall, 2.0, "<="),
        Row("PSS of an idle actor process", f"{actor_mb:.1f} MB", f"mean of {len(pids)}", actor_mb, 10, "<=", "MB"),
        Row("PSS of the whole idle system", f"{system_mb:.0f} MB", "with nats-server", system_mb, 150, "<=", "MB"),
        Row("kill -9 of an actor to serving again", f"{back_s * 1000:.0f} ms", "-", back_s, 0.5, "<=", "s"),
    ]  # fmt: skip


async def _start(folder: Path, *arguments: str) -> tuple[float, float]:
    """Return the wall time and the CPU, in seconds, until every actor serves."""
    begun = time.perf_counter()
    async with running_weft(folder, ["--actors", ACTORS, *arguments], WEFT_LOG_LEVEL="warning") as weft:
        return time.perf_counter() - begun, cpu_s(family(weft.process.pid))


async def _kill(weft: RunningWeft, actor: str) -> float:
    """Kill one replica and give the seconds until another process has taken its place."""
    victim = next(int(str(one["pid"])) for one in await weft.replicas() if one["actor"] == actor)
    before = set(family(weft.process.pid))
    begun = time.perf_counter()
    os.kill(victim, signal.SIGKILL)
    ready = weft.log_text().count("replica_ready")
    with anyio.fail_after(90):
        while set(family(weft.process.pid)) <= before or weft.log_text().count("replica_ready") < ready:
            await anyio.sleep(0.002)
    return time.perf_counter() - begun
