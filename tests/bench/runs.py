"""A run of two hundred pages through the whole system, beside a bare loop of the same fetch and extraction."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.to_thread
import httpx2
import msgspec

from actors.extraction.page import extract
from actors.runtime.launch import connect
from actors.settings import Settings
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from bus import Bus
from protocol.browse import Freshness
from protocol.runs.requests import AskRun
from protocol.runs.responses import ArtifactChunk, Run, RunAccepted
from protocol.runs.states import RunStatus
from protocol.subjects import RUN_GET
from tests.bench.servers import process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

PAGES, AT_ONCE = 200, 5
WARM = 20
ROUNDS = 3
CALLS = 100
REPLICAS = (1, 2, 4)
ACTORS = "gateway,navigator,verifier,sessions,runner,keeper,fetchers.intelligence"

RATIO = 0.7
"""What a run reaches of the bare loop at least: it is durable, and goes over the bus five times a page."""

POLL_S = 0.1
OWNER = "owner"
"""Who asks with the key of the installation."""


@dataclass
class Pages:
    """Pages of the site that nobody has seen yet, so that no cache and no earlier extraction helps anybody."""

    site: str
    numbers: Iterator[int]

    def some(self, count: int) -> list[str]:
        """Return the next ones."""
        return [f"{self.site}/note/{number}" for number in itertools.islice(self.numbers, count)]


async def measure() -> list[Row]:
    """Run this benchmark."""
    rows: list[Row] = []
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, site):
        pages = Pages(site.rstrip("/"), itertools.count(1))
        for replicas in REPLICAS:
            async with (
                running_weft(
                    Path(folder) / str(replicas), ["--actors", f"{ACTORS}={replicas}"], WEFT_LOG_LEVEL="warning"
                ) as weft,
                weft.client(60) as client,
            ):
                rows += await _beside(client, pages, replicas)
                if replicas == REPLICAS[0]:
                    rows += await _asked(weft, client, pages)
    return rows


async def _beside(client: httpx2.AsyncClient, pages: Pages, replicas: int) -> list[Row]:
    """Do both in turn, and give the best of each."""
    async with WebClient(Settings(allow_private=("127.0.0.0/8",))) as direct:
        await rate(partial(_bare, direct), pages.some(WARM))
        await rate(partial(batch, client), pages.some(WARM))
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(ROUNDS):
            ours.append(await rate(partial(batch, client), pages.some(PAGES)))
            bare.append(await rate(partial(_bare, direct), pages.some(PAGES)))
    what = f"run of {PAGES} pages, {AT_ONCE} at once, {replicas} fetchers: pages/s"
    return [
        Row(what, f"{max(ours):.1f}/s", f"bare loop {max(bare):.1f}/s", max(ours) / max(bare), RATIO, ">="),
    ]


async def rate(work: Callable[[list[str]], Awaitable[object]], urls: list[str]) -> float:
    began = time.perf_counter()
    await work(urls)
    return len(urls) / (time.perf_counter() - began)


async def _bare(client: WebClient, urls: list[str]) -> None:
    """Get pages and extract from them, some at once, and nothing else."""
    left = iter(urls)

    async def work() -> None:
        for url in left:
            found = await client.fetch(WebRequest(url, freshness=Freshness.ANY), Jar(), 10_000)
            await anyio.to_thread.run_sync(_extracted, found.body, found.content_type, found.url)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)


def _extracted(body: bytes, content_type: str, url: str) -> None:
    extract(body, content_type, url, include_html=False, captured_at=None)


async def batch(client: httpx2.AsyncClient, urls: list[str]) -> Run:
    """Have a run read pages, from the question to the end as a client sees it."""
    run_id = await _begin(client, urls)
    while not (run := await _get(client, run_id)).status.final:
        await anyio.sleep(POLL_S)
    assert run.status is RunStatus.SUCCEEDED, run
    return run


async def _begin(client: httpx2.AsyncClient, urls: list[str]) -> str:
    inputs = {"urls": urls, "concurrency": AT_ONCE}
    body = {"templateId": "batch_extract_pages", "inputs": inputs, "options": {"mode": "async"}}
    answer = await client.post("/api/runs", json=body)
    return msgspec.json.decode(answer.raise_for_status().content, type=RunAccepted).run_id


async def _get(client: httpx2.AsyncClient, run_id: str) -> Run:
    answer = await client.get(f"/api/runs/{run_id}")
    return msgspec.json.decode(answer.raise_for_status().content, type=Run)


async def _asked(weft: RunningWeft, client: httpx2.AsyncClient, pages: Pages) -> list[Row]:
    """Return what it takes to ask how a run stands, while it goes on and after it, and to read its file."""
    run_id = await _begin(client, pages.some(PAGES))
    async with connect(Settings(data_dir=weft.data_dir), stdio=True) as bus:
        over_rest, over_bus = partial(_get, client, run_id), partial(_get_by_bus, bus, run_id)
        during = await _p50_ms(over_rest, over_bus)
        going_on = (await over_rest()).status is RunStatus.RUNNING
        while not (run := await over_rest()).status.final:
            await anyio.sleep(POLL_S)
        after = await _p50_ms(over_rest, over_bus)
    assert going_on, "the run was over too early"
    speed, size = await _read_mb_s(client, run)
    rest, by_bus = (f"bus {during[1]:.1f} ms", f"bus {after[1]:.1f} ms")
    return [
        Row("get_task_run over REST, the run going on, p50", f"{during[0]:.1f} ms", rest, during[0], 25, "<=", "ms"),
        Row(f"the same at its end, with {PAGES} items", f"{after[0]:.1f} ms", by_bus, after[0], 15, "<=", "ms"),
        Row("a file of a run, read in base64", f"{size / 1e6:.1f} MB", "-", speed, 20, ">=", "MB/s"),
    ]  # fmt: skip


async def _get_by_bus(bus: Bus, run_id: str) -> Run:
    return await bus.call(RUN_GET, AskRun(run_id=run_id, caller=OWNER))


async def _p50_ms(*asks: Callable[[], Awaitable[Run]]) -> list[float]:
    """Ask in several ways in turn, and give the median of each."""
    times: list[list[float]] = [[] for _ in asks]
    for _ in range(CALLS):
        for ask, found in zip(asks, times, strict=True):
            began = time.perf_counter()
            await ask()
            found.append(time.perf_counter() - began)
    return [statistics.median(found) * 1000 for found in times]


async def _read_mb_s(client: httpx2.AsyncClient, run: Run) -> tuple[float, int]:
    """Read the file of a run several times; the best rate in MB/s, and its size in bytes."""
    assert run.artifacts
    (kept,) = run.artifacts
    rates: list[float] = []
    for _ in range(ROUNDS * 3):
        began, offset = time.perf_counter(), 0
        while offset < kept.size:
            answer = await client.get(f"/api/artifacts/{kept.artifact_id}", params={"offset": offset})
            offset += len(msgspec.json.decode(answer.raise_for_status().content, type=ArtifactChunk).data)
        rates.append(kept.size / 1e6 / (time.perf_counter() - began))
    return max(rates), kept.size
