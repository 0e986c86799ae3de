"""What the launcher says to the zygote, which a socket stands for here."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import anyio
import msgspec

from actors.runtime import zygote
from actors.runtime.replica import ReplicaSpec
from actors.runtime.spawners import processes
from actors.settings import Settings

FILLER = b"x" * 65_536


async def test_a_gateway_that_starts_keeps_the_port_which_the_system_closes_meanwhile(tmp_path: Path) -> None:
    """A system that stops closes its port while a gateway may just be on its way."""
    ours, theirs = socket.socketpair()
    spec = ReplicaSpec(actor="gateway", replica="r1", settings=Settings(data_dir=tmp_path), nats_url="")
    with anyio.fail_after(90), theirs, ours, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with processes(ours) as spawner, anyio.create_task_group() as tasks:
            filled = fill(ours)
            tasks.start_soon(spawner.replica, spec, listener)
            await anyio.wait_all_tasks_blocked()
            listener.close()
            command, (given_spec, received) = await anyio.to_thread.run_sync(read_command, theirs, filled)
            theirs.sendall(msgspec.json.encode(zygote.StartedReport(number=command.number, pid=os.getpid())) + b"\n")
            assert command.listens
            with os.fdopen(given_spec, "rb") as pipe:
                assert msgspec.json.decode(pipe.read())["replica"] == "r1"
            with socket.socket(fileno=received) as given:
                assert given.getsockname()[1] == port


def fill(ours: socket.socket) -> int:
    """Send until no more goes in; returns how many bytes did."""
    filled = 0
    try:
        while True:
            filled += ours.send(FILLER)
    except BlockingIOError:
        return filled


def read_command(theirs: socket.socket, filled: int) -> tuple[zygote.StartCommand, list[int]]:
    """Read past what filled the socket, then a command and the descriptors beside it."""
    data, fds = b"", list[int]()
    while not data.endswith(b"\n"):
        more, new, _, _ = socket.recv_fds(theirs, len(FILLER), 2)
        data, fds = data + more, fds + list(new)
    return msgspec.json.decode(data[filled:], type=zygote.StartCommand), fds
