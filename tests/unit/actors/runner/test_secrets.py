"""What is secret in the inputs of a run: in the memory of one replica, and in no line, file, packet or log."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from actors.runner.inputs import Vault
from actors.runner.run_log import RunLog
from bus import Bus
from bus.seal import Seal
from protocol import subjects
from protocol.runs.requests import AskSecrets, CreateRun
from protocol.runs.states import ArtifactType, RunStatus
from tests.unit.actors.runner.fakes import KEY, LOGIN, PASSWORD, World, doomed, hand_out_again, taken, world

SECRET = {"user": "me", "password": PASSWORD}


def asked(here: World, *chores: str) -> CreateRun:
    forms = tuple(ArtifactType)
    here.login.let_go = here.chores.let_go
    return here.asked(chores, LOGIN, login=SECRET, local=True, at_once=1, artifacts=forms)


@asynccontextmanager
async def listening(here: World) -> AsyncGenerator[list[bytes]]:
    """Hear everything that is said."""
    heard = list[bytes]()

    async def listen() -> None:
        async for message in here.bus.tap():
            heard.append(message.payload)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await anyio.wait_all_tasks_blocked()
        yield heard
        tasks.cancel_scope.cancel()


async def everything(here: World, run_id: str) -> str:
    """Read all that is written down, as whoever has the key reads it."""
    found = [repr(await here.lines(run_id)), repr(here.broker.tables), repr(here.broker.queues)]
    found += [repr(store) for store in here.broker.stores.values()]
    ended = await here.ended(run_id)
    return "".join([*found, *[repr(await here.file(ended, one)) for one in range(len(ended.artifacts))]])


@pytest.mark.parametrize("replicas", [1, 2])
async def test_a_secret_reaches_the_step_and_is_written_down_nowhere(
    replicas: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"r{number}" for number in range(replicas)]
    async with world(replicas=names) as here, listening(here) as heard:
        question = asked(here, "a", "secret", "break")
        await here.bus.call(subjects.RUN_CREATE, question)
        ended = await here.ended(question.run_id)

        assert [one["status"] for one in ended.result["items"]] == ["succeeded", "succeeded", "failed"]
        assert ended.status is RunStatus.FAILED
        assert PASSWORD not in await everything(here, question.run_id)
        assert not any(PASSWORD.encode() in payload for payload in heard)
        assert PASSWORD not in capsys.readouterr().out
        assert len(heard) >= 2


async def taken_over(here: World, question: CreateRun) -> None:
    while len(await taken(here, question.run_id)) < 2:
        hand_out_again(here)
        await anyio.sleep(0.002)


async def test_whoever_takes_a_run_over_asks_the_replica_that_was_given_the_secret() -> None:
    async with world(replicas=()) as here, doomed(here, "r1"), listening(here) as heard:
        question = asked(here, "hold", "secret")
        await here.bus.call(subjects.RUN_CREATE, question)
        while "hold" not in here.login.begun:
            await anyio.sleep(0.002)
        async with here.runner("r2"):
            await taken_over(here, question)
            here.chores.let_go.set()

            assert (await here.ended(question.run_id)).status is RunStatus.SUCCEEDED
            assert not any(PASSWORD.encode() in payload for payload in heard)


async def test_a_secret_that_died_with_its_replica_fails_the_step_that_needs_it() -> None:
    async with world(replicas=()) as here:
        async with doomed(here, "r1") as first:
            question = asked(here, "hold", "secret")
            await here.bus.call(subjects.RUN_CREATE, question)
            while "hold" not in here.login.begun:
                await anyio.sleep(0.002)
            first.cancel()
        here.chores.let_go.set()
        async with here.runner("r2"):
            await taken_over(here, question)
            ended = await here.ended(question.run_id)

            assert [one["status"] for one in ended.result["items"]] == ["succeeded", "failed"]
            assert ended.step_code == "INVALID_PARAMETER"


async def test_a_replica_tells_a_secret_sealed_and_none_that_it_does_not_have() -> None:
    async with world() as here:
        question = asked(here, "hold")
        await here.bus.call(subjects.RUN_CREATE, question)
        call = subjects.RUN_SECRETS.at(replica="r1")
        told = await here.bus.call(call, AskSecrets(run_id=question.run_id))
        nothing = await here.bus.call(call, AskSecrets(run_id=here.new_id()))
        here.chores.let_go.set()
        await here.ended(question.run_id)
        while (await here.bus.call(call, AskSecrets(run_id=question.run_id))).sealed is not None:
            await anyio.sleep(0.002)

        assert told.sealed is not None
        assert PASSWORD.encode() not in told.sealed
        assert nothing.sealed is None


async def test_secrets_of_runs_that_are_over_are_forgotten() -> None:
    async with world() as here:
        over = (await here.done()).run_id
        going = (await here.create(("hold",))).run_id
        bus = Bus(here.broker.connect("vault"), "vault", "v1")
        bus.seal = Seal.of(KEY)
        vault = Vault(bus)
        for run_id in (over, going):
            vault.keep(run_id, SECRET)
        await vault.sweep(RunLog(here.ledger))

        assert vault.sealed(over) is None
        assert vault.sealed(going) is not None
        assert PASSWORD not in repr(vault)
