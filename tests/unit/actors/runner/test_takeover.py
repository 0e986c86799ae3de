"""Runs whose replica dies, stands still or loses its way to the bus: another goes on, and nothing is done twice."""

from __future__ import annotations

import anyio

from actors.runner.executor import MAX_ATTEMPTS
from actors.runner.template import SessionUse
from bus.permissions import stream_name
from protocol.browsers.operations import CloseTab
from protocol.faults import Code
from protocol.runs.events import RunEnded, StepEnded, state_topic, step_topic
from protocol.runs.states import RunStatus, StepStatus
from protocol.subjects import RUN
from tests.unit.actors.runner.fakes import World, doomed, hand_out_again, status, taken, world


async def at_work(here: World, name: str) -> None:
    while name not in here.chores.begun:
        await anyio.sleep(0.002)


async def test_another_replica_goes_on_with_the_steps_that_have_no_outcome() -> None:
    async with world(replicas=()) as here:
        async with doomed(here, "r1") as first:
            run = await here.create(("a", "b", "hold", "c"), at_once=1)
            await at_work(here, "hold")
            first.cancel()
        hand_out_again(here)
        here.chores.let_go.set()
        async with here.runner("r2"):
            ended = await here.ended(run.run_id)

            assert status(ended) == (RunStatus.SUCCEEDED, None)
            assert await taken(here, run.run_id) == [("r1", 1), ("r2", 2)]
            assert here.chores.begun == ["a", "b", "hold", "hold", "c", "last"]
            assert here.chores.seen[-1].keys() == {0, 1, 2, 3}


async def test_a_replica_that_stood_still_stops_when_another_has_the_run() -> None:
    async with world(replicas=("r1",)) as here:
        run = await here.create(("a", "hold", "b"), at_once=1)
        await at_work(here, "hold")
        hand_out_again(here)
        async with here.runner("r2"):
            while len(await taken(here, run.run_id)) < 2:
                hand_out_again(here)
                await anyio.sleep(0.002)
            here.chores.let_go.set()
            ended = await here.ended(run.run_id)
            lines = await here.lines(run.run_id)

            assert ended.status is RunStatus.SUCCEEDED
            assert sum(isinstance(line, RunEnded) for line in lines) == 1
            assert [line.index for line in lines if isinstance(line, StepEnded)] == [0, 1, 2, 3]
            assert here.chores.begun.count("b") == 1


async def test_the_first_outcome_of_a_step_counts() -> None:
    async with world() as here:
        run = await here.create(("hold", "b"), at_once=1)
        await at_work(here, "hold")
        theirs = StepEnded(
            run_id=run.run_id, at=1, index=0, name="chore hold", status=StepStatus.SUCCEEDED, output={"chore": "theirs"}
        )
        await here.ledger.append(step_topic(run.run_id, 0), theirs, last=0)
        here.chores.let_go.set()
        ended = await here.ended(run.run_id)

        assert ended.status is RunStatus.SUCCEEDED
        assert ended.result["items"][0]["said"] == {"chore": "theirs"}


async def test_a_replica_whose_run_somebody_else_ends_writes_nothing_more() -> None:
    async with world() as here:
        run = await here.create(("hold", "b"), at_once=1)
        await at_work(here, "hold")
        last = await here.ledger.last(state_topic(run.run_id))
        assert last is not None
        theirs = RunEnded(run_id=run.run_id, at=1, status=RunStatus.FAILED)
        await here.ledger.append(state_topic(run.run_id), theirs, last=last.sequence)
        here.chores.let_go.set()
        while here.broker.queues[stream_name(RUN)].waiting:
            await anyio.sleep(0.002)

        assert [line for line in await here.lines(run.run_id) if isinstance(line, RunEnded)] == [theirs]
        assert "b" not in here.chores.begun


async def test_the_time_of_a_run_goes_on_while_nobody_has_it() -> None:
    async with world(replicas=()) as here:
        async with doomed(here, "r1") as first:
            run = await here.create(("a", "hold"), at_once=1, timeout_ms=400)
            await at_work(here, "hold")
            first.cancel()
        await anyio.sleep(0.5)  # the time itself is what is tested
        hand_out_again(here)
        async with here.runner("r2"):
            assert status(await here.ended(run.run_id)) == (RunStatus.FAILED, Code.RUN_TIMEOUT)
            assert here.chores.begun == ["a", "hold"]


async def test_a_run_that_kills_every_replica_is_ended() -> None:
    async with world(replicas=()) as here:
        async with doomed(here, "r0") as first:
            run = await here.create(("a", "hold"), at_once=1)
            await at_work(here, "hold")
            first.cancel()
        for number in range(1, MAX_ATTEMPTS):
            hand_out_again(here)
            async with doomed(here, f"r{number}") as scope:
                while here.chores.begun.count("hold") <= number:
                    await anyio.sleep(0.002)
                scope.cancel()
        hand_out_again(here)
        async with here.runner("last"):
            ended = await here.ended(run.run_id)

            assert status(ended) == (RunStatus.FAILED, Code.EXECUTION_ERROR)
            assert ended.fault is not None
            assert ended.fault.message == "The processes that did the run died 5 times."
            assert [one["status"] for one in ended.result["items"]] == ["succeeded", "skipped"]
            assert here.chores.begun.count("hold") == MAX_ATTEMPTS


async def test_tabs_that_a_dead_replica_left_are_closed_before_others_are_opened() -> None:
    async with world(replicas=()) as here:
        async with doomed(here, "r1") as first:
            run = await here.create(("tab", "hold", "tab"), use=SessionUse.OWN, in_tabs=True, at_once=1)
            await at_work(here, "hold")
            first.cancel()
        here.tabs = 2
        hand_out_again(here)
        here.chores.let_go.set()
        async with here.runner("r2"):
            await here.ended(run.run_id)

            assert [asked.do.tab_id for asked in here.browser if isinstance(asked.do, CloseTab)] == [1, 2]


async def test_an_act_that_is_repeated_after_a_takeover_has_the_order_that_it_had() -> None:
    async with world(replicas=()) as here:
        here.busy = 1_000_000
        async with doomed(here, "r1") as first:
            run = await here.create(("tab", "alone"), use=SessionUse.OWN)
            while here.busy == 1_000_000:
                await anyio.sleep(0.002)
            first.cancel()
        here.busy = 0
        hand_out_again(here)
        async with here.runner("r2"):
            await here.ended(run.run_id)

            assert len({asked.order for asked in here.browser if asked.order}) == 1
