"""What recording conversations costs, and whether recorded ones are done again packet by packet."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2
import msgspec

from actors.replay.replaying import Replayed, replay
from protocol.recordings import ConversationRecording
from tests.bench.processes import cpu_s, family
from tests.bench.servers import process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft

ACTORS = "gateway,navigator,verifier,fetchers.intelligence,fetchers.lightweight,runner,keeper,policy,answerer,router"
ROUNDS = 24
"""Rounds differ by some 5 %, the mean of so many by 1 %: what a machine does meanwhile meets both sides alike."""

PAGES = 60
AT_ONCE = 2
CONVERSATIONS = 200
SENT_S = 5.0
"""After so long all that was noted is kept."""

Post = tuple[str, dict[str, object]]


Cost = Callable[[Iterator[str], int], Awaitable[float]]
"""Asks for so many pages, and returns the CPU seconds of one."""


async def measure() -> list[Row]:
    """Run this benchmark."""
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0") as (_, root):
        site = root.rstrip("/")
        return [await _overhead(Path(folder), site), await _reproduced(Path(folder) / "replayed", site)]


async def _overhead(folder: Path, site: str) -> Row:
    """Return what pages cost with recording beside what they cost without, both at the same time on one machine."""
    pages = map(f"{site}/prose/{{}}".format, itertools.count())
    async with _weft(folder / "off", recording=False) as off, _weft(folder / "on", recording=True) as on:
        costs: dict[Cost, list[float]] = {off: [], on: []}

        async def measured(cost: Cost) -> None:
            costs[cost].append(await cost(pages, PAGES))

        for number in range(ROUNDS + 1):
            async with anyio.create_task_group() as tasks:
                for cost in (off, on) if number % 2 else (on, off):
                    tasks.start_soon(measured, cost)
    without, with_it = costs[off][1:], costs[on][1:]  # without the first, in which both warm up
    error = statistics.stdev(one / other for one, other in zip(with_it, without, strict=True)) / ROUNDS**0.5
    of_both = f"{statistics.mean(with_it) * 1000:.1f} ms CPU a page ± {error:.1%}"
    beside = f"not recorded {statistics.mean(without) * 1000:.1f} ms"
    return Row("pages that are recorded, CPU", of_both, beside, sum(with_it) / sum(without), 1.03, "<=")


def _running(folder: Path, *, recording: bool) -> AbstractAsyncContextManager[RunningWeft]:
    records = "true" if recording else "false"
    return running_weft(folder, ["--actors", ACTORS], WEFT_LOG_LEVEL="warning", WEFT_RECORD_CONVERSATIONS=records)


@asynccontextmanager
async def _weft(folder: Path, *, recording: bool) -> AsyncGenerator[Cost]:
    async with _running(folder, recording=recording) as weft, weft.client() as client:

        async def cost(pages: Iterator[str], count: int) -> float:
            """Return the CPU seconds of a page, with what follows it."""
            pids = family(weft.process.pid)
            before = cpu_s(pids)
            await _post(client, [("/api/browse", {"url": next(pages)}) for _ in range(count)])
            await anyio.sleep(2.5)
            return (cpu_s(pids) - before) / count

        yield cost


async def _reproduced(folder: Path, site: str) -> Row:
    """Return the share of conversations whose replay says the same, packet by packet."""
    async with _running(folder, recording=True) as weft, weft.client(120.0) as client:
        names = await _post(client, list(itertools.islice(_asked(site), CONVERSATIONS)))
        await anyio.sleep(SENT_S)
        replays: list[Replayed] = []
        for name in names:
            answer = await client.get(f"/api/recordings/{name}")
            answer.raise_for_status()
            replays.append(await replay(msgspec.json.decode(answer.content, type=ConversationRecording)))
    same = sum(not one.differences for one in replays)
    again = sum(one.packets - one.given for one in replays)
    different = [f"{one.id} {one.differences[0]}" for one in replays if one.differences]
    print(*different[:20], sep="\n") if different else None  # which ones, for whoever reads the table
    shown = f"{same} of {len(replays)}", f"{again} of {sum(one.packets for one in replays)} packets done again"
    return Row("recorded conversations that a replay reproduces", *shown, same / len(replays), 1.0, ">=")


def _asked(site: str) -> Iterator[Post]:
    """Yield what is asked for: pages of every kind of the site, and what is made of pages, by turns."""
    numbers = itertools.count(1_000_000)
    made: list[Callable[[str], Post]] = [
        lambda url: ("/api/summarize", {"url": url}),
        lambda url: ("/api/answer", {"urls": [url], "question": "What is said of the first thing?"}),
        lambda url: ("/api/browse/preview", {"url": url}),
        lambda _: ("/api/agent", {"goal": "calculate 17 * 3"}),
        lambda url: ("/api/runs", {"templateId": "batch_extract_pages", "inputs": {"urls": [url]}}),
    ]
    for number, path in enumerate(itertools.cycle((*_PATHS, "/prose/{}", "/prose/{}"))):
        url = f"{site}{path.format(next(numbers))}"
        yield ("/api/browse", {"url": url}) if number % 3 else made[number // 3 % len(made)](url)


_PATHS = (
    "/", "/active", "/article", "/redirect/2", "/redirect/loop", "/status/404", "/status/500", "/soft404",
    "/encoded/gzip", "/wrong-charset", "/challenge", "/json", "/text", "/csv", "/feed", "/spa", "/login", "/fresh",
    "/table", "/hidden", "/hangup", "/garbage", "/late", "/late-data", "/note", "/stand-in", "/lookalike", "/vague",
    "/llms.txt", "/shop",
)  # fmt: skip


async def _post(client: httpx2.AsyncClient, requests: list[Post]) -> list[str]:
    """Send requests, some at once, and return the conversations of their answers, whatever these are."""
    names: list[str] = []
    left = iter(requests)

    async def work() -> None:
        for path, body in left:
            answer = await client.post(path, json=body)
            names.append(answer.headers["x-conversation-id"])

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    return names
