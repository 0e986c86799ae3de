"""A page whose API is known, beside the first visit of such a page in a browser: time, and CPU of all processes.

`BENCH_API_MS` says how long the API of the applications takes for each answer.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2
import msgspec

from protocol.browse import BrowseResult
from tests.bench.processes import cpu_s, family
from tests.bench.servers import process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

APPS = ("stories", "gazette", "press", "stream", "quotes", "nextdoor", "remixed", "headers")
"""Applications whose pages are made of one request each."""

API_MS = int(os.environ.get("BENCH_API_MS", "20"))

LEARNED_FROM = 3
ROUNDS = 2
ASKED = 5
LEARN_S = 60.0
POLL_S = 0.1

PUBLISHED = "unbrowse, published: 3.6 x mean, 5.4 x median (arXiv 2604.00694)"
"""What the peer says of itself over 94 sites; not measured here."""


@dataclass
class Visits:
    """What visits took: seconds of wall each, and of the CPU of all processes together."""

    wall_s: list[float] = field(default_factory=list[float])
    cpu_s: float = 0.0

    @property
    def median_ms(self) -> float:
        """The median of the wall time, in ms."""
        return statistics.median(self.wall_s) * 1000

    @property
    def cpu_ms(self) -> float:
        """The CPU of one visit, in ms."""
        return self.cpu_s * 1000 / len(self.wall_s)


async def measure() -> list[Row]:
    """Run this benchmark: first a Weft that learns nothing, then one that does."""
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.patterns", str(API_MS), *APPS) as (_, line):
        pages = msgspec.json.decode(line, type=dict[str, list[str]])
        unseen = [url for urls in pages.values() for url in urls[LEARNED_FROM:]]

        async with (
            running_weft(Path(folder, "off"), WEFT_PATTERN_LEARNING="false", WEFT_LOG_LEVEL="error") as weft,
            weft.client(60) as client,
        ):
            await _browse(client, unseen[0], forceTier="playwright")  # starts the browser
            first = await _visits(weft, client, unseen, forceTier="playwright")
        async with running_weft(Path(folder, "on"), WEFT_LOG_LEVEL="error") as weft, weft.client(60) as client:
            await _learn(client, pages)
            again = await _visits(weft, client, unseen * ROUNDS)
            api_ms = await _asked_alone([await _api_of(client, urls[-1]) for urls in pages.values()])
    return _rows(first, again, api_ms)


async def _learn(client: httpx2.AsyncClient, pages: Mapping[str, Sequence[str]]) -> None:
    for urls in pages.values():
        for url in urls[:LEARNED_FROM]:
            await _browse(client, url, forceTier="playwright")
    for name, urls in pages.items():
        with anyio.move_on_after(LEARN_S):
            while not _by_pattern(await _browse(client, urls[0])):
                await anyio.sleep(POLL_S)
            continue
        msg = f"{name} was not learned"
        raise AssertionError(msg)


async def _api_of(client: httpx2.AsyncClient, url: str) -> str:
    """Return the address that a page by its pattern is made of."""
    network = (await _browse(client, url, includeNetwork=True)).network
    assert network, url
    return network[-1].url


async def _asked_alone(apis: Sequence[str]) -> float:
    """Return what the APIs take by themselves: the median of a plain client that asks nothing else, in ms."""
    took_s: list[float] = []
    async with httpx2.AsyncClient() as client:
        for url in [*apis] * ASKED:
            began = time.perf_counter()
            await client.get(url)
            took_s.append(time.perf_counter() - began)
    return statistics.median(took_s) * 1000


async def _visits(weft: RunningWeft, client: httpx2.AsyncClient, urls: Sequence[str], **options: object) -> Visits:
    visits, root = Visits(), weft.process.pid
    before_s = cpu_s(family(root))
    for url in urls:
        began = time.perf_counter()
        result = await _browse(client, url, **options)
        visits.wall_s.append(time.perf_counter() - began)
        assert _by_pattern(result) is not bool(options), url
    visits.cpu_s = cpu_s(family(root)) - before_s
    return visits


async def _browse(client: httpx2.AsyncClient, url: str, **options: object) -> BrowseResult:
    body = {"url": url, "options": {"freshnessRequirement": "realtime", **options}}
    answer = await client.post("/api/browse", json=body)
    return msgspec.json.decode(answer.raise_for_status().content, type=BrowseResult)


def _by_pattern(result: BrowseResult) -> bool:
    return bool(result.learning_insights and result.learning_insights.patterns_applied)


def _rows(first: Visits, again: Visits, api_ms: float) -> list[Row]:
    mean = statistics.mean(first.wall_s) / statistics.mean(again.wall_s)
    return [
        Row("unseen page of a known API, p50, beyond its API asked alone", f"{again.median_ms:.1f} ms",
            f"API {api_ms:.1f} ms, browser {first.median_ms:.0f} ms", again.median_ms - api_ms, 15, "<=", "ms"),
        Row(f"the same, times faster than a first visit (mean {mean:.1f} x)", f"{again.median_ms:.1f} ms", PUBLISHED,
            first.median_ms / again.median_ms, 10, ">="),
        Row("the same, CPU of all processes", f"{again.cpu_ms:.1f} ms", f"browser {first.cpu_ms:.0f} ms",
            first.cpu_ms / again.cpu_ms, 5, ">="),
    ]  # fmt: skip
