"""A thousand pages of which every tenth means harm: what becomes of the harmless ones, and of the replica."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2

from tests.bench.processes import family, pss_mb
from tests.bench.servers import process
from tests.bench.table import Row
from tests.bench.tiers import PAGES
from tests.site.apps import FRAMEWORK_PAGES, HOSTILE_PAGES, build_apps
from tests.support.system import RunningWeft, running_weft

COUNT = 1_000
HOSTILE_SHARE = 10
AT_ONCE = 4
STATIC = "/article"
LEAST_CHARS = 400
"""What every harmless page shows."""


async def measure() -> list[Row]:
    """Run this benchmark."""
    build_apps()
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, site):
        async with running_weft(Path(folder), WEFT_LOG_LEVEL="error") as weft, weft.client(90) as client:
            base = site.rstrip("/")
            paths = (STATIC, *(FRAMEWORK_PAGES[name] for name in PAGES))
            harmless = {path: await _text(client, base + path) for path in paths}
            assert all(len(text) > LEAST_CHARS for text in harmless.values()), harmless
            before = await _state(weft)
            right = await _run(client, base, harmless)
            after = await _state(weft)
    wanted = sum(right.values())
    return [
        Row("harmless pages that came out right, of 1,000 pages with 10 % hostile", f"{right[True]}", f"of {wanted}",
            right[True] / wanted, 1, ">="),
        Row("replicas that lived through it", f"{len(before[0] & after[0])}", f"of {len(before[0])}",
            len(before[0] & after[0]) / len(before[0]), 1, ">="),
        Row("memory of the light tier after it", f"{after[1]:.0f} MB", f"before {before[1]:.0f} MB",
            after[1] - before[1], 150, "<=", "MB"),
    ]  # fmt: skip


async def _run(client: httpx2.AsyncClient, base: str, harmless: dict[str, str]) -> Counter[bool]:
    draw = random.Random(11)  # the same pages every time
    hostile = [path for name, path in HOSTILE_PAGES.items() if name != "escape"]
    waiting = [
        draw.choice(hostile) if draw.randrange(100) < HOSTILE_SHARE else draw.choice(list(harmless))
        for _ in range(COUNT)
    ]
    right: Counter[bool] = Counter()

    async def work() -> None:
        while waiting:
            path = waiting.pop()
            text = await _text(client, base + path)
            if path in harmless:
                right[text == harmless[path]] += 1
                if text != harmless[path]:
                    print(f"wrong: {path}: {text[:200]!r}", file=sys.stderr)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    return right


async def _text(client: httpx2.AsyncClient, url: str) -> str:
    """Return the text of a page by the light tier at most, or why there is none."""
    options = {"freshnessRequirement": "realtime", "maxCostTier": "lightweight"}
    answer = await client.post("/api/browse", json={"url": url, "options": options})
    told = answer.json()
    return str(told["content"]["text"]) if answer.is_success else f"{told['code']}: {told['error']}"


async def _state(weft: RunningWeft) -> tuple[set[str], float]:
    """Return the replicas that live, and the memory of the light tier with its engines, in MB."""
    replicas = await weft.replicas()
    light = next(int(str(one["pid"])) for one in replicas if one["actor"] == "fetchers.lightweight")
    return {str(one["replica"]) for one in replicas}, sum(map(pss_mb, family(light)))
