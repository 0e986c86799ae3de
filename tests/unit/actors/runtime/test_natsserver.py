"""The nats-server of our own, as far as it is looked after; that it serves is held by every test that runs a Weft."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path

from actors.runtime.natsserver import ROOM_BYTES, NatsServer
from actors.runtime.replica import ReplicaSpec
from actors.runtime.spawners import Child
from actors.settings import Settings

FULL = "[ERR] JetStream failed to store a msg on stream 'KV_keys': write 1.blk: no space left on device\n"


@dataclass
class Spawned:
    """A spawner whose programs do nothing, and count how often they are asked to stop."""

    pid: int = 1
    stops: int = 0
    started: list[str] = field(default_factory=list[str])

    async def program(self, name: str, argv: tuple[str, ...]) -> Child:
        del argv
        self.started.append(name)
        return self

    async def replica(self, spec: ReplicaSpec, listener: socket.socket | None) -> Child:
        raise NotImplementedError

    def kill_all(self) -> None:
        raise NotImplementedError

    async def ended(self) -> int:
        raise NotImplementedError

    async def stop(self) -> None:
        self.stops += 1

    async def kill(self) -> None:
        raise NotImplementedError


async def test_a_server_whose_disk_was_full_is_started_anew_once_there_is_room(tmp_path: Path) -> None:
    spawned, free = Spawned(), [0]
    server = NatsServer(spawned, tmp_path, Settings(), {}, free=lambda _: free[0])
    server.log.write_text(FULL)  # of an earlier start
    await server.start()

    async def stops_after_a_look() -> int:
        await server.look()
        return spawned.stops

    free[0] = ROOM_BYTES
    before = await stops_after_a_look()
    with server.log.open("a") as lines:
        lines.write(FULL)
    free[0] = ROOM_BYTES - 1
    while_full = await stops_after_a_look()
    free[0] = ROOM_BYTES
    with_room = await stops_after_a_look()
    afterwards = await stops_after_a_look()

    assert (before, while_full, with_room, afterwards) == (0, 0, 1, 1)


async def test_the_next_start_takes_the_port_of_the_last_unless_somebody_has_it(tmp_path: Path) -> None:
    async def listens_on(port: int) -> str:
        server = NatsServer(Spawned(), tmp_path, Settings(), {})
        await server.start()
        lines = (tmp_path / "nats-server.conf").read_text().splitlines()
        (tmp_path / "nats-server_1.ports").write_text(json.dumps({"nats": [f"nats://127.0.0.1:{port}"]}))
        await server.url()
        return next(line for line in lines if line.startswith("listen: "))

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = int(other.getsockname()[1])
        first, while_taken = await listens_on(port), await listens_on(port)
    afterwards = await listens_on(port)

    assert (first, while_taken) == (2 * ('listen: "127.0.0.1:-1"',))
    assert afterwards == f'listen: "127.0.0.1:{port}"'
