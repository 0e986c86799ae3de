"""A static page through the whole system, beside the same fetch and extraction in one Python process."""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2

from actors.extraction.page import extract
from actors.settings import Settings
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from protocol.browse import Freshness
from tests.bench.processes import cpu_s
from tests.bench.servers import process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

PAGES_AT = "/prose/"
"""Articles of some 17 KB, each with words of its own; no page is asked for twice, so that none is known from before."""

ROUNDS = 6
CALLS = 40
AT_ONCE = 8
PAGES = 240


async def measure() -> list[Row]:
    """Run this benchmark."""
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, site):
        pages = map(f"{site.rstrip('/')}{PAGES_AT}{{}}".format, itertools.count())
        rows = await _latency(Path(folder) / "one", pages)
        return rows + await _throughput(Path(folder), pages)


async def _latency(folder: Path, pages: Iterator[str]) -> list[Row]:
    settings = Settings(allow_private=("127.0.0.0/8",))
    async with (
        WebClient(settings) as direct,
        running_weft(folder, WEFT_LOG_LEVEL="warning") as weft,
        weft.client() as client,
    ):

        async def peer() -> None:
            found = await direct.fetch(WebRequest(next(pages), freshness=Freshness.REALTIME), Jar(), 10_000)
            await anyio.to_thread.run_sync(_extracted, found.body, found.content_type, found.url)

        async def ours() -> None:
            await _browse(client, next(pages))

        await _timed(peer, 5)
        await _timed(ours, 5)
        times: tuple[list[float], list[float]] = ([], [])
        cpu: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for index, (call, pids) in enumerate(((ours, await _pids(weft)), (peer, [os.getpid()]))):
                before = cpu_s(pids)
                times[index].append(await _timed(call, CALLS))
                cpu[index].append((cpu_s(pids) - before) / CALLS)
    ours_ms, peer_ms = (min(found) * 1000 for found in times)
    ours_cpu, peer_cpu = (statistics.median(found) * 1000 for found in cpu)
    return [
        Row("browse of 17 KB, p50, beyond the direct way", f"{ours_ms:.1f} ms", f"direct {peer_ms:.1f} ms",
            ours_ms - peer_ms, 6, "<=", "ms"),
        Row("browse of 17 KB, CPU, beyond the direct way", f"{ours_cpu:.1f} ms", f"direct {peer_cpu:.1f} ms",
            ours_cpu - peer_cpu, 3, "<=", "ms"),
    ]  # fmt: skip


def _extracted(body: bytes, content_type: str, url: str) -> None:
    extract(body, content_type, url, include_html=False, captured_at=None)


async def _throughput(folder: Path, pages: Iterator[str]) -> list[Row]:
    """Pages a second with one event loop, and with processes and two fetchers."""
    rates: list[float] = []
    actors = "gateway,navigator,verifier,fetchers.intelligence=2"
    for name, arguments in (("single", ["--single-process"]), ("multi", ["--actors", actors])):
        async with running_weft(folder / name, arguments, WEFT_LOG_LEVEL="warning") as weft, weft.client() as client:
            await _pages(client, pages, 20)
            rates.append(max([await _pages(client, pages, PAGES) for _ in range(3)]))
    single, multi = rates
    return [
        Row("pages/s, processes with 2 fetchers beside one process", f"{multi:.0f}/s", f"one process {single:.0f}/s",
            multi / single, 1.0, ">=")
    ]  # fmt: skip


async def _pages(client: httpx2.AsyncClient, pages: Iterator[str], count: int) -> float:
    left = count

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await _browse(client, next(pages))

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    return count / (time.perf_counter() - started)


async def _browse(client: httpx2.AsyncClient, url: str) -> None:
    body = {"url": url, "options": {"freshnessRequirement": "realtime"}}
    (await client.post("/api/browse", json=body)).raise_for_status()


async def _timed(call: Callable[[], Awaitable[None]], count: int) -> float:
    """Return the median of some calls, in seconds."""
    found: list[float] = []
    for _ in range(count):
        begun = time.perf_counter()
        await call()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)


async def _pids(weft: RunningWeft) -> list[int]:
    nats = int(next(Path(weft.data_dir / "nats").glob("nats-server_*.ports")).stem.rpartition("_")[2])
    return [*(int(str(replica["pid"])) for replica in await weft.replicas()), nats]
