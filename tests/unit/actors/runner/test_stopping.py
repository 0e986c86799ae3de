"""Runs that do not get to the end of their steps: canceled, out of time, and what they leave then."""

from __future__ import annotations

import anyio
import pytest

from actors.key_ends import KEY_ENDED
from actors.runner.template import SessionUse
from actors.usage import utc_day
from protocol import subjects
from protocol.access import KeyEnd, UsageRecord
from protocol.browsers.operations import CloseSession
from protocol.faults import Code, FaultError
from protocol.runs.events import CancelRequested, RunTaken
from protocol.runs.responses import CancelAnswer
from protocol.runs.states import ArtifactType, RunStatus, StepStatus
from tests.unit.actors.runner.fakes import ME, World, doomed, hand_out_again, status, world


async def at_work(here: World, count: int = 1) -> None:
    while here.chores.at_work < count:
        await anyio.sleep(0.002)


async def stopped(here: World, run_id: str) -> None:
    """Wait until a run is to stop."""
    while not any(isinstance(line, CancelRequested) for line in await here.lines(run_id)):
        await anyio.sleep(0.01)


async def statuses(here: World, run_id: str) -> list[str]:
    ended = await here.ended(run_id)
    return [one["status"] for one in ended.result["items"]]


@pytest.mark.requirement("002.4.cancel")
async def test_a_cancel_lets_the_steps_in_hand_end_and_begins_no_other() -> None:
    async with world() as here:
        run = await here.create(("a", "hold", "b", "c"), at_once=1)
        await at_work(here)
        answer = await here.cancel(run.run_id)
        again = await here.cancel(run.run_id)
        here.chores.let_go.set()
        ended = await here.ended(run.run_id)

        assert answer == CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING)
        assert again == answer
        assert status(ended) == (RunStatus.CANCELED, Code.RUN_CANCELED)
        assert [one["status"] for one in ended.result["items"]] == ["succeeded", "succeeded", "skipped", "skipped"]
        assert here.chores.begun == ["a", "hold"]
        assert sum(isinstance(line, CancelRequested) for line in await here.lines(run.run_id)) == 1
        assert await here.file(ended)


async def test_a_cancel_counts_even_when_the_last_step_is_in_hand() -> None:
    async with world() as here:
        run = await here.create(("hold", "alone"))
        await at_work(here)
        await here.cancel(run.run_id)
        here.chores.let_go.set()

        assert (await here.ended(run.run_id)).status is RunStatus.CANCELED


async def test_a_run_in_the_queue_is_canceled_without_a_step() -> None:
    async with world(runs_at_once=1) as here:
        first = await here.create(("hold",))
        await at_work(here)
        second = await here.create(("b",))
        answer = await here.cancel(second.run_id)
        here.chores.let_go.set()
        await here.ended(first.run_id)
        third = await here.done(("c",))

        assert answer == CancelAnswer(cancel_requested=True, current_status=RunStatus.CANCELED)
        assert status(await here.ended(second.run_id)) == (RunStatus.CANCELED, Code.RUN_CANCELED)
        assert "b" not in here.chores.begun
        assert third.status is RunStatus.SUCCEEDED
        assert not any(isinstance(line, RunTaken) for line in await here.lines(second.run_id))


async def test_a_run_that_is_over_is_not_canceled_any_more() -> None:
    async with world() as here:
        ended = await here.done()

        assert await here.cancel(ended.run_id) == CancelAnswer(
            cancel_requested=False, current_status=RunStatus.SUCCEEDED
        )


@pytest.mark.parametrize("caller", ["somebody else", ""])
async def test_nobody_cancels_the_run_of_somebody_else(caller: str) -> None:
    async with world() as here:
        run = await here.create(("hold",))
        with pytest.raises(FaultError) as caught:
            await here.cancel(run.run_id, caller)

        assert caught.value.fault.code is Code.RUN_NOT_FOUND


async def test_a_cancel_wakes_a_run_that_waits_for_room() -> None:
    async with world() as here:
        here.busy = 1_000_000
        run = await here.create(("tab", "b", "alone"), use=SessionUse.OWN, at_once=1)
        while here.busy == 1_000_000:
            await anyio.sleep(0.002)
        await here.cancel(run.run_id)

        assert status(await here.ended(run.run_id)) == (RunStatus.CANCELED, Code.RUN_CANCELED)
        assert await here.steps(run.run_id) == {}
        while not any(isinstance(asked.do, CloseSession) for asked in here.browser):
            await anyio.sleep(0.002)


@pytest.mark.requirement("002.10.limits")
async def test_the_end_of_the_time_cuts_off_what_is_in_hand_and_keeps_what_was_done() -> None:
    async with world() as here:
        run = await here.create(("a", "hold", "b"), at_once=1, timeout_ms=300)
        ended = await here.ended(run.run_id)

        assert status(ended) == (RunStatus.FAILED, Code.RUN_TIMEOUT)
        assert [one["status"] for one in ended.result["items"]] == ["succeeded", "skipped", "skipped"]
        assert [one.status for one in (await here.steps(run.run_id)).values()] == [StepStatus.SUCCEEDED]
        assert ended.artifacts
        assert here.chores.at_work == 0


async def test_the_end_of_the_time_ends_a_wait_for_room_too() -> None:
    async with world() as here:
        here.busy = 1_000_000

        assert status(await here.done(("tab", "alone"), use=SessionUse.OWN, timeout_ms=300)) == (
            RunStatus.FAILED,
            Code.RUN_TIMEOUT,
        )


@pytest.mark.parametrize("part", ["stages", "result", "items", "brief", "table"])
@pytest.mark.slow
async def test_a_template_that_breaks_does_not_keep_a_run_from_its_end(part: str) -> None:
    async with world(artifact_inline_bytes=1_024) as here:
        run = await here.create(("hold", "b"), at_once=1, size=2_000, artifacts=(ArtifactType.CSV,))
        await at_work(here)

        def broken(*_: object, **__: object) -> None:
            msg = "broken"
            raise RuntimeError(msg)

        setattr(here.chores, part, broken)
        here.chores.let_go.set()

        assert (await here.ended(run.run_id)).status.final


async def test_with_the_key_of_its_caller_a_run_ends_and_one_in_the_queue_does_no_step() -> None:
    async with world(runs_at_once=1) as here:
        running = await here.create(("hold", "b", "c"), at_once=1)
        await at_work(here)
        queued = await here.create(("d",))
        others = await here.create(("e",), caller="somebody else")
        await (await here.bus.table(subjects.KEY_ENDS)).put(ME, KeyEnd(at=1))
        await stopped(here, running.run_id)
        here.chores.let_go.set()
        ends = [await here.ended(one.run_id) for one in (running, queued, others)]

        assert [status(one) for one in ends] == [
            (RunStatus.CANCELED, Code.RUN_CANCELED),
            (RunStatus.CANCELED, Code.RUN_CANCELED),
            (RunStatus.SUCCEEDED, None),
        ]
        assert all(one.fault is not None and KEY_ENDED in one.fault.message for one in ends[:2])
        assert here.chores.begun[0] == "hold"
        assert not {"b", "c", "d"} & set(here.chores.begun)


async def test_a_run_whose_key_has_ended_meanwhile_does_no_step_more_after_a_restart() -> None:
    async with world(()) as here:
        async with doomed(here, "r1") as scope:
            run = await here.create(("hold", "b"), at_once=1)
            await at_work(here)
            scope.cancel()
        await (await here.bus.table(subjects.KEY_ENDS)).put(ME, KeyEnd(at=1))
        here.chores.let_go.set()
        hand_out_again(here)
        async with here.runner("r2"):
            ended = await here.ended(run.run_id)

        assert status(ended) == (RunStatus.CANCELED, Code.RUN_CANCELED)
        assert here.chores.done == []


async def test_pages_that_a_run_reads_count_for_its_caller() -> None:
    async with world(()) as here:
        async with here.runner("r1"):
            ended = await here.done(("page", "page", "alone"))
        kept = await (await here.bus.table(subjects.USAGE)).get(f"{ME}/{utc_day()}/r1")

        assert ended.status is RunStatus.SUCCEEDED
        assert kept is not None
        assert kept.value == UsageRecord(pages={"intelligence": 2}, cost_units=2)
