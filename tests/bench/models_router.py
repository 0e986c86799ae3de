"""What the router costs: a decision by itself, a call beside a bare request to the same server, and many streams.

The rows are part of `./scripts/bench models`.
"""

from __future__ import annotations

import json
import socket
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from actors.actor import handlers
from actors.router.actor import Router
from actors.router.figures import RecentCalls
from actors.router.table import RouteRequest, RoutingTable
from actors.routing_file import read_routing
from actors.settings import Settings
from bus import Bus, telemetry
from bus.seal import Seal, new_key
from protocol.models import CallModel, ModelMessage, ModelText, Provider, TextPart
from protocol.replicas import Watch
from protocol.subjects import CALL_MODEL, MODEL_CALLS, MODEL_SPEND, MODEL_TEXT, ROUTE_OVERRIDES
from tests.bench.servers import bus_at, nats_server, process
from tests.bench.table import Row

DECISIONS: Final = 2_000
CALLS: Final = 300
ROUNDS: Final = 5
STREAMS: Final = 100
PIECES: Final = 50
MODEL: Final = "tiny"


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    rows = [_decision()]
    async with nats_server() as server:
        with process(__name__, "model") as (_, base_url), process(__name__, "router", server.url, base_url):
            async with bus_at(server.url, "asker") as bus:
                rows += [await _call(bus, base_url), await _streams(bus)]
    return rows


def _decision() -> Row:
    """Time decisions where the first nine candidates have no credentials, which is the longest way."""
    table, recent = RoutingTable(read_routing()), RecentCalls()
    request = RouteRequest(tool="browser_tab_close")

    def why_not(name: object) -> str:
        return "" if getattr(name, "provider", None) is Provider.BROWSEROS else "it has no credentials"

    times = list[float]()
    for _ in range(DECISIONS):
        begun = time.perf_counter()
        table.decide(request, why_not, lambda name: recent.of(request.tool, name))
        times.append(time.perf_counter() - begun)
    median_us = statistics.median(times) * 1e6
    return Row("models: decision of a route, median", f"{median_us:.0f} us", "-", median_us, 50, "<=", "us")


async def _call(bus: Bus, base_url: str) -> Row:
    """Time calls over the bus, and the same requests without a router, in turns; the best round of each counts."""
    call = CallModel(tool="web_answer", messages=(ModelMessage(role="user", parts=(TextPart(text="Why?"),)),))
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Why?"}], "max_tokens": 1_024}

    async def ours() -> None:
        await bus.call(CALL_MODEL, call)

    async with httpx2.AsyncClient(trust_env=False) as http:

        async def bare() -> None:
            (await http.post(f"{base_url}/chat/completions", json=body)).json()

        await ours()
        rounds = [(await _p50_ms(ours), await _p50_ms(bare)) for _ in range(ROUNDS)]
    own_ms, bare_ms = (min(times) for times in zip(*rounds, strict=True))
    told = f"{own_ms:.2f} ms", f"httpx2 {bare_ms:.2f} ms"
    return Row("models: what the router adds to a call, p50", *told, own_ms - bare_ms, 2.0, "<=", "ms")


async def _p50_ms(call: Callable[[], Awaitable[None]]) -> float:
    times = list[float]()
    for _ in range(CALLS):
        begun = time.perf_counter()
        await call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e3


async def _streams(bus: Bus) -> Row:
    """Stream many answers at once, and look whether the pieces of each came in their order and whole."""
    heard: defaultdict[str, list[ModelText]] = defaultdict(list)

    async def hear(text: ModelText) -> None:
        heard[text.token].append(text)

    await bus.serve(MODEL_TEXT.at(replica=bus.replica), hear, at_once=1)
    answers: dict[str, str] = {}

    async def one(token: str) -> None:
        message = ModelMessage(role="user", parts=(TextPart(text="stream"),))
        call = CallModel(tool="web_answer", messages=(message,), watch=Watch(replica=bus.replica, token=token))
        answers[token] = (await bus.call(CALL_MODEL, call)).text

    begun = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for number in range(STREAMS):
            tasks.start_soon(one, f"t{number}")
    seconds = time.perf_counter() - begun
    with anyio.move_on_after(5):
        while sum(map(len, heard.values())) < STREAMS * PIECES:
            await anyio.sleep(0.01)
    whole = [
        token
        for token, texts in heard.items()
        if [text.index for text in texts] == list(range(PIECES)) and "".join(t.text for t in texts) == answers[token]
    ]
    share = 100 * len(whole) / STREAMS
    rate = f"{STREAMS * PIECES / seconds:.0f} pieces/s"
    return Row(f"models: {STREAMS} streams at once, in order and whole", rate, "-", share, 100, ">=", "%")


# -- the processes -----------------------------------------------------------------------------------------------------


async def _answer(request: Request) -> Response:
    """Answer as a server of OpenAI's dialect; in pieces where the question says so."""
    body = json.loads(await request.body())
    if "stream" in str(body["messages"][-1]["content"]):
        return StreamingResponse(_pieces(), media_type="text/event-stream")
    message = {"role": "assistant", "content": "Because."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return JSONResponse({"model": MODEL, "choices": [choice], "usage": usage})


async def _pieces() -> AsyncGenerator[str]:
    for number in range(PIECES):
        finish = "stop" if number == PIECES - 1 else None
        chunk = {"choices": [{"index": 0, "delta": {"content": f"{number} "}, "finish_reason": finish}]}
        yield f"data: {json.dumps(chunk)}\n\n"
        await anyio.sleep(0.001)
    yield "data: [DONE]\n\n"


async def _model() -> None:
    # its protocol is named, because asyncio sends small answers at once only where it is
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", flush=True)
        app = Starlette(routes=[Route("/v1/chat/completions", _answer, methods=["POST"])])
        await uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).serve([listener])


@asynccontextmanager
async def _router(url: str, base_url: str) -> AsyncGenerator[None]:
    host = httpx2.URL(base_url).netloc.decode()
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        settings = Settings(data_dir=Path(folder), model_hosts=(host,), model_unpriced_calls=0)
        environment = {"OPENAI_COMPATIBLE_API_KEY": "none", "OPENAI_COMPATIBLE_BASE_URL": base_url}
        async with bus_at(url, "router") as bus:
            bus.seal = Seal.of(new_key())
            for entry in (ROUTE_OVERRIDES, MODEL_SPEND, MODEL_CALLS):
                await bus.prepare(entry)
            router = Router(bus=bus, settings=settings, environment=environment)
            async with router.open():
                for handler in handlers(Router):
                    await bus.serve(handler.subject, getattr(router, handler.method), at_once=handler.at_once)
                yield


async def _serve(url: str, base_url: str) -> None:
    telemetry.configure("error", "json")
    async with _router(url, base_url):
        print("ready", flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    if sys.argv[1] == "model":
        anyio.run(_model)
    else:
        anyio.run(_serve, sys.argv[2], sys.argv[3])
