"""Two hundred pages captured into a collection, beside a batch run of as many in the same system."""

from __future__ import annotations

import itertools
import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import httpx2
import msgspec

from protocol.collection_views import CollectionView
from tests.bench.runs import AT_ONCE, PAGES, WARM, Pages, batch, rate
from tests.bench.servers import process
from tests.bench.table import Row
from tests.support.system import running_weft

ROUNDS = 4
LOOK_S = 0.3
"""How often a client looks how far a collection is: that is counted with its captures."""

ACTORS = "gateway,policy,navigator,verifier,sessions,runner,keeper,fetchers.intelligence"
RATIO = 0.9
"""What captures reach of a batch run, which keeps nothing but items of its result."""


async def measure() -> list[Row]:
    """Run this benchmark."""
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, site):
        pages = Pages(site.rstrip("/"), itertools.count(1))
        async with (
            running_weft(
                Path(folder) / "weft",
                ["--actors", ACTORS],
                WEFT_LOG_LEVEL="warning",
                WEFT_CAPTURES_AT_ONCE=str(AT_ONCE),
            ) as weft,
            weft.client(120) as client,
        ):
            return [await _beside(client, pages)]


async def _beside(client: httpx2.AsyncClient, pages: Pages) -> Row:
    """Do both in turn, and compare the medians."""
    await rate(partial(_captured, client), pages.some(WARM))
    await rate(partial(batch, client), pages.some(WARM))
    captured, run = list[float](), list[float]()
    for _ in range(ROUNDS):
        captured.append(await rate(partial(_captured, client), pages.some(PAGES)))
        run.append(await rate(partial(batch, client), pages.some(PAGES)))
    ours, theirs = statistics.median(captured), statistics.median(run)
    what = f"capture of {PAGES} pages, {AT_ONCE} at once: pages/s"
    return Row(what, f"{ours:.1f}/s", f"batch run {theirs:.1f}/s", ours / theirs, RATIO, ">=")


async def _captured(client: httpx2.AsyncClient, urls: list[str]) -> None:
    """Add pages to a new collection, and wait until they are captured."""
    collection = (await _tool(client, "collection.create", title="Bench"))["collectionId"]
    sources = [{"type": "url", "url": url} for url in urls]
    await _tool(client, "collection.add_sources", collectionId=collection, sources=sources)
    while True:
        answer = await client.get(f"/api/collections/{collection}", params={"limit": 1})
        view = msgspec.json.decode(answer.raise_for_status().content, type=CollectionView)
        if view.collection.captured == len(urls):
            return
        assert not view.collection.failed
        await anyio.sleep(LOOK_S)


async def _tool(client: httpx2.AsyncClient, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/tools/{name}", json=arguments)
    answer.raise_for_status()
    payload: dict[str, Any] = answer.json()["result"]["payload"]
    return payload
