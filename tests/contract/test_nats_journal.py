"""What a journal on NATS alone can meet: a line that was taken, and whose confirmation was lost."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from bus.transport import StreamRecord
from tests.contract.world import DIARY, GRANTS, TEST_S
from tests.support.nats import OVERSEER, NatsServer, serve_nats

pytestmark = pytest.mark.nats


@asynccontextmanager
async def asleep(server: NatsServer) -> AsyncGenerator[None]:
    """Have the server read nothing while the block lasts, and everything that was sent to it afterwards."""
    assert server.process is not None
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


@pytest.mark.parametrize("ordered", [True, False], ids=["after the last known", "after whatever was the last"])
async def test_a_line_whose_confirmation_was_lost_is_written_once(tmp_path: Path, ordered: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as transport:
            records = await transport.records(DIARY)
            sequences: list[int] = []

            async def write(number: int) -> None:
                last = (sequences[-1] if sequences else 0) if ordered else None
                sequences.append(await records.append("run.a", b"%d" % number, last=last))

            for number in range(5):
                async with anyio.create_task_group() as tasks, asleep(server):
                    tasks.start_soon(write, number)
                    await anyio.wait_all_tasks_blocked()
                    await records.reconnected()
                    await anyio.wait_all_tasks_blocked()

            lines = await records.batch(">", 0, 100)
            assert [line.data for line in lines] == [b"%d" % number for number in range(5)]
            assert [line.sequence for line in lines] == sequences == list(range(1, 6))


async def test_a_line_that_others_have_written_after_is_known_again(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as transport:
            records = await transport.records(DIARY)
            written: list[int] = []

            async def write() -> None:
                written.append(await records.append("run.a", b"mine", last=0))

            async with anyio.create_task_group() as tasks, asleep(server):
                tasks.start_soon(write)
                await anyio.wait_all_tasks_blocked()
                await transport.store.publish("diary.run.a", b"theirs")
                await records.reconnected()
                await anyio.wait_all_tasks_blocked()

            lines: list[StreamRecord] = []
            while len(lines) < 2:  # the server stores what was published in its own time
                lines = await records.batch(">", 0, 100)
            assert written == [1]
            assert [(line.sequence, line.data) for line in lines] == [(1, b"mine"), (2, b"theirs")]
            assert await records.at(1) == StreamRecord(1, "run.a", b"mine", lines[0].at_ms)
