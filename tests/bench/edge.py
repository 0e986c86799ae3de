"""What the gateway adds to a call: MCP in both eras, and REST, beside the same question asked over the bus."""

from __future__ import annotations

import os
import socket
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import anyio
import anyio.abc
import msgspec
import uvicorn
from anyio.streams.buffered import BufferedByteReceiveStream
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bus import telemetry
from protocol.pages import Browsed, BrowsePage
from protocol.subjects import BROWSE
from tests.bench.servers import bus_at, nats_server, process
from tests.bench.table import Row
from tests.support.system import RunningWeft, running_weft
from tests.unit.actors.gateway_data import browsed
from tests.unit.actors.page_data import URL

ROUNDS = 30
CALLS = 40
WARM = 50
MODERN, LEGACY = "2026-07-28", "2025-11-25"
_META = "io.modelcontextprotocol"
_MAX_BYTES = 1_000_000

MCP_MS, REST_MS = 0.7, 0.3
MCP_CPU_MS, REST_CPU_MS = 0.6, 0.2

Ask = Callable[[], Awaitable[object]]


@dataclass
class Figures:
    """Of one way to ask, for each round: the median in ms, and the CPU of one process that a call costs, in ms."""

    ask: Ask
    cpu_of: int
    p50_ms: list[float] = field(default_factory=list[float])
    cpu_ms: list[float] = field(default_factory=list[float])

    async def round(self) -> None:
        """Ask one after the other."""
        before, times = _cpu_ns(self.cpu_of), list[float]()
        for _ in range(CALLS):
            began = time.perf_counter()
            await self.ask()
            times.append(time.perf_counter() - began)
        self.p50_ms.append(statistics.median(times) * 1000)
        self.cpu_ms.append((_cpu_ns(self.cpu_of) - before) / 1e6 / CALLS)

    @property
    def quietest_ms(self) -> float:
        """The median of the quietest round."""
        return min(self.p50_ms)

    @property
    def least_cpu_ms(self) -> float:
        """The CPU of a call in the quietest round."""
        return min(self.cpu_ms)


async def measure() -> list[Row]:
    """Run this benchmark."""
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        async with nats_server() as server:
            arguments = ("--nats", server.url, "--actors", "gateway")
            with (
                process("tests.bench.edge", "navigate", server.url),
                process("tests.bench.edge", "floor") as (floor_pid, floor),
            ):
                async with running_weft(
                    Path(folder), arguments, WEFT_LOG_LEVEL="error", WEFT_RATE_PER_MINUTE="0"
                ) as weft:
                    return await _compare(server.url, weft, floor, floor_pid)


async def _compare(nats: str, weft: RunningWeft, floor: str, floor_pid: int) -> list[Row]:
    gateway = next(int(str(one["pid"])) for one in await weft.replicas() if one["actor"] == "gateway")
    async with bus_at(nats, "caller") as bus, _wire(weft.ready.rest) as rest, _wire(floor) as bare:

        async def hop() -> None:
            await bus.call(BROWSE, BrowsePage(url=URL))

        body = msgspec.json.encode({"url": URL})
        ways = {
            "hop": Figures(hop, os.getpid()),
            "rest": Figures(rest.asking("/api/browse", body, weft.key), gateway),
            "modern": Figures(rest.asking("/mcp", _call(MODERN), weft.key, **_headers(MODERN)), gateway),
            "legacy": Figures(rest.asking("/mcp", _call(LEGACY), weft.key, **_headers(LEGACY)), gateway),
            "bare": Figures(bare.asking("/", body, weft.key), floor_pid),
        }
        for way in ways.values():
            for _ in range(WARM):
                await way.ask()
        for _ in range(ROUNDS):
            for way in ways.values():
                await way.round()
    return [
        _latency("MCP tools/call, 2026-07-28", ways["modern"], ways, MCP_MS),
        _latency("MCP tools/call, 2025-11-25", ways["legacy"], ways, MCP_MS),
        _latency("REST browse", ways["rest"], ways, REST_MS),
        _cpu("MCP tools/call, 2026-07-28", ways["modern"], ways, MCP_CPU_MS),
        _cpu("MCP tools/call, 2025-11-25", ways["legacy"], ways, MCP_CPU_MS),
        _cpu("REST browse", ways["rest"], ways, REST_CPU_MS),
    ]


def _latency(what: str, way: Figures, ways: dict[str, Figures], bound: float) -> Row:
    hop, bare, ours = ways["hop"].quietest_ms, ways["bare"].quietest_ms, way.quietest_ms
    return Row(f"{what}, p50 beyond a hop", f"{ours:.2f} ms", _beside(hop, bare), ours - hop, bound, "<=", "ms")


def _cpu(what: str, way: Figures, ways: dict[str, Figures], bound: float) -> Row:
    hop, bare, ours = ways["hop"].least_cpu_ms, ways["bare"].least_cpu_ms, way.least_cpu_ms
    told = f"{what}, CPU of the gateway beyond a hop's"
    return Row(told, f"{ours:.2f} ms", _beside(hop, bare), ours - hop, bound, "<=", "ms")


def _beside(hop: float, bare: float) -> str:
    return f"hop {hop:.2f} ms, bare starlette {bare:.2f} ms"


@dataclass
class Wire:
    """A connection that is kept alive, on which a request costs its client next to nothing."""

    stream: anyio.abc.SocketStream
    host: str

    def __post_init__(self) -> None:
        """Read what comes through a buffer."""
        self._reader = BufferedByteReceiveStream(self.stream)

    def asking(self, path: str, body: bytes, key: str, **headers: str) -> Ask:
        """Make what asks for a path."""
        named = {
            "Host": self.host,
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream" if headers else "application/json",
            "Content-Length": str(len(body)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items())
        request = head.encode() + b"\r\n" + body

        async def ask() -> None:
            await self.stream.send(request)
            await self._answer()

        return ask

    async def _answer(self) -> None:
        head = (await self._reader.receive_until(b"\r\n\r\n", _MAX_BYTES)).lower()
        assert head.startswith(b"http/1.1 200"), head
        _, _, length = head.partition(b"content-length: ")
        if length:
            body = await self._reader.receive_exactly(int(length.split(b"\r\n")[0]))
        else:
            body = await self._reader.receive_until(b"\r\n0\r\n\r\n", _MAX_BYTES)
        assert b'"isError":true' not in body, body


@asynccontextmanager
async def _wire(url: str) -> AsyncGenerator[Wire]:
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    async with await anyio.connect_tcp(parts.hostname, parts.port) as stream:
        yield Wire(stream, parts.netloc)


def _call(version: str) -> bytes:
    meta: dict[str, object] = {f"{_META}/protocolVersion": version, f"{_META}/clientCapabilities": {}}
    params: dict[str, object] = {
        "name": "browse",
        "arguments": {"url": URL},
        **({"_meta": meta} if version == MODERN else {}),
    }
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def _headers(version: str) -> dict[str, str]:
    asked = {"MCP_Protocol_Version": version}
    return {**asked, "Mcp_Method": "tools/call", "Mcp_Name": "browse"} if version == MODERN else asked


def _cpu_ns(pid: int) -> int:
    """Return the time on a processor of all threads: finer than the clock that ticks a hundred times a second."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text("ascii").split()[0]) for thread in threads)


async def navigate(url: str) -> None:
    """Answer every browse at once with a small page, until killed."""
    page = browsed()

    async def answer(_: BrowsePage) -> Browsed:
        return page

    async with bus_at(url, "navigator") as bus:
        await bus.serve(BROWSE, answer, at_once=64)
        await bus.transport.flush()
        print("ready", flush=True)
        await anyio.sleep_forever()


def floor() -> None:
    """Answer as little as there is, with the server that the gateway has."""
    told = b"x" * 1_500

    async def hello(request: Request) -> Response:
        await request.body()
        return Response(told, media_type="application/json")

    config = uvicorn.Config(
        Starlette(routes=[Route("/", hello, methods=["POST"])]), port=0, log_level="error", timeout_keep_alive=300
    )
    listener = config.bind_socket()
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the gateway does
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    anyio.run(uvicorn.Server(config).serve, [listener])


if __name__ == "__main__":
    telemetry.configure("error", "json")
    match sys.argv[1:]:
        case ["navigate", nats_url]:
            anyio.run(navigate, nats_url)
        case _:
            floor()
