"""A nats-server for a benchmark, and processes that answer on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from bus import Bus
from bus.nats import claims
from bus.nats.server import find_binary, read_ports
from bus.nats.transport import connect


class Server:
    """A nats-server without users, with JetStream, that can be killed and comes back on its port."""

    def __init__(self, folder: Path) -> None:
        """Keep everything in `folder`."""
        self._folder = folder
        self._port = -1
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    async def start(self) -> None:
        """Start it, and return when it listens."""
        config = self._folder / "nats.conf"
        config.write_text(
            f'listen: "127.0.0.1:{self._port}"\nports_file_dir: "{self._folder}"\n'
            f'jetstream {{ store_dir: "{self._folder}/js", sync_interval: "1s" }}\n'
        )
        argv = [str(find_binary()), "-c", str(config), "-l", str(self._folder / "log")]
        self._process = subprocess.Popen(argv)  # noqa: ASYNC220 - it takes a millisecond
        with anyio.fail_after(90):
            while not (url := read_ports(self._folder, self._process.pid)):
                await anyio.sleep(0.001)
        self.url = url
        self._port = int(url.rpartition(":")[2])

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@asynccontextmanager
async def nats_server() -> AsyncGenerator[Server]:
    """Return a server that serves, with the bucket of claim checks."""
    with TemporaryDirectory(prefix="weft-bench-") as folder:
        server = Server(Path(folder))
        await server.start()
        try:
            async with connect(server.url, "supervisor") as transport:
                await claims.create_claims(transport.jetstream)
            yield server
        finally:
            server.kill()


@asynccontextmanager
async def bus_at(url: str, actor: str) -> AsyncGenerator[Bus]:
    """Return a bus of this process."""
    async with connect(url, actor) as transport:
        bus = Bus(transport, actor, f"{actor}-{os.getpid()}")
        async with bus.running():
            yield bus


@contextmanager
def process(module: str, *arguments: str, **variables: str) -> Generator[tuple[int, str]]:
    """Run a module of the benchmarks in a process: gives its pid, and the line that it prints when it is ready."""
    argv = [sys.executable, "-m", module, *arguments]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, env=os.environ | variables)
    try:
        assert child.stdout is not None
        yield child.pid, child.stdout.readline().decode().strip()
    finally:
        child.kill()
        child.wait()
