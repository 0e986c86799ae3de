"""Runs on a bus in memory: begun, done, told of."""

from __future__ import annotations

import msgspec

from protocol.runs.events import RunCreated, RunTaken
from protocol.runs.states import ArtifactType, Mode, RunStatus, StepStatus
from protocol.runs.told import RunAccepted
from tests.unit.actors.runner.fakes import CHORES, status, world


async def test_a_run_is_taken_done_step_by_step_and_ended_with_its_result() -> None:
    async with world() as here:
        accepted = await here.create(("a", "b"))
        ended = await here.ended(accepted.run_id)
        lines = await here.lines(accepted.run_id)

        assert accepted == RunAccepted(
            run_id=accepted.run_id,
            status=RunStatus.QUEUED,
            created_at=accepted.created_at,
            mode=Mode.SYNC,
            template_id=CHORES,
        )
        assert isinstance(lines[0], RunCreated)
        assert isinstance(lines[1], RunTaken)
        assert [one.status for one in (await here.steps(accepted.run_id)).values()] == [StepStatus.SUCCEEDED] * 3
        assert status(ended) == (RunStatus.SUCCEEDED, None)
        assert ended.result["summary"] == {"total": 2, "succeeded": 2}
        assert [one.type for one in ended.artifacts] == [ArtifactType.JSON]
        assert msgspec.json.decode(await here.file(ended)) == ended.result
