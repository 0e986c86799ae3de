"""Runs on a real nats-server: two replicas, one queue, and everybody may die."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from msgspec import structs

from actors.actor import grant_of
from actors.runner.actor import Runner
from actors.runner.template import SessionUse
from bus import Bus
from bus.nats.transport import NatsTransport
from bus.permissions import EVERYTHING
from protocol.access import KeyEnd
from protocol.browsers.operations import CloseSession
from protocol.faults import Code
from protocol.runs.events import CancelRequested, RunEnded, RunTaken, StepEnded
from protocol.runs.states import ArtifactType, RunStatus
from protocol.subject_kinds import Bucket, Journal, Objects, Work
from protocol.subjects import KEY_ENDS, RUN, RUN_CREATE, table
from tests.support.nats import OVERSEER, NatsServer, serve_nats
from tests.unit.actors.runner.fakes import LOGIN, ME, PASSWORD, World, among, doomed, status, taken

pytestmark = pytest.mark.nats

TEST_S = 240.0
BOTH = ("r1", "r2")
AT_ONCE = 2
MIB = 1024 * 1024
GRANTS = {"runner": grant_of(Runner), "browser": EVERYTHING, "asker": EVERYTHING}


@asynccontextmanager
async def running(folder: Path, replicas: Sequence[str] = BOTH) -> AsyncGenerator[tuple[World, NatsServer]]:
    """Run some replicas with the grant that they have in a system."""
    with anyio.fail_after(TEST_S):
        async with serve_nats(folder, GRANTS) as server:
            async with server.connect(OVERSEER) as transport:
                await _furnish(transport)
            async with (
                server.connect("browser") as theirs,
                server.connect("asker") as ours,
                Bus(theirs, "browser", "b1").running() as browser,
                Bus(ours, "asker", "a1").running() as asker,
            ):

                def connect() -> Any:
                    return server.connect("runner")

                async with among(browser, asker, connect, replicas, runs_at_once=AT_ONCE) as made:
                    yield made, server


async def _furnish(transport: NatsTransport) -> None:
    """Make what a supervisor makes."""
    for _, entry in table():
        match entry:
            case Journal():
                await transport.records(structs.replace(entry, max_bytes=2 * MIB))
            case Objects():
                await transport.objects(structs.replace(entry, max_bytes=2 * MIB))
            case Bucket():
                await transport.keys(entry)
            case Work():
                await transport.arrange(replace(entry, at_once=AT_ONCE) if entry is RUN else entry)
            case _:
                pass


async def at_work(here: World, count: int) -> None:
    while here.chores.at_work < count:
        await anyio.sleep(0.01)


async def test_a_run_is_done_by_one_of_two_replicas_and_leaves_its_files(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        more: dict[str, Any] = {"use": SessionUse.OWN, "size": 200_000, "artifacts": tuple(ArtifactType)}
        run = await here.create(("a", "tab", "page"), **more)
        ended = await here.ended(run.run_id)
        whole = msgspec.json.decode(await here.file(ended))
        while not any(isinstance(asked.do, CloseSession) for asked in here.browser):
            await anyio.sleep(0.01)

        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert ended.cut
        assert [len(one["said"]["words"]) for one in whole["items"]] == [200_000] * 3
        assert (await here.file(ended, 1)).startswith(b"name,status\r\nchore a,")
        assert (await here.file(ended, 2)).startswith(b"- chore a\n")
        assert len(await taken(here, run.run_id)) == 1


async def test_no_more_runs_are_in_hand_than_all_replicas_together_may_have(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        runs = [await here.create(("hold", "alone")) for _ in range(6)]
        await at_work(here, AT_ONCE)
        canceled = await here.cancel(runs[-1].run_id)
        begun = sum([len(await taken(here, run.run_id)) for run in runs])
        here.chores.let_go.set()
        ends = [await here.ended(run.run_id) for run in runs]

        assert begun == AT_ONCE
        assert here.chores.most == AT_ONCE
        assert canceled.current_status is RunStatus.CANCELED
        assert Counter(end.status for end in ends) == {RunStatus.SUCCEEDED: 5, RunStatus.CANCELED: 1}


async def test_a_run_is_canceled_by_whichever_replica_is_asked(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        run = await here.create(("hold", "b", "c"), at_once=1)
        await at_work(here, 1)
        answers = [await here.cancel(run.run_id) for _ in range(4)]
        here.chores.let_go.set()
        ended = await here.ended(run.run_id)

        assert {answer.current_status for answer in answers} == {RunStatus.RUNNING}
        assert status(ended) == (RunStatus.CANCELED, Code.RUN_CANCELED)
        assert here.chores.begun == ["hold"]


@pytest.mark.slow
@pytest.mark.requirement("002.8.architecture")
async def test_a_replica_that_dies_is_followed_by_another_and_no_step_is_done_twice(tmp_path: Path) -> None:
    async with running(tmp_path, replicas=()) as (here, _):
        async with doomed(here, "r1") as first:
            run = await here.create((*"abcdef", "hold", *"ghij"), at_once=1)
            await at_work(here, 1)
            while "hold" not in here.chores.begun:
                await anyio.sleep(0.01)
            first.cancel()
        here.chores.let_go.set()
        async with here.runner("r2"):
            ended = await here.ended(run.run_id)
            lines = await here.lines(run.run_id)

            assert status(ended) == (RunStatus.SUCCEEDED, None)
            assert [line.replica for line in lines if isinstance(line, RunTaken)] == ["r1", "r2"]
            assert sum(isinstance(line, RunEnded) for line in lines) == 1
            assert sorted(line.index for line in lines if isinstance(line, StepEnded)) == list(range(12))
            assert Counter(here.chores.begun) == {**dict.fromkeys([*"abcdefghij", "last"], 1), "hold": 2}


@pytest.mark.slow
async def test_a_run_outlives_the_server(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, server):
        run = await here.create(("a", "hold", "b", "page"), at_once=1)
        while "hold" not in here.chores.begun:
            await anyio.sleep(0.01)
        await server.kill()
        here.chores.let_go.set()
        await server.start()
        ended = await here.ended(run.run_id)

        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert Counter(here.chores.done) == {"a": 1, "hold": 1, "b": 1, "page": 1, "last": 1}


async def test_a_key_and_an_id_begin_one_run_however_many_replicas_are_asked_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        ids = list[str]()

        async def ask(**more: Any) -> None:
            ids.append((await here.create(("a",), **more)).run_id)

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(lambda: ask(idempotency_key="the-key"))
        asked = here.asked(("b",))
        for _ in range(3):
            await here.bus.call(RUN_CREATE, asked)
        for run_id in {*ids, asked.run_id}:
            await here.ended(run_id)

        assert len(set(ids)) == 1
        assert here.chores.begun.count("a") == 1
        assert here.chores.begun.count("b") == 1


async def test_a_run_that_failed_is_resumed_and_its_secret_travels_sealed(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        login = {"user": "me", "password": PASSWORD}
        more: dict[str, Any] = {"local": True}
        old = await here.done(("secret", "fail:EXECUTION_ERROR"), template=LOGIN, login=login, at_once=1, **more)
        new = await here.create(resume=old.run_id, inputs={"login": login}, **more)
        ended = await here.ended(new.run_id)
        steps = await here.steps(new.run_id)

        assert (old.status, ended.status) == (RunStatus.FAILED, RunStatus.FAILED)
        assert {index: step.carried for index, step in steps.items()} == {0: True, 1: False}
        assert here.login.begun.count("secret") == 1
        assert not _lies_in_the_open(tmp_path)


def _lies_in_the_open(folder: Path) -> bool:
    return any(PASSWORD.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_replicas_hear_of_the_end_of_a_key_and_stop_its_runs(tmp_path: Path) -> None:
    async with running(tmp_path) as (here, _):
        runs = [await here.create(("hold", "b"), at_once=1) for _ in BOTH]
        while here.chores.at_work < AT_ONCE:
            await anyio.sleep(0.01)
        await (await here.bus.table(KEY_ENDS)).put(ME, KeyEnd(at=1))
        for run in runs:
            while not any(isinstance(line, CancelRequested) for line in await here.lines(run.run_id)):
                await anyio.sleep(0.05)
        here.chores.let_go.set()
        ends = [await here.ended(run.run_id) for run in runs]

        assert [status(one) for one in ends] == [(RunStatus.CANCELED, Code.RUN_CANCELED)] * 2
        assert here.chores.begun == ["hold"] * AT_ONCE
