"""Hostile pages through the extractor of the fetchers: how long each takes, in what memory, and what others wait."""

from __future__ import annotations

import time
from functools import partial

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct

from actors.fetchers.extraction_worker import MAX_SECONDS
from actors.fetchers.extractor import Extractor, WorkerDiedError, WorkerProcess, ordinary
from protocol.faults import Fault, FaultError
from tests.bench.table import Row
from tests.unit.actors.extraction.hostile.pages import PAGES
from tests.unit.actors.extraction.hostile.subject import URL, extract, peak

SECONDS = 2.0
MEGABYTES = 400.0
DELAY_MS = 200.0
"""What the page may cost, and how late other work of the replica may be."""

_MB = 1_000_000


class Cost(Struct):
    """What one page took, and how it ended."""

    seconds: float
    megabytes: float
    delay_ms: float
    end: str


async def measure() -> list[Row]:
    """Return the rows of this benchmark: three for every page."""
    rows: list[Row] = []
    for name, made in PAGES.items():
        cost = await _cost(made(1.0))
        size = f"{len(made(1.0)) / _MB:.1f} MB, {cost.end}"
        rows += [
            Row(name, f"{cost.seconds:.2f} s", size, cost.seconds, SECONDS, "<=", "s"),
            Row(name, f"{cost.megabytes:.0f} MB", size, cost.megabytes, MEGABYTES, "<=", "MB"),
            Row(name, f"{cost.delay_ms:.0f} ms", size, cost.delay_ms, DELAY_MS, "<=", "ms late"),
        ]
    return rows


async def _cost(body: bytes) -> Cost:
    delays, end, seconds = [0.0], "", 0.0
    async with Extractor() as extractor, anyio.create_task_group() as tasks:
        await extractor.run(extract, b"<" * 50_000, "text/html", URL)  # the process is there
        tasks.start_soon(_watch, delays)
        await checkpoint()
        start = time.perf_counter()
        try:
            await extractor.run(extract, body, "text/html", URL)
            end = "thread" if ordinary(body) else "process"
        except FaultError as error:
            end = error.fault.code
        seconds = time.perf_counter() - start
        tasks.cancel_scope.cancel()
    return Cost(seconds, await _megabytes(body), max(delays) * 1_000, end)


async def _watch(delays: list[float]) -> None:
    while True:
        start = time.perf_counter()
        await anyio.sleep(0.001)
        delays.append(time.perf_counter() - start - 0.001)


async def _megabytes(body: bytes) -> float:
    """Measure the most memory that a process has held which reads one page; its bound, where it broke it."""
    worker = WorkerProcess()
    await worker.prepare(peak.__module__)
    try:
        with anyio.move_on_after(3 * MAX_SECONDS):
            found = await worker.call(partial(peak, body))
            return MEGABYTES if isinstance(found, Fault) else found / _MB
    except WorkerDiedError:
        pass
    finally:
        await worker.end()
    return MEGABYTES
