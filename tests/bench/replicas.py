"""What more replicas bring: for calls that wait on something, for pages of slow sites, and for unequal durable work."""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import httpx2
from msgspec import Struct

from bus import Bus, telemetry
from protocol.subject_kinds import Call, Event, Work
from tests.bench.processes import cpu_s, family
from tests.bench.servers import Server, bus_at, nats_server, process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft


class Wait(Struct, frozen=True):
    """Something that takes this long, in milliseconds."""

    ms: int


WAIT = Call("bench.wait", Wait, Wait)
JOB = Work("work.bench.jobs", Wait)
JOB_DONE = Event("events.bench.done", Wait)
SLOTS = 4
CALLS = 240
CROWD = 64
WAIT_MS = 50
WORKERS, WORKER_SLOTS, JOBS = 4, 2, 400
FETCHER_SLOTS, PAGE_MS, PAGES = 30, 8_000, 2
"""What one fetcher takes at once of one key, how long the site takes for a page, and how many each caller asks for."""


async def measure() -> list[Row]:
    """Run this benchmark."""
    async with nats_server() as server:
        one, four = [await _rate(server, replicas, SLOTS * replicas) for replicas in (1, 4)]
        many = await _rate(server, 1, CROWD)
        makespan_s, ideal_s = await _makespan(server)
    page, pages = [await _pages(fetchers) for fetchers in (1, 4)]
    return [
        Row("calls that wait 50 ms, 1 to 4 replicas of 4 slots", f"{four.rate:.0f}/s",
            f"one replica {one.rate:.0f}/s", four.rate / one.rate, 3.2, ">="),
        Row(f"such calls of {CROWD} callers, one replica of 4 slots", f"{many.rate:.0f}/s",
            f"4 callers {one.rate:.0f}/s", many.rate / one.rate, 0.9, ">="),
        Row("pages that take 8 s, 1 to 4 fetchers and one navigator", f"{pages.rate:.1f}/s", f"one {page.rate:.1f}/s",
            pages.rate / page.rate, 3.2, ">="),
        Row("CPU of such a page, 4 fetchers", f"{pages.cpu_ms:.1f} ms", f"one {page.cpu_ms:.1f} ms",
            pages.cpu_ms / page.cpu_ms, 1.2, "<="),
        Row("heavy-tailed work, pulled by 4 replicas of 2 slots", f"{makespan_s:.2f} s", f"ideal {ideal_s:.2f} s",
            makespan_s / ideal_s, 1.25, "<="),
    ]  # fmt: skip


class Throughput(Struct, frozen=True):
    """Calls or pages a second, and the CPU of all processes that each costs, in ms."""

    rate: float
    cpu_ms: float


async def _rate(server: Server, replicas: int, callers: int) -> Throughput:
    with ExitStack() as stack:
        for _ in range(replicas):
            stack.enter_context(process("tests.bench.replicas", server.url, "answer"))
        async with bus_at(server.url, "caller") as bus:
            count = left = CALLS * replicas

            async def work() -> None:
                nonlocal left
                while left > 0:
                    left -= 1
                    await bus.call(WAIT, Wait(WAIT_MS))

            began, before_s = time.perf_counter(), cpu_s(family(os.getpid()))
            async with anyio.create_task_group() as tasks:
                for _ in range(callers):
                    tasks.start_soon(work)
            took_s, used_s = time.perf_counter() - began, cpu_s(family(os.getpid())) - before_s
            return Throughput(count / took_s, used_s / count * 1_000)


async def _pages(fetchers: int) -> Throughput:
    """Read pages of slow sites, as many at once as the fetchers take, each caller from a host of its own."""
    callers = FETCHER_SLOTS * fetchers
    actors = ["--actors", f"gateway,navigator,verifier,fetchers.intelligence={fetchers}"]
    with TemporaryDirectory(prefix="weft-bench-") as folder, process("tests.site", "0", "0.0.0.0") as (_, site):  # noqa: S104 - each address of loopback is a host
        port = site.strip("/").rpartition(":")[2]
        async with (
            running_weft(Path(folder), actors, WEFT_LOG_LEVEL="error", WEFT_REQUESTS_AT_ONCE="0") as weft,
            _client(weft) as client,
        ):

            async def read(host: int, pages: int, ms: int) -> None:
                await anyio.sleep(ms / 1_000 * host / callers)  # not all at the same moment
                for number in range(pages):
                    url = f"http://127.0.1.{host + 1}:{port}/slow?ms={ms}&page={number}"
                    body = {"url": url, "options": {"freshnessRequirement": "realtime", "maxLatencyMs": 60_000}}
                    (await client.post("/api/browse", json=body)).raise_for_status()

            async def read_all(pages: int, ms: int) -> None:
                async with anyio.create_task_group() as tasks:
                    for host in range(callers):
                        tasks.start_soon(read, host, pages, ms)

            await read_all(1, 0)
            began, before_s = time.perf_counter(), cpu_s(family(weft.process.pid))
            await read_all(PAGES, PAGE_MS)
            count, took_s = callers * PAGES, time.perf_counter() - began
            return Throughput(count / took_s, (cpu_s(family(weft.process.pid)) - before_s) / count * 1_000)


def _client(weft: RunningWeft) -> httpx2.AsyncClient:
    headers, limits = {"Authorization": f"Bearer {weft.key}"}, httpx2.Limits(max_connections=None)
    return httpx2.AsyncClient(base_url=weft.ready.rest, headers=headers, timeout=90, trust_env=False, limits=limits)


async def _makespan(server: Server) -> tuple[float, float]:
    """Return the seconds that the work took, and those that it would take if every slot were always busy."""
    lengths = random.Random(7)  # the same work every time
    jobs = [min(int(lengths.paretovariate(1.2) * 10), 400) for _ in range(JOBS)]
    done = 0
    finished = anyio.Event()

    async def hear(_: Wait) -> None:
        nonlocal done
        done += 1
        if done == JOBS:
            finished.set()

    with ExitStack() as stack:
        async with bus_at(server.url, "caller") as bus:
            await bus.serve(JOB_DONE, hear, at_once=64)
            for _ in range(WORKERS):
                stack.enter_context(process("tests.bench.replicas", server.url, "work"))
            started = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for number, ms in enumerate(jobs):
                    tasks.start_soon(_enqueue, bus, Wait(ms), f"job-{number}")
            with anyio.fail_after(90):
                await finished.wait()
            took_s = time.perf_counter() - started
    return took_s, max(sum(jobs) / (WORKERS * WORKER_SLOTS), *jobs) / 1000


async def _enqueue(bus: Bus, args: Wait, packet_id: str) -> None:
    await bus.enqueue(JOB, args, packet_id=packet_id)


async def answer(url: str, role: str) -> None:
    """Be one replica until killed."""
    async with bus_at(url, "waiter") as bus:

        async def wait(args: Wait) -> Wait:
            await anyio.sleep(args.ms / 1000)
            return args

        async def work(args: Wait) -> None:
            await anyio.sleep(args.ms / 1000)
            await bus.tell(JOB_DONE, args)

        if role == "answer":
            await bus.serve(WAIT, wait, at_once=SLOTS)
        else:
            await bus.serve(JOB, work, at_once=WORKER_SLOTS)
        await bus.transport.flush()
        print("ready", flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    telemetry.configure("error", "json")
    anyio.run(answer, sys.argv[1], sys.argv[2])
