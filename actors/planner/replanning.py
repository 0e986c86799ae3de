"""Makes plans of steps: the first, and others for what is left where the page is another one; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from protocol.acting.steps import PlanStep, PlanStepStatus, TaskPlan


def new_plan(steps: Iterable[PlanStep], now: int) -> TaskPlan:
    """Return a plan of steps, numbered from 0."""
    numbered = tuple(structs.replace(one, index=index) for index, one in enumerate(steps))
    return TaskPlan(steps=numbered, current=0, created_at=now)


def followed_by(plan: TaskPlan, steps: Sequence[PlanStep], now: int) -> TaskPlan | None:
    """Return a plan of what is over and of new steps; None where these are those that it has.

    A step that was begun stays, as failed, unless the new ones begin with it: its actions are counted under its number.
    """
    over = [one for one in plan.steps if one.status is PlanStepStatus.COMPLETED]
    done = {one.description for one in over}
    new = [one for one in steps if one.description not in done]
    left = [one for one in plan.steps if one.status is not PlanStepStatus.COMPLETED]
    if not new or [one.description for one in new] == [one.description for one in left if not _failed(one)]:
        return None
    begun = [one for one in left if one.status is not PlanStepStatus.PENDING]
    kept = [*over, *(structs.replace(one, status=PlanStepStatus.FAILED) for one in begun)]
    steps = [*kept, *(structs.replace(one, status=PlanStepStatus.PENDING) for one in new)]
    numbered = tuple(structs.replace(one, index=index) for index, one in enumerate(steps))
    return TaskPlan(steps=numbered, current=len(kept), created_at=now)


def _failed(step: PlanStep) -> bool:
    return step.status is PlanStepStatus.FAILED
