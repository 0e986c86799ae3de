"""What a keeper tells of runs, asked over a bus in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET

from protocol.faults import Code, FaultError, fault
from protocol.runs.events import LedgerLine, RunEnded
from protocol.runs.responses import ArtifactRef, RunErrorDetails, RunMetrics, RunProgress, RunSummary
from protocol.runs.states import ArtifactType, RunStatus, StepStatus
from tests.requirements import requirement
from tests.unit.actors.keeper.ledger_data import (
    ARTIFACT,
    DAY_MS,
    ME,
    NOW,
    RUN,
    YOU,
    Asking,
    cancelled,
    created,
    ended,
    failed,
    kept,
    run_id,
    step,
    success,
    taken,
    world,
)


async def refused(asker: Asking, run: str = RUN, caller: str = ME) -> Code:
    with pytest.raises(FaultError) as caught:
        await asker.get(run, caller)
    return caught.value.fault.code


@requirement("002.4.runs")
async def test_a_run_is_told_of_as_it_goes(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        asker = place.asking
        await asker.write(created(session_id="sess_1", own_session=True))
        queued = await asker.get()
        await asker.write(taken(), step(0), step(1, status=StepStatus.FAILED, fault=fault(Code.NETWORK_TIMEOUT)))
        running = await asker.get()

        assert (queued.status, queued.progress) == (RunStatus.QUEUED, RunProgress(total_steps=3, done_steps=0))
        assert queued.metrics == RunMetrics(elapsed_ms=0, queued_ms=5_000)
        assert (queued.session_id, queued.session_preserved) == ("sess_1", False)
        assert (running.status, running.progress) == (RunStatus.RUNNING, RunProgress(total_steps=3, done_steps=2))
        assert running.metrics == RunMetrics(elapsed_ms=4_900, queued_ms=100)
        assert (running.created_at, running.updated_at) == (NOW, NOW + 201)
        assert running.result is UNSET
        assert running.artifacts is UNSET
        assert running.error_code is UNSET


async def test_what_a_run_was_asked_for_is_told_to_who_asks_for_that_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created(inputs={"urls": ["https://a.example"]}, conversation="c1"))
        run, whole = await place.asking.get(), await place.asking.get(include_inputs=True)

        assert (run.inputs, run.conversation_id) == (UNSET, UNSET)
        assert (whole.inputs, whole.conversation_id) == ({"urls": ["https://a.example"]}, "c1")


async def test_a_run_that_is_over_is_told_with_its_result_and_files(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        result = {"summary": {"total": 1, "succeeded": 1, "failed": 0}, "items": [{"title": "A"}]}
        await place.asking.write(*success(result=result, cut=True, artifacts=(kept(),)))
        run = await place.asking.get()

        assert (run.status, run.progress) == (RunStatus.SUCCEEDED, RunProgress(total_steps=3, done_steps=3))
        assert run.metrics == RunMetrics(elapsed_ms=1_000, queued_ms=100)
        assert (run.result, run.result_truncated) == (result, True)
        expected = ArtifactRef(
            artifact_id=ARTIFACT,
            type=ArtifactType.JSON,
            size=12,
            mime_type="application/json",
            expires_at=NOW + DAY_MS,
        )
        assert run.artifacts == (expected,)
        assert run.error_code is UNSET


@requirement("002.7.errors")
async def test_a_step_that_fails_a_run_is_named_with_the_code_below(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        told = fault(Code.STEP_EXECUTION_FAILED, "The page did not come in time.")
        await place.asking.write(
            created(), taken(), failed(told, failed_step="navigate", step_code="NAVIGATION_TIMEOUT")
        )
        run = await place.asking.get()

        assert (run.status, run.error_code) == (RunStatus.FAILED, "STEP_EXECUTION_FAILED")
        assert (run.error, run.recover_hint) == (told.message, told.actions[0].description)
        assert run.details == RunErrorDetails(run_id=RUN, failed_step="navigate", step_error_code="NAVIGATION_TIMEOUT")


@pytest.mark.parametrize(
    ("end", "code", "step_code"),
    [
        (failed(fault(Code.RUN_TIMEOUT)), Code.RUN_TIMEOUT, UNSET),
        (failed(fault(Code.PAGE_CRASHED), failed_step="read"), Code.STEP_EXECUTION_FAILED, "PAGE_CRASHED"),
        (failed(fault(Code.SESSION_NOT_FOUND)), Code.SESSION_NOT_FOUND, UNSET),
        (failed(fault(Code.STEP_EXECUTION_FAILED), failed_step="read"), Code.STEP_EXECUTION_FAILED, UNSET),
        (ended(status=RunStatus.FAILED), Code.INTERNAL_ERROR, UNSET),
        (ended(status=RunStatus.CANCELED, result={"items": []}), Code.RUN_CANCELED, UNSET),
    ],
)
async def test_every_end_that_is_no_success_says_why(
    tmp_path: Path, end: RunEnded, code: Code, step_code: object
) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created(), taken(), step(0), end)
        run = await place.asking.get()
        listed = (await place.asking.list()).runs[0]

        assert (run.error_code, listed.error_code) == (code, code)
        assert run.error
        assert run.recover_hint
        assert run.details is not UNSET
        assert run.details.step_error_code == step_code
        assert run.progress.done_steps == 1


async def test_the_session_of_a_run_is_told_with_what_becomes_of_it(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(
            created(run_id(1)),
            created(run_id(2), session_id="sess_mine"),
            created(run_id(3), session_id="sess_own", own_session=True),
            created(run_id(4), session_id="sess_own", own_session=True, preserved=True, resumed_from=run_id(3)),
        )
        runs = [await place.asking.get(run_id(number)) for number in range(1, 5)]

        assert [one.session_preserved for one in runs] == [UNSET, True, False, True]
        assert [one.session_id for one in runs] == [UNSET, "sess_mine", "sess_own", "sess_own"]
        assert [one.resumed_from for one in runs] == [UNSET, UNSET, UNSET, run_id(3)]


async def test_who_asks_for_the_run_of_somebody_else_finds_none(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        await place.asking.write(created())

        assert await refused(place.asking, RUN, YOU) == Code.RUN_NOT_FOUND
        assert await refused(place.asking, run_id(2)) == Code.RUN_NOT_FOUND
        with pytest.raises(FaultError, match="RUN_NOT_FOUND"):
            await place.asking.follow(caller=YOU)
        assert (await place.asking.list(YOU)).total == 0


@requirement("002.6.transitions")
async def test_the_first_word_counts(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        late: list[LedgerLine] = [
            step(0, status=StepStatus.FAILED),
            step(9),
            step(1, status=StepStatus.RUNNING),
            created(caller=YOU),
        ]
        await place.asking.write(step(2), created(), ended(result=0), taken(), step(0), *late, cancelled(), cancelled())
        canceled = ended(status=RunStatus.CANCELED, result=1)
        await place.asking.write(canceled, ended(result=2), step(1), taken(attempt=2), cancelled())
        run, news = await place.asking.get(), await place.asking.follow()

        assert (run.status, run.result, run.progress.done_steps) == (RunStatus.CANCELED, 1, 1)
        assert run.cancel_requested is True
        assert [one.event for one in news.events] == ["queued", "started", "step", "cancel_requested", "canceled"]


@requirement("002.4.runs")
async def test_runs_are_listed_newest_first_and_counted(tmp_path: Path) -> None:
    async with world(tmp_path) as place, place.keeper():
        for number in range(1, 8):
            template = "multi_tab_compare" if number % 2 else "batch_extract_pages"
            await place.asking.write(created(run_id(number), at=NOW + number // 3, template_id=template))
        await place.asking.write(taken(run_id(2)), taken(run_id(3)), created(run_id(9), caller=YOU))
        everything = await place.asking.list()
        page = await place.asking.list(limit=2, offset=1)
        running = await place.asking.list(status=RunStatus.RUNNING)
        both = await place.asking.list(status=RunStatus.RUNNING, template_id="multi_tab_compare")

        assert [one.run_id for one in everything.runs] == [run_id(number) for number in (7, 6, 5, 4, 3, 2, 1)]
        assert (everything.total, page.total) == (7, 7)
        assert [one.run_id for one in page.runs] == [run_id(6), run_id(5)]
        assert [one.run_id for one in running.runs] == [run_id(3), run_id(2)]
        assert (running.total, both.total) == (2, 1)
        assert both.runs == (
            RunSummary(
                run_id=run_id(3),
                template_id="multi_tab_compare",
                status=RunStatus.RUNNING,
                created_at=NOW + 1,
                updated_at=NOW + 100,
                progress=RunProgress(total_steps=3, done_steps=0),
            ),
        )
