"""Decides what follows what was found of an action: go on, end, correct, plan anew, ask the user; pure.

The states and what leads from one to another are the table of protocol/acting/task_states.py; this says which of the
ways is taken, and when a task is given up. A task always ends: each round takes an action, of which there are
`max_steps` at most, or ends a step of the plan, or leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from protocol.acting.steps import (
    SUCCESS_CONFIDENCE,
    Blocker,
    BlockerKind,
    Correction,
    PlanStepStatus,
    StepVerdict,
    TakenAction,
    TaskPlan,
)
from protocol.acting.tasks import MAX_CORRECTIONS, MAX_FAILURES, MAX_IDLE_SUCCESSES, TaskState

BLOCKER_CONFIDENCE: Final = 0.8
"""How sure it must be that something stands in the way before its user is asked to take it away."""

TOO_MANY_FAILURES: Final = f"{MAX_FAILURES} actions in a row did not do what they were to do."
TOO_MANY_CORRECTIONS: Final = f"A step was corrected {MAX_CORRECTIONS} times, and still did not succeed."
TOO_MANY_STEPS: Final = "The task has taken as many actions as it may."
NO_END: Final = f"{MAX_IDLE_SUCCESSES} actions succeeded without bringing the task to its end."


class MoveKind(StrEnum):
    """What follows a verdict."""

    GO_ON = "go_on"
    """Choose what comes next; `NextMove.done`: the task looks done, if nothing comes next."""
    CORRECT = "correct"
    ASK_USER = "ask_user"
    GIVE_UP = "give_up"


class FailureKind(StrEnum):
    """How an action failed."""

    NOT_FOUND = "not_found"
    IN_THE_WAY = "in_the_way"
    NO_EFFECT = "no_effect"
    OTHER_EFFECT = "other_effect"
    OTHER_PAGE = "other_page"
    NOT_NOW = "not_now"


class NextMove(Struct, frozen=True, kw_only=True):
    """What follows, and why where that is for people."""

    kind: MoveKind
    correction: Correction | None = None
    blocker: Blocker | None = None
    why: str = ""
    done: bool = False


_C = Correction

CORRECTIONS: Final[Mapping[FailureKind, tuple[Correction, ...]]] = MappingProxyType(
    {
        FailureKind.NOT_FOUND: (_C.ALTERNATIVE_SELECTOR, _C.GATHER_INFORMATION, _C.UPDATE_PLAN),
        FailureKind.IN_THE_WAY: (_C.ALTERNATIVE_SELECTOR, _C.RETRY_WITH_DELAY, _C.ALTERNATIVE_TOOL),
        FailureKind.NO_EFFECT: (_C.ALTERNATIVE_TOOL, _C.ALTERNATIVE_SELECTOR, _C.RETRY_WITH_DELAY),
        FailureKind.OTHER_EFFECT: (_C.ALTERNATIVE_SELECTOR, _C.ALTERNATIVE_TOOL, _C.UPDATE_PLAN),
        FailureKind.OTHER_PAGE: (_C.UPDATE_PLAN, _C.GATHER_INFORMATION, _C.ALTERNATIVE_SELECTOR),
        FailureKind.NOT_NOW: (_C.RETRY_WITH_DELAY, _C.GATHER_INFORMATION, _C.UPDATE_PLAN),
    }
)
"""What is tried, in this order, by how an action failed."""

_BY_CODE: Final[Mapping[str, FailureKind]] = MappingProxyType(
    {
        "ELEMENT_NOT_FOUND": FailureKind.NOT_FOUND,
        "NOT_FOUND": FailureKind.NOT_FOUND,
        "STALE_HANDLE": FailureKind.NOT_NOW,
        "NOT_INTERACTABLE": FailureKind.IN_THE_WAY,
        "ELEMENT_NOT_INTERACTABLE": FailureKind.IN_THE_WAY,
        "DISABLED": FailureKind.IN_THE_WAY,
        "BLOCKED_BY_OVERLAY": FailureKind.IN_THE_WAY,
        "COVERED": FailureKind.IN_THE_WAY,
        "HIDDEN": FailureKind.IN_THE_WAY,
        "READ_ONLY": FailureKind.IN_THE_WAY,
        "GONE": FailureKind.NOT_FOUND,
        "MOVING": FailureKind.NOT_NOW,
        "NAVIGATION_FAILED": FailureKind.NOT_NOW,
    }
)
_NOT_NOW_WORDS: Final = ("TIMEOUT", "RATE_LIMIT", "NETWORK", "BUSY", "DEADLINE")
_OVER: Final = frozenset({PlanStepStatus.COMPLETED, PlanStepStatus.FAILED})
_WAITS: Final = frozenset({BlockerKind.RATE_LIMIT, BlockerKind.PAGE_ERROR})
"""What may be gone by itself a little later."""


def react(state: TaskState, taken: TakenAction, verdict: StepVerdict) -> NextMove:
    """Return what follows what was found of the last action; `state` is how the task stood before."""
    if (stands := _in_the_way(state, taken, verdict)) is not None:
        return stands
    if verdict.succeeded and verdict.confidence >= SUCCESS_CONFIDENCE:
        done = verdict.task_done and verdict.task_confidence >= SUCCESS_CONFIDENCE
        if not done and idle_successes(state, taken) >= MAX_IDLE_SUCCESSES:
            return NextMove(kind=MoveKind.GIVE_UP, why=NO_END)
        return NextMove(kind=MoveKind.GO_ON, done=done)
    if failures_in_a_row(state) + 1 >= MAX_FAILURES:
        return NextMove(kind=MoveKind.GIVE_UP, why=TOO_MANY_FAILURES)
    kind = FailureKind.NOT_NOW if verdict.blocker is not None else failure_kind(taken, verdict)
    return corrected(state, taken.step, kind)


def corrected(state: TaskState, step: int, kind: FailureKind) -> NextMove:
    """Return what is tried after a failure: the first that was not tried for this step."""
    tried = [one.correction for one in state.actions if one.step == step and one.correction is not None]
    if len(tried) >= MAX_CORRECTIONS:
        return NextMove(kind=MoveKind.GIVE_UP, why=TOO_MANY_CORRECTIONS)
    left = [one for one in CORRECTIONS[kind] if one not in tried]
    return NextMove(kind=MoveKind.CORRECT, correction=left[0] if left else Correction.UPDATE_PLAN)


def failure_kind(taken: TakenAction, verdict: StepVerdict) -> FailureKind:
    """Return how an action failed."""
    known = _BY_CODE.get(taken.error)
    if known is not None:
        return known
    if any(word in taken.error for word in _NOT_NOW_WORDS):
        return FailureKind.NOT_NOW
    if not verdict.changed:
        return FailureKind.NO_EFFECT
    return FailureKind.OTHER_PAGE if verdict.replan else FailureKind.OTHER_EFFECT


def failures_in_a_row(state: TaskState) -> int:
    """Count the actions that failed since one has succeeded; what was only to correct does not count."""
    count = 0
    for taken in reversed(state.actions):
        if taken.remedy or taken.verdict is None:
            continue
        if taken.verdict.succeeded:
            break
        count += 1
    return count


def idle_successes(state: TaskState, taken: TakenAction) -> int:
    """Count the actions in a row, with this one, that succeeded at the end of the plan and brought no end.

    Those of rules count where the same was done before on the same page: rules know themselves when they are done.
    """
    plan = state.plan
    if plan is None or taken.step < len(plan.steps) - 1:
        return 0
    return sum(1 for _ in _idle(state, taken))


def steps_left(state: TaskState) -> int:
    """Return how many actions the task may still take."""
    return max(state.max_steps - len(state.actions), 0)


def is_last_step(plan: TaskPlan) -> bool:
    """Return whether the step at work is the last one that is not over."""
    return all(one.status in _OVER for one in plan.steps if one.index != plan.current)


def is_through(plan: TaskPlan) -> bool:
    """Return whether all steps of a plan are over."""
    return all(one.status in _OVER for one in plan.steps)


def _idle(state: TaskState, taken: TakenAction) -> Iterator[TakenAction]:
    former = [one for one in state.actions if one.number < taken.number]
    for one in (taken, *reversed(former)):
        succeeded = one is taken or (one.verdict is not None and one.verdict.succeeded)
        if one.step != taken.step or not succeeded:
            return
        repeated = any(_alike(before, one) for before in former if before.number < one.number)
        if one.by == "model" or repeated:
            yield one


def _alike(former: TakenAction, taken: TakenAction) -> bool:
    return (former.string, former.page) == (taken.string, taken.page)


def _in_the_way(state: TaskState, taken: TakenAction, verdict: StepVerdict) -> NextMove | None:
    """Return that its user is asked to take away what stands in the way, if only he can."""
    blocker = verdict.blocker
    if blocker is None or blocker.confidence < BLOCKER_CONFIDENCE:
        return None
    if blocker.kind is BlockerKind.COOKIE_CONSENT and not _tried(state, taken, MAX_CORRECTIONS - 1):
        return None
    if blocker.kind in _WAITS and not _tried(state, taken, 1):
        return None
    return NextMove(kind=MoveKind.ASK_USER, blocker=blocker)


def _tried(state: TaskState, taken: TakenAction, times: int) -> bool:
    return sum(one.correction is not None for one in state.actions if one.step == taken.step) >= times
