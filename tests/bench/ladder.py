"""The whole ladder over a mix of pages, beside the same pages all in the browser at the same concurrency."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2

from protocol.tiers import RenderTier
from tests.bench.processes import cpu_s, family
from tests.bench.servers import process
from tests.bench.table import Row
from tests.bench.tiers import PAGES
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES, build_apps
from tests.support.system import RunningWeft, running_weft

STATIC_SHARE, LIGHT_SHARE = 60, 25
"""Of a hundred pages; the other 15 need a browser."""

COUNT = 200
AT_ONCE = 8
LIGHT_PAGES = tuple(name for name in PAGES if name != "vue-router-pinia")
"""That one shows 471 characters, and what is shorter than 500 goes on to a browser by rule (000 §6)."""

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
"""One host for each kind of page, as on the web a host is mostly of one kind."""


async def measure() -> list[Row]:
    """Run this benchmark."""
    build_apps()
    with TemporaryDirectory(prefix="weft-bench-") as folder, ExitStack() as stack:
        sites = [stack.enter_context(process("tests.site", "0", host))[1].rstrip("/") for host in HOSTS]
        urls = _mix(sites)
        async with running_weft(Path(folder), WEFT_LOG_LEVEL="error") as weft, weft.client(60) as client:
            await _run(weft, client, urls[:40], None)
            await _run(weft, client, urls[:8], RenderTier.PLAYWRIGHT)
            rate, cpu_ms = await _run(weft, client, urls, None)
            browser_rate, browser_cpu_ms = await _run(weft, client, urls, RenderTier.PLAYWRIGHT)
    return [
        Row("60 % static, 25 % light, 15 % browser: pages/s of the ladder", f"{rate:.1f}/s",
            f"browser alone {browser_rate:.1f}/s", rate / browser_rate, 3, ">="),
        Row("the same: CPU a page, all processes", f"{cpu_ms:.0f} ms", f"browser alone {browser_cpu_ms:.0f} ms",
            cpu_ms / browser_cpu_ms, 1 / 3, "<="),
    ]  # fmt: skip


def _mix(sites: list[str]) -> list[str]:
    """Draw pages of the three kinds in their shares; every address of a static page is another one."""
    draw = random.Random(5)  # the same mix every time
    static, light, browser = sites
    pages: list[str] = []
    for number in range(COUNT):
        kind = draw.randrange(100)
        if kind < STATIC_SHARE:
            pages.append(f"{static}/article?{number}")
        elif kind < STATIC_SHARE + LIGHT_SHARE:
            pages.append(light + FRAMEWORK_PAGES[draw.choice(LIGHT_PAGES)])
        else:
            pages.append(browser + BROWSER_PAGES[draw.choice(("webgl", "socket", "service-worker"))])
    return pages


async def _run(
    weft: RunningWeft, client: httpx2.AsyncClient, urls: list[str], tier: RenderTier | None
) -> tuple[float, float]:
    """Get every page; gives pages a second, and the CPU of all processes a page in ms."""
    waiting = list(reversed(urls))
    root = weft.process.pid

    async def work() -> None:
        while waiting:
            options: dict[str, object] = {"freshnessRequirement": "realtime"}
            if tier is not None:
                options["forceTier"] = tier
            body = {"url": waiting.pop(), "options": options}
            (await client.post("/api/browse", json=body)).raise_for_status()

    before_s, begun = cpu_s(family(root)), time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    wall_s = time.perf_counter() - begun
    return len(urls) / wall_s, (cpu_s(family(root)) - before_s) * 1000 / len(urls)
