"""The three tiers beside each other on the same pages: time, CPU and memory, each with its engine counted."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from protocol.tiers import RenderTier
from tests.bench.processes import cpu_s, family, pss_mb
from tests.bench.servers import process
from tests.bench.table import Row
from tests.site.apps import FRAMEWORK_PAGES, build_apps
from tests.support.system import RunningWeft, running_weft

PAGES = (
    *("react", "react-router", "react-query-lazy", "vue", "vue-router-pinia", "svelte"),
    *("lit", "preact-signals", "solid", "angular", "alpine", "elements"),
)
"""Twelve framework pages; the medians over them are what counts."""

STATIC = "/article"
ROUNDS = 5
INTELLIGENCE, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT


@dataclass
class Cost:
    """What one tier took: seconds of wall and CPU for each page, over its rounds; memory in MB at its highest."""

    wall_s: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    cpu_s: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    pss_mb: float = 0.0

    def median_ms(self, figures: dict[str, list[float]]) -> float:
        """Return the median over the pages of each page's own median, in ms."""
        return statistics.median(statistics.median(found) for found in figures.values()) * 1000

    def percentile_ms(self, share: int) -> float:
        """Return a percentile of all rounds of all pages, in ms."""
        every = sorted(second for found in self.wall_s.values() for second in found)
        return every[min(len(every) * share // 100, len(every) - 1)] * 1000


async def measure() -> list[Row]:
    """Run this benchmark."""
    build_apps()
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, site):
        async with running_weft(Path(folder), WEFT_LOG_LEVEL="error") as weft, weft.client(60) as client:
            base = site.rstrip("/")
            apps = {name: base + FRAMEWORK_PAGES[name] for name in PAGES}
            costs = {tier: await _costs(weft, client, tier, apps) for tier in (LIGHT, BROWSER)}
            plain = await _costs(weft, client, INTELLIGENCE, {"article": base + STATIC})
    return _rows(plain, costs[LIGHT], costs[BROWSER])


async def _costs(weft: RunningWeft, client: httpx2.AsyncClient, tier: RenderTier, pages: dict[str, str]) -> Cost:
    replica = next(one for one in await weft.replicas() if one["actor"] == f"fetchers.{tier}")
    pid = int(str(replica["pid"]))
    cost = Cost()
    for url in pages.values():
        await _browse(client, url, tier)  # what is started and loaded once
    for _ in range(ROUNDS):
        for name, url in pages.items():
            before_s, begun = cpu_s(family(pid)), time.perf_counter()
            await _browse(client, url, tier)
            cost.wall_s.setdefault(name, []).append(time.perf_counter() - begun)
            cost.cpu_s.setdefault(name, []).append(cpu_s(family(pid)) - before_s)
        cost.pss_mb = max(cost.pss_mb, sum(map(_pss_mb, family(pid))))
    return cost


def _pss_mb(pid: int) -> float:
    try:
        return pss_mb(pid)
    except OSError:
        return 0.0


async def _browse(client: httpx2.AsyncClient, url: str, tier: RenderTier) -> None:
    options = {"freshnessRequirement": "realtime", "forceTier": tier}
    (await client.post("/api/browse", json={"url": url, "options": options})).raise_for_status()


def _rows(plain: Cost, light: Cost, browser: Cost) -> list[Row]:
    cpu_ms, browser_cpu_ms = (cost.median_ms(cost.cpu_s) for cost in (light, browser))
    wall_ms, browser_wall_ms = (cost.median_ms(cost.wall_s) for cost in (light, browser))
    spread = [f"{cost.percentile_ms(50):.0f} / {cost.percentile_ms(95):.0f} ms" for cost in (plain, light, browser)]
    return [
        Row("wall of a page, p50 / p95: intelligence (static)", spread[0], f"{plain.pss_mb:.0f} MB",
            plain.percentile_ms(50), 200, "<=", "ms"),
        Row("wall of a page, p50 / p95: lightweight", spread[1], f"{light.pss_mb:.0f} MB",
            light.percentile_ms(50), 500, "<=", "ms"),
        Row("wall of a page, p50 / p95: playwright", spread[2], f"{browser.pss_mb:.0f} MB",
            browser.percentile_ms(50), 5_000, "<=", "ms"),
        Row("framework pages, CPU: a warm browser beside lightweight", f"{cpu_ms:.0f} ms",
            f"browser {browser_cpu_ms:.0f} ms", browser_cpu_ms / cpu_ms, 3, ">="),
        Row("framework pages, wall: a warm browser beside lightweight", f"{wall_ms:.0f} ms",
            f"browser {browser_wall_ms:.0f} ms", browser_wall_ms / wall_ms, 1.4, ">="),
        Row("framework pages, PSS: a warm browser beside lightweight", f"{light.pss_mb:.0f} MB",
            f"browser {browser.pss_mb:.0f} MB", browser.pss_mb / light.pss_mb, 2.5, ">="),
        Row("framework pages, CPU in lightweight", f"{cpu_ms:.0f} ms", "", cpu_ms, 90, "<=", "ms"),
    ]  # fmt: skip
