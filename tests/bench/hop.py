"""One hop over the bus beside a bare nats-py request with the same payload, in the same process pair."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import cast

import anyio
from msgspec import Struct
from nats.aio.msg import Msg

from bus import telemetry, tracing
from bus.nats.transport import NatsTransport
from bus.telemetry import ENDPOINT_VARIABLES
from protocol.subject_kinds import Call
from tests.bench.servers import bus_at, nats_server, process
from tests.bench.table import Row


class Body(Struct, frozen=True):
    """10 KB of text, as a page would be."""

    text: str


ECHO = Call("bench.echo", Body, Body)
RAW = "bench.raw"
TEXT = "x" * 10_000
PAYLOAD_BYTES = 10_400
ROUNDS = 7
CALLS = {1: 1_000, 32: 4_000}


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    rows = await _compare(traced=False, p50=1.7, rate=0.45)
    with process("tests.bench.collector") as (_, port):
        os.environ[ENDPOINT_VARIABLES[0]] = f"http://127.0.0.1:{port}"
        try:
            return rows + await _compare(traced=True, p50=2.5, rate=0.25)
        finally:
            del os.environ[ENDPOINT_VARIABLES[0]]


async def _compare(*, traced: bool, p50: float, rate: float) -> list[Row]:
    word = "traced" if traced else "untraced"
    rows: list[Row] = []
    async with nats_server() as server:
        with process("tests.bench.hop", server.url):
            traces = telemetry.start_tracing("bench.caller", "1")
            tracing.use(traces)
            async with bus_at(server.url, "caller") as bus:
                client = cast("NatsTransport", bus.transport).client

                async def ours() -> None:
                    await bus.call(ECHO, Body(TEXT))

                async def raw() -> None:
                    await client.request(RAW, bytes(PAYLOAD_BYTES), timeout=5)

                one = await _best(ours, raw, at_once=1)
                many = await _best(ours, raw, at_once=32)
            tracing.use(tracing.OFF)
            await anyio.to_thread.run_sync(traces.close)
    rows.append(
        Row(f"hop 10 KB, {word}, p50 of one in flight", f"{one[0].p50_us:.0f} us", f"nats-py {one[1].p50_us:.0f} us",
            one[0].p50_us / one[1].p50_us, p50, "<=")
    )  # fmt: skip
    rows.append(
        Row(f"hop 10 KB, {word}, rate of 32 in flight", f"{many[0].rate:.0f}/s", f"nats-py {many[1].rate:.0f}/s",
            many[0].rate / many[1].rate, rate, ">=")
    )  # fmt: skip
    return rows


class Figure(Struct, frozen=True):
    """Calls a second, and the median of one in microseconds."""

    rate: float
    p50_us: float


async def _best(
    ours: Callable[[], Awaitable[None]], peer: Callable[[], Awaitable[None]], *, at_once: int
) -> tuple[Figure, Figure]:
    """Return the best of several interleaved rounds of each."""
    found: tuple[list[Figure], list[Figure]] = ([], [])
    for _ in range(ROUNDS):
        for figures, call in zip(found, (ours, peer), strict=True):
            figures.append(await _round(call, CALLS[at_once], at_once))
    best = [Figure(max(one.rate for one in many), min(one.p50_us for one in many)) for many in found]
    return best[0], best[1]


async def _round(call: Callable[[], Awaitable[None]], count: int, at_once: int) -> Figure:
    left = count
    times: list[float] = []

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            begun = time.perf_counter()
            await call()
            times.append(time.perf_counter() - begun)

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(work)
    return Figure(count / (time.perf_counter() - started), statistics.median(times) * 1e6)


async def answer(url: str) -> None:
    """Answer both kinds of call until killed."""
    tracing.use(telemetry.start_tracing("bench.callee", "1"))
    async with bus_at(url, "callee") as bus:
        client = cast("NatsTransport", bus.transport).client

        async def echo(body: Body) -> Body:
            return body

        async def raw(message: Msg) -> None:
            await client.publish(message.reply, message.data)

        await bus.serve(ECHO, echo, at_once=64)
        await client.subscribe(RAW, cb=raw)  # pyright: ignore[reportUnknownMemberType] - nats-py leaves it untyped
        await bus.transport.flush()
        print("ready", flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    telemetry.configure("error", "json")
    anyio.run(answer, sys.argv[1])
