"""What the lines of a task come to, and which lines cannot follow which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.acting.actions import ActionCall
from protocol.acting.steps import (
    BeforeState,
    PlanStep,
    PlanStepStatus,
    StepVerdict,
    TakenAction,
    TaskPlan,
    VerificationTier,
)
from protocol.acting.task_fold import IllegalTaskLineError, fold_task
from protocol.acting.task_states import TRANSITIONS
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

TASK = "0a1b2c3d-0000-4000-8000-000000000001"
BEGUN = TaskBegun(task=TASK, at=1, caller="me", goal='Click "A", then "B"', surface="act")
STEPS = (PlanStep(index=0, description='Click "A"'), PlanStep(index=1, description='Click "B"'))
PLANNED = TaskPlanned(task=TASK, at=2, plan=TaskPlan(steps=STEPS, created_at=2))
FIRST_OVER = PlanStepEnded(task=TASK, at=6, index=0, status=PlanStepStatus.COMPLETED, text="4 EUR")
PAUSED = TaskPaused(task=TASK, at=7, question="Which?", options=("left", "right"), request="d1")
RESUMED = TaskResumed(task=TASK, at=8, words="left")
ENDED = TaskEnded(task=TASK, at=9, status="completed", text="Done.", confidence=0.9)


def chosen(number: int) -> ActionChosen:
    """Return the line of an action on the first step."""
    action = ActionCall(name="click", arguments={"element": str(number + 1)})
    taken = TakenAction(number=number, step=0, action=action, string=f"click({number + 1})")
    return ActionChosen(task=TASK, at=3, taken=taken, before=BeforeState(url="https://shop.example/"), request="d0")


def judged(number: int, *, succeeded: bool) -> ActionJudged:
    """Return the line of what was found of it."""
    verdict = StepVerdict(succeeded=succeeded, confidence=0.9, tier=VerificationTier.RULES, evidence=("It went.",))
    return ActionJudged(task=TASK, at=5, number=number, verdict=verdict)


LINES: tuple[TaskLine, ...] = (
    BEGUN,
    PLANNED,
    *(chosen(number) for number in range(3)),
    *(ActionPerformed(task=TASK, at=4, number=number, status="ok") for number in range(3)),
    *(judged(number, succeeded=succeeded) for number in range(3) for succeeded in (True, False)),
    FIRST_OVER,
    TaskNoted(task=TASK, at=6, key="price", value="4"),
    PAUSED,
    RESUMED,
    ENDED,
)


def state_after(*lines: TaskLine) -> TaskState:
    """Return a task after some lines."""
    state: TaskState | None = None
    for line in lines:
        state = fold_task(state, line)
    assert state is not None
    return state


def test_a_task_is_what_its_lines_say() -> None:
    """Plan, action, verdict, end of a step, a question with its answer, and the end."""
    state = state_after(BEGUN, PLANNED, chosen(0), judged(0, succeeded=True), FIRST_OVER, PAUSED, RESUMED, ENDED)

    assert state.status is ActingStatus.COMPLETED
    assert state.plan is not None
    assert [one.status for one in state.plan.steps] == [PlanStepStatus.COMPLETED, PlanStepStatus.PENDING]
    assert state.plan.current == 1
    assert [(one.string, one.verdict is not None) for one in state.actions] == [("click(1)", True)]
    assert (state.texts, state.user_words, state.question, state.text) == (("4 EUR",), ("left",), "", "Done.")


def test_a_question_keeps_what_it_was_asked_with() -> None:
    """Whoever repeats the request is answered by it."""
    state = state_after(BEGUN, PLANNED, chosen(0), judged(0, succeeded=False), PAUSED)

    assert (state.status, state.question, state.request) == (ActingStatus.NEEDS_USER_INPUT, "Which?", "d1")


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ((), PLANNED),
        ((BEGUN,), BEGUN),
        ((BEGUN,), chosen(0)),
        ((BEGUN, PLANNED, chosen(0)), chosen(1)),
        ((BEGUN, PLANNED, chosen(0)), judged(1, succeeded=True)),
        ((BEGUN, PLANNED), chosen(2)),
        ((BEGUN, PLANNED, PAUSED), chosen(0)),
        ((BEGUN, PLANNED), RESUMED),
        ((BEGUN, PLANNED, ENDED), PLANNED),
    ],
)
def test_what_cannot_follow_is_refused(before: tuple[TaskLine, ...], line: TaskLine) -> None:
    """An action is judged before the next is chosen, a question answered before it goes on, and an end is the end."""
    state = state_after(*before) if before else None

    with pytest.raises(IllegalTaskLineError):
        fold_task(state, line)


@given(st.lists(st.sampled_from(LINES), max_size=40))
def test_whatever_lines_come_a_task_stays_legal(lines: list[TaskLine]) -> None:
    """An illegal line changes nothing, at most one action is open, and nothing follows an end."""
    state: TaskState | None = None
    for line in lines:
        try:
            after = fold_task(state, line)
        except IllegalTaskLineError:
            continue
        assert state is None or not state.status.final
        assert [one.number for one in after.actions] == list(range(len(after.actions)))
        assert all(one.verdict is not None for one in after.actions[:-1])
        assert (after.status is ActingStatus.NEEDS_USER_INPUT) == bool(after.question)
        state = after


def test_every_state_but_the_ends_can_be_left() -> None:
    """From each there is a way to an end."""
    assert {state for state in ActingStatus if not TRANSITIONS[state]} == {one for one in ActingStatus if one.final}
    for state, ways in TRANSITIONS.items():
        assert state.final or ActingStatus.FAILED in ways.values()
