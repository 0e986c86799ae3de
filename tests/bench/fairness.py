"""What one key waits for its pages while another has every tier full, beside what it waits alone."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2

from protocol.tiers import RenderTier
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

ROUNDS = 15
WARM = 2
SETTLED_S = 6.0
"""How long the greedy key is at it before the other one is measured."""

GREEDY_MS = 20_000
MODEST_MS = 60_000
WORDS = " ".join(f"Thread {number} of the warp is drawn through its heddle." for number in range(60))
PAGE = f"<!doctype html><title>A loom</title><article><h1>A loom</h1><p>{WORDS}</p></article>"
FILL = f"m.innerHTML = `<h1>A loom</h1><p>{WORDS}</p>`"
SCRIPTED = f"<!doctype html><title>A loom</title><main id=m></main><script>{FILL}</script>"
LOOPING = f"{PAGE}<script>for (;;) {{}}</script>"


@dataclass(frozen=True)
class Load:
    """What the greedy key asks for in one tier: so many pages at once, and what the other key reads meanwhile."""

    tier: RenderTier
    at_once: int
    greedy: str
    modest: str


LOADS = (
    Load(RenderTier.INTELLIGENCE, 95, "slow", "page"),
    Load(RenderTier.LIGHTWEIGHT, 40, "looping", "scripted"),
    Load(RenderTier.PLAYWRIGHT, 20, "looping", "scripted"),
)


async def measure() -> list[Row]:
    """Run this benchmark: a row for each tier, and one that says how the greedy key fared."""
    rows: list[Row] = []
    async with _site() as port:
        for load in LOADS:
            # A Weft of its own: what one tier still has in hand is none of the next one's business.
            with TemporaryDirectory(prefix="weft-bench-") as folder:
                async with running_weft(Path(folder), WEFT_LOG_LEVEL="error") as weft:
                    rows += await _measure(weft, port, load)
    return rows


async def _measure(weft: RunningWeft, port: int, load: Load) -> list[Row]:
    async with await _keyed(weft, "modest") as modest, await _keyed(weft, "greedy") as greedy:
        reader = _Reader(modest, f"http://127.0.0.1:{port}/{load.modest}", load.tier)
        await reader.read(WARM)
        alone = await reader.read(ROUNDS)
        ends, beside = Counter[str](), list[float]()
        async with anyio.create_task_group() as tasks:
            for number in range(load.at_once):
                tasks.start_soon(
                    _be_greedy, greedy, f"http://127.0.1.{number + 1}:{port}/{load.greedy}", load.tier, ends
                )
            await anyio.sleep(SETTLED_S)
            beside += await reader.read(ROUNDS)
            tasks.cancel_scope.cancel()
    ratio = _p95(beside) / _p95(alone)
    what = f"{load.tier.value}: p50 / p95 of a page beside {load.at_once} {load.greedy} ones of another key"
    told = ", ".join(f"{name} {count}" for name, count in sorted(ends.items())) or "all at work"
    return [Row(what, _words(beside), f"alone {_words(alone)}; greedy: {told}", ratio, 2, "<=")]


@dataclass
class _Reader:
    client: httpx2.AsyncClient
    url: str
    tier: RenderTier
    count: int = field(default=0)

    async def read(self, rounds: int) -> list[float]:
        """Read pages one after the other; returns what each took, in seconds."""
        taken: list[float] = []
        for _ in range(rounds):
            self.count += 1
            began = time.perf_counter()
            answer = await _ask(self.client, f"{self.url}?{self.count}", self.tier, MODEST_MS)
            answer.raise_for_status()
            taken.append(time.perf_counter() - began)
        return taken


async def _be_greedy(client: httpx2.AsyncClient, url: str, tier: RenderTier, ends: Counter[str]) -> None:
    number = 0
    while True:
        number += 1
        with suppress(httpx2.HTTPError):
            answer = await _ask(client, f"{url}?{number}", tier, GREEDY_MS)
            ends[str(answer.status_code)] += 1
            await anyio.sleep(float(answer.headers.get("Retry-After", 0)))


async def _ask(client: httpx2.AsyncClient, url: str, tier: RenderTier, timeout_ms: int) -> httpx2.Response:
    options = {"freshnessRequirement": "realtime", "forceTier": tier.value, "maxLatencyMs": timeout_ms}
    return await client.post("/api/browse", json={"url": url, "options": options})


async def _keyed(weft: RunningWeft, name: str) -> httpx2.AsyncClient:
    async with weft.client() as owner:
        made = (await owner.post("/api/keys", json={"name": name, "scopes": ["browse"]})).raise_for_status().json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    limits = httpx2.Limits(max_connections=None)
    return httpx2.AsyncClient(base_url=weft.ready.rest, headers=headers, timeout=90, trust_env=False, limits=limits)


@asynccontextmanager
async def _site() -> AsyncGenerator[int]:
    """Serve the pages at every address of loopback, in this process."""
    pages = {"page": PAGE, "scripted": SCRIPTED, "looping": LOOPING}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode().strip("/").partition("?")[0]
            if path == "slow":
                await asyncio.sleep(600)
            body = pages.get(path, "").encode()
            head = f"HTTP/1.1 {200 if body else 404} OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
            await writer.drain()
            writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)  # noqa: S104 - each address of loopback is a host
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def _p95(taken: list[float]) -> float:
    return sorted(taken)[min(len(taken) * 95 // 100, len(taken) - 1)]


def _words(taken: list[float]) -> str:
    return f"{sorted(taken)[len(taken) // 2] * 1_000:.0f} / {_p95(taken) * 1_000:.0f} ms"
