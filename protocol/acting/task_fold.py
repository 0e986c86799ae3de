"""What the lines of a task come to: the one fold that whoever acts and whoever answers share; pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, assert_never

from msgspec import structs

from protocol.acting.steps import PlanStepStatus, TakenAction, TaskPlan
from protocol.acting.task_states import TRANSITIONS, ActingTrigger
from protocol.acting.tasks import (
    ActingStatus,
    ActionChosen,
    ActionJudged,
    ActionPerformed,
    PlanStepEnded,
    TaskBegun,
    TaskEnded,
    TaskLine,
    TaskNoted,
    TaskPaused,
    TaskPlanned,
    TaskResumed,
    TaskState,
)


class IllegalTaskLineError(ValueError):
    """No task goes on like that."""


def fold_task(state: TaskState | None, line: TaskLine) -> TaskState:
    """Return a task after one more line.

    Raises:
        IllegalTaskLineError: no task goes on like that.
    """
    if isinstance(line, TaskBegun):
        if state is not None:
            raise IllegalTaskLineError(_refused(line, state.status))
        return _begun(line)
    if state is None:
        raise IllegalTaskLineError(_refused(line, None))
    status = TRANSITIONS[state.status].get(_trigger(line))
    if status is None:
        raise IllegalTaskLineError(_refused(line, state.status))
    return structs.replace(state, status=status, updated_at=line.at, **_changed(state, line))


def _begun(line: TaskBegun) -> TaskState:
    return TaskState(
        task_id=line.task,
        caller=line.caller,
        goal=line.goal,
        surface=line.surface,
        session=line.session,
        url=line.url,
        max_steps=line.max_steps,
        created_at=line.at,
        updated_at=line.at,
        given=line.given,
        again=line.again,
    )


_TRIGGERS: Final[Mapping[type[TaskLine], ActingTrigger]] = MappingProxyType(
    {
        TaskPlanned: ActingTrigger.PLANNED,
        ActionChosen: ActingTrigger.CHOSEN,
        ActionPerformed: ActingTrigger.PERFORMED,
        PlanStepEnded: ActingTrigger.STEP_OVER,
        TaskNoted: ActingTrigger.NOTED,
        TaskPaused: ActingTrigger.PAUSED,
        TaskResumed: ActingTrigger.RESUMED,
    }
)
_QUESTION: Final = ("question", "missing", "options", "blocker", "request", "permission")
_RESULT: Final = ("text", "confidence", "screenshot", "request")


def _trigger(line: TaskLine) -> ActingTrigger:
    if isinstance(line, ActionJudged):
        return ActingTrigger.STEP_SUCCEEDED if line.verdict.succeeded else ActingTrigger.STEP_FAILED
    if isinstance(line, TaskEnded):
        return ActingTrigger.COMPLETED if line.status == "completed" else ActingTrigger.GIVEN_UP
    return _TRIGGERS[type(line)]


def _changed(state: TaskState, line: TaskLine) -> dict[str, Any]:
    """Return what a line changes beside the status."""
    match line:
        case TaskPlanned():
            changed: dict[str, Any] = {"plan": line.plan}
        case ActionChosen():
            changed = _chosen(state, line)
        case ActionPerformed() | ActionJudged():
            changed = {"actions": (*state.actions[:-1], _learned(_unjudged(state, line), line))}
        case PlanStepEnded():
            changed = _step_ended(state, line)
        case TaskNoted():
            changed = {"memory": {**state.memory, line.key: line.value}}
        case TaskResumed():
            changed = _resumed(state, line)
        case TaskPaused():
            changed = {name: getattr(line, name) for name in _QUESTION}
        case TaskEnded():
            changed = {name: getattr(line, name) for name in _RESULT}
        case TaskBegun():
            raise AssertionError  # it is the first line alone
        case _:
            assert_never(line)
    return changed


def _chosen(state: TaskState, line: ActionChosen) -> dict[str, Any]:
    taken = line.taken
    if state.unjudged is not None or taken.number != len(state.actions):
        raise IllegalTaskLineError(_refused(line, state.status))
    plan = state.plan and _with_step(state.plan, taken.step, PlanStepStatus.ACTIVE)
    return {"actions": (*state.actions, taken), "before": line.before, "request": line.request, "plan": plan}


def _unjudged(state: TaskState, line: ActionPerformed | ActionJudged) -> TakenAction:
    taken = state.unjudged
    if taken is None or taken.number != line.number:
        raise IllegalTaskLineError(_refused(line, state.status))
    return taken


def _learned(taken: TakenAction, line: ActionPerformed | ActionJudged) -> TakenAction:
    if isinstance(line, ActionJudged):
        return structs.replace(taken, verdict=line.verdict, correction=line.correction)
    return structs.replace(taken, status=line.status, error=line.error, message=line.message, text=line.text)


def _step_ended(state: TaskState, line: PlanStepEnded) -> dict[str, Any]:
    plan = state.plan
    if plan is None or line.index != plan.current:
        raise IllegalTaskLineError(_refused(line, state.status))
    following = min(line.index + 1, len(plan.steps) - 1) if line.status is PlanStepStatus.COMPLETED else plan.current
    ended = structs.replace(_with_step(plan, line.index, line.status), current=following)
    return {"plan": ended, "texts": (*state.texts, line.text) if line.text else state.texts}


def _resumed(state: TaskState, line: TaskResumed) -> dict[str, Any]:
    words = (*state.user_words, line.words) if line.words else state.user_words
    answered = {"question": "", "missing": (), "options": (), "blocker": None, "request": "", "permission": ""}
    allowed = (*state.allowed, state.permission) if line.allows and state.permission else state.allowed
    refused = (*state.refused, state.permission) if not line.allows and state.permission else state.refused
    return {
        **answered,
        "user_words": words,
        "given": line.given or state.given,
        "allowed": allowed,
        "refused": refused,
    }


def _with_step(plan: TaskPlan, index: int, status: PlanStepStatus) -> TaskPlan:
    steps = tuple(structs.replace(one, status=status) if one.index == index else one for one in plan.steps)
    return structs.replace(plan, steps=steps)


def _refused(line: TaskLine, status: ActingStatus | None) -> str:
    return f"{type(line).__name__} after {status}"
