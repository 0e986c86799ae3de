"""What more replicas bring: for calls that wait on something, and for durable work of very unequal length."""

from __future__ import annotations

import random
import sys
import time
from contextlib import ExitStack

import anyio
from msgspec import Struct

from bus import Bus, telemetry
from protocol.subject_kinds import Call, Event, Work
from tests.bench.servers import Server, bus_at, nats_server, process
from tests.bench.table import Row


class Wait(Struct, frozen=True):
    """Something that takes this long, in milliseconds."""

    ms: int


WAIT = Call("bench.wait", Wait, Wait)
JOB = Work("work.bench.jobs", Wait)
JOB_DONE = Event("events.bench.done", Wait)
SLOTS = 4
CALLS = 240
WAIT_MS = 50
WORKERS, WORKER_SLOTS, JOBS = 4, 2, 400


async def measure() -> list[Row]:
    """Run this benchmark."""
    async with nats_server() as server:
        one, four = [await _rate(server, replicas) for replicas in (1, 4)]
        makespan_s, ideal_s = await _makespan(server)
    return [
        Row("calls that wait 50 ms, 1 to 4 replicas of 4 slots", f"{four:.0f}/s", f"one replica {one:.0f}/s",
            four / one, 3.2, ">="),
        Row("heavy-tailed work, pulled by 4 replicas of 2 slots", f"{makespan_s:.2f} s", f"ideal {ideal_s:.2f} s",
            makespan_s / ideal_s, 1.25, "<="),
    ]  # fmt: skip


async def _rate(server: Server, replicas: int) -> float:
    with ExitStack() as stack:
        for _ in range(replicas):
            stack.enter_context(process("tests.bench.replicas", server.url, "answer"))
        async with bus_at(server.url, "caller") as bus:
            left = CALLS * replicas

            async def work() -> None:
                nonlocal left
                while left > 0:
                    left -= 1
                    await bus.call(WAIT, Wait(WAIT_MS))

            started = time.perf_counter()
            async with anyio.create_task_group() as tasks:
                for _ in range(SLOTS * replicas):
                    tasks.start_soon(work)
            return CALLS * replicas / (time.perf_counter() - started)


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
            with anyio.fail_after(60):
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
