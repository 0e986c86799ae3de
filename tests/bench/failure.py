"""The nats-server is killed and started again under load: what is lost, and how soon everything works."""

from __future__ import annotations

import time
from contextlib import suppress

import anyio
from msgspec import Struct

from bus import Bus, TransportError
from protocol.faults import FaultError
from protocol.subject_kinds import Bucket, Call, Work
from tests.bench.servers import Server, bus_at, nats_server
from tests.bench.table import Row


class Item(Struct, frozen=True):
    """A numbered piece of work."""

    number: int


SLOW = Call("bench.slow", Item, Item)
QUICK = Call("bench.quick", Item, Item)
WORK = Work("work.bench.items", Item)
VALUES = Bucket("bench-values", Item)
SLOW_S = 0.15
LOAD_S = 1.0
DOWN_S = 0.2
PUBLISHERS = 16
SETTLE_S = 30


class Load:
    """What the load did: when the server was back (monotonic seconds), and what was acknowledged."""

    def __init__(self) -> None:
        self.back_s = 0.0
        self.acked: set[int] = set()
        self.done: set[int] = set()
        self.in_flight_s: list[float] = []
        self.quick_s = 0.0
        self.watch_s = 0.0


async def measure() -> list[Row]:
    """Run this benchmark."""
    async with (
        nats_server() as server,
        bus_at(server.url, "caller") as caller,
        bus_at(server.url, "callee") as callee,
    ):
        load = await _under_load(server, caller, callee)
    lost = len(load.acked - load.done)
    usable, watch = load.quick_s - load.back_s, load.watch_s - load.back_s
    in_flight = max(load.in_flight_s) - load.back_s - SLOW_S
    return [
        Row("nats-server kill -9: acknowledged work lost", f"{lost} of {len(load.acked)}", "-", lost, 0, "<=", ""),
        Row("server back to a call that works", f"{usable * 1000:.0f} ms", "-", usable, 0.5, "<=", "s"),
        Row("server back to a KV watch that hears", f"{watch * 1000:.0f} ms", "-", watch, 1.0, "<=", "s"),
        Row("server back to calls in flight answered", f"{in_flight * 1000:.0f} ms", f"handler {SLOW_S * 1000:.0f} ms",
            in_flight, 0.3, "<=", "s"),
    ]  # fmt: skip


async def _under_load(server: Server, caller: Bus, callee: Bus) -> Load:
    load = Load()

    async def slow(item: Item) -> Item:
        await anyio.sleep(SLOW_S)
        return item

    async def quick(item: Item) -> Item:
        return item

    await callee.serve(SLOW, slow, at_once=64)
    await callee.serve(QUICK, quick, at_once=64)
    table = await caller.table(VALUES)
    async with anyio.create_task_group() as tasks:
        for number in range(PUBLISHERS):
            tasks.start_soon(_publish, caller, load, number)
        tasks.start_soon(_watch, callee, load)
        await anyio.sleep(LOAD_S)
        async with anyio.create_task_group() as calls:
            for number in range(8):
                calls.start_soon(_call_slow, caller, load, number)
            await anyio.sleep(SLOW_S / 3)
            server.kill()
            await anyio.sleep(DOWN_S)
            await server.start()
            load.back_s = time.monotonic()
            await caller.call(QUICK, Item(0), timeout_ms=10_000, wait_ms=5_000)
            load.quick_s = time.monotonic()
            await table.put("after", Item(1))
        with anyio.fail_after(SETTLE_S):
            while not load.watch_s:
                await anyio.sleep(0.005)
        await anyio.sleep(LOAD_S)
        tasks.cancel_scope.cancel()
    await _do_all(callee, load)
    return load


async def _do_all(callee: Bus, load: Load) -> None:
    """Do the work that is stored, until none is missing or the time is over."""

    async def keep(item: Item) -> None:
        load.done.add(item.number)

    await callee.serve(WORK, keep, at_once=64)
    with anyio.move_on_after(SETTLE_S):
        while not load.acked <= load.done:
            await anyio.sleep(0.05)


async def _publish(bus: Bus, load: Load, lane: int) -> None:
    number = lane
    while True:
        with suppress(TransportError, FaultError):
            await bus.enqueue(WORK, Item(number), packet_id=f"item-{number}")
            load.acked.add(number)
            number += PUBLISHERS
            continue
        await anyio.sleep(0.02)


async def _watch(bus: Bus, load: Load) -> None:
    table = await bus.table(VALUES)
    async with table.watch() as changes:
        async for change in changes:
            if change.key == "after":
                load.watch_s = time.monotonic()


async def _call_slow(bus: Bus, load: Load, number: int) -> None:
    await bus.call(SLOW, Item(number), timeout_ms=20_000, wait_ms=10_000)
    load.in_flight_s.append(time.monotonic())
