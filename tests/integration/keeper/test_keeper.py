"""Keepers on a real server: what they know is the ledger's, and outlives files, processes and the server."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest

from actors.actor import grant_of
from actors.keeper.actor import Keeper
from protocol import subjects
from protocol.faults import Code, FaultError
from protocol.runs.requests import AskRun, RunNews
from protocol.runs.states import RunStatus
from tests.support.nats import OVERSEER, NatsServer, serve_nats
from tests.unit.actors.keeper.ledger_data import (
    KEY,
    ME,
    NOW,
    RUN,
    Asking,
    asking,
    created,
    keeping,
    run_id,
    step,
    success,
    taken,
)

pytestmark = pytest.mark.nats

TEST_S = 240.0
PROCESS = Path(__file__).with_name("process.py")
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the server room for all journals and files, as much as each may take."""
    monkeypatch.setattr("tests.support.nats.STORE_BYTES", 2**34)


@dataclass
class World:
    """A server with a ledger, somebody who writes and asks, and the folder of the keepers."""

    server: NatsServer
    asking: Asking
    folder: Path

    @asynccontextmanager
    async def keeper(self, replica: str = "r1") -> AsyncGenerator[Keeper]:
        async with self.server.connect("keeper") as transport, keeping(transport, self.folder, replica) as keeper:
            yield keeper

    @asynccontextmanager
    async def doomed(self) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
        """Run a keeper in a process of its own; gives what kills it."""
        key = self.server.secrets["keeper"]
        argv = [sys.executable, "-P", str(PROCESS), str(self.folder), self.server.url, key.seed, key.public, KEY]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        async with await anyio.open_process(argv, stdout=DEVNULL, stderr=DEVNULL, env=env) as process:

            async def kill() -> None:
                process.kill()
                await process.wait()

            try:
                yield kill
            finally:
                if process.returncode is None:
                    process.kill()

    @property
    def file(self) -> Path:
        return self.folder / "keeper" / "keeper-0.sqlite"

    def applied(self) -> int:
        """Look at how far a keeper is that is at work."""
        try:
            with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as connection:
                return int(
                    connection.execute(
                        "SELECT coalesce(max(applied), 0) FROM positions WHERE journal = 'ledger'"
                    ).fetchone()[0]
                )
        except sqlite3.Error:
            return 0


@asynccontextmanager
async def world(folder: Path) -> AsyncGenerator[World]:
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(folder, {"keeper": grant_of(Keeper)}) as server,
            server.connect(OVERSEER) as transport,
            asking(transport) as asker,
        ):
            yield World(server, asker, folder / "data")


async def everything(asker: Asking) -> tuple[Any, ...]:
    return (
        await asker.list(limit=1_000),
        [await asker.get(run_id(number)) for number in range(1, 4)],
        [(await asker.follow(run_id(number))).events for number in range(1, 4)],
        await asker.read_whole(4),
    )


async def some_runs(asker: Asking) -> None:
    kept = await asker.keep(b"0123456789ab", expires_at=2**52)
    await asker.write(*success(run_id(1), result={"items": [1]}, artifacts=(kept,)), *success(run_id(2)))
    await asker.write(created(run_id(3)))


async def test_a_deleted_file_loses_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await some_runs(place.asking)
        async with place.keeper():
            before = await everything(place.asking)
        shutil.rmtree(place.folder / "keeper")
        async with place.keeper():
            assert await everything(place.asking) == before


@pytest.mark.slow
async def test_a_broken_file_loses_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        await some_runs(place.asking)
        async with place.keeper():
            before = await everything(place.asking)
        place.file.write_bytes(place.file.read_bytes()[:9_000] + os.urandom(9_000))
        async with place.keeper():
            assert await everything(place.asking) == before


@pytest.mark.slow
async def test_whichever_replica_answers_a_client_reads_what_it_has_written(tmp_path: Path) -> None:
    async with world(tmp_path) as place, AsyncExitStack() as stack:
        for replica in ("r1", "r2", "r3"):
            await stack.enter_async_context(place.keeper(replica))
        for number in range(1, 30):
            name = run_id(number)
            await place.asking.write(created(name))
            queued = await place.asking.get(name)
            await place.asking.write(taken(name), step(0, name))
            running = await place.asking.get(name)
            total = (await place.asking.list()).total
            assert (queued.status, running.status, running.progress.done_steps) == ("queued", "running", 1)
            assert total == number


@pytest.mark.full
@pytest.mark.slow
async def test_a_keeper_that_is_killed_while_it_catches_up_goes_on_where_it_was(tmp_path: Path) -> None:
    async with world(tmp_path) as place:
        names = tuple(map(str, range(6_000)))
        await place.asking.write(created(steps=names), taken())
        async with anyio.create_task_group() as tasks:
            for first in range(20):
                tasks.start_soon(_steps, place.asking, range(first, len(names), 20))
        async with place.doomed() as kill:
            while place.applied() < 256:
                await anyio.sleep(0.001)
            await kill()
        reached = place.applied()
        async with place.keeper():
            run = await place.asking.get()

        assert 0 < reached <= len(names) + 2
        assert (run.status, run.progress.done_steps) == (RunStatus.RUNNING, len(names))


async def _steps(asker: Asking, numbers: range) -> None:
    for index in numbers:
        await asker.write(step(index, at=NOW + 500))


async def test_a_server_that_dies_is_waited_for_and_nothing_is_missed(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        last = await place.asking.write(created())
        news = list[RunNews]()

        async def follow() -> None:
            news.append(await place.asking.follow(after=last, wait_ms=20_000))

        await place.asking.get()
        await place.server.kill()
        await place.server.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await place.asking.write(taken())

        assert [one.event for one in news[0].events] == ["started"]
        assert (await place.asking.get()).status is RunStatus.RUNNING


@pytest.mark.slow
async def test_what_cannot_be_known_to_be_fresh_is_not_told(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper() as keeper:
        await place.asking.write(created())
        await place.asking.get()
        database = keeper.settings.data_dir / "keeper" / "keeper-0.sqlite"
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # nothing can be taken in
            await place.asking.write(taken())
            with pytest.raises(FaultError) as caught:
                await place.asking.bus.call(subjects.RUN_GET, AskRun(run_id=RUN, caller=ME), timeout_ms=3_000)

        assert caught.value.fault.code is Code.INTERNAL_UNAVAILABLE
        assert (await place.asking.get()).status is RunStatus.RUNNING
