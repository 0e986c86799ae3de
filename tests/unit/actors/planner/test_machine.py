"""What follows a verdict: corrections in their order, the stop rules, and what only the user can take away."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.planner.machine import CORRECTIONS, NO_END, FailureKind, MoveKind, react
from protocol.acting.actions import ActionCall
from protocol.acting.steps import (
    Blocker,
    BlockerKind,
    Correction,
    PlanStep,
    StepVerdict,
    TakenAction,
    TaskPlan,
    VerificationTier,
)
from protocol.acting.tasks import MAX_CORRECTIONS, MAX_FAILURES, TaskState

STATE = TaskState(
    task_id="t",
    caller="me",
    goal="g",
    surface="act",
    plan=TaskPlan(steps=(PlanStep(index=0, description="a"), PlanStep(index=1, description="b"))),
)
GOOD = StepVerdict(succeeded=True, confidence=0.95, tier=VerificationTier.RULES, evidence=("x",), changed=True)
NOTHING = StepVerdict(succeeded=False, confidence=0.2, tier=VerificationTier.GATE, evidence=("Nothing changed.",))


def action(number: int, step: int = 0, **more: object) -> TakenAction:
    """Return an action."""
    taken = TakenAction(number=number, step=step, action=ActionCall(name="click"), string=f"click({number})")
    return structs.replace(taken, **more)


def after(*verdicts: StepVerdict, step: int = 0, by: str = "rule") -> tuple[TaskState, list[MoveKind]]:
    """Return a task after actions with these verdicts, and what followed each."""
    state, reactions = STATE, list[MoveKind]()
    for number, verdict in enumerate(verdicts):
        taken = action(number, step, by=by)
        move = react(structs.replace(state, actions=(*state.actions, taken)), taken, verdict)
        judged = structs.replace(taken, verdict=verdict, correction=move.correction)
        state = structs.replace(state, actions=(*state.actions, judged))
        reactions.append(move.kind)
    return state, reactions


def test_three_failures_in_a_row_end_it() -> None:
    """Two are corrected, each by what comes next for its kind."""
    state, reactions = after(NOTHING, NOTHING, NOTHING)

    assert reactions == [MoveKind.CORRECT, MoveKind.CORRECT, MoveKind.GIVE_UP]
    assert [one.correction for one in state.actions] == [*CORRECTIONS[FailureKind.NO_EFFECT][:2], None]


def test_a_step_is_corrected_three_times_at_most() -> None:
    """Successes in between do not count against it."""
    _, reactions = after(NOTHING, GOOD, NOTHING, GOOD, NOTHING, GOOD, NOTHING)

    assert reactions[-1] is MoveKind.GIVE_UP
    assert reactions.count(MoveKind.CORRECT) == MAX_CORRECTIONS


def test_successes_without_an_end_are_bounded_for_models() -> None:
    """Rules know themselves when they are done; a model that goes on and on does not."""
    _, by_model = after(*[GOOD] * 5, step=1, by="model")
    _, by_rule = after(*[GOOD] * 9, step=1)
    _, before_the_last = after(*[GOOD] * 9, by="model")

    assert by_model == [MoveKind.GO_ON] * 4 + [MoveKind.GIVE_UP]
    assert set(by_rule) == set(before_the_last) == {MoveKind.GO_ON}


def test_the_same_action_on_the_same_page_goes_nowhere() -> None:
    """Who clicks `next month` sees another page each time; who sees the same one again stands still."""
    done = tuple(action(number, 1, string="click(1)", page="same", verdict=GOOD) for number in range(5))
    taken = action(5, 1, string="click(1)", page="same")
    last = react(structs.replace(STATE, actions=(*done, taken)), taken, GOOD)

    assert (last.kind, last.why) == (MoveKind.GIVE_UP, NO_END)


@pytest.mark.parametrize("kind", [BlockerKind.MFA, BlockerKind.CAPTCHA, BlockerKind.LOGIN_FAILED])
def test_what_only_the_user_can_take_away_is_asked_about(kind: BlockerKind) -> None:
    """Where it is sure enough."""
    sure = structs.replace(NOTHING, blocker=Blocker(kind=kind, confidence=0.9))
    unsure = structs.replace(NOTHING, blocker=Blocker(kind=kind, confidence=0.6))

    assert after(sure)[1] == [MoveKind.ASK_USER]
    assert after(unsure)[1] == [MoveKind.CORRECT]


def test_what_may_be_gone_a_little_later_is_waited_for_once() -> None:
    """Then its user is asked."""
    limited = structs.replace(NOTHING, blocker=Blocker(kind=BlockerKind.RATE_LIMIT, confidence=0.9))
    state, reactions = after(limited, limited)

    assert reactions == [MoveKind.CORRECT, MoveKind.ASK_USER]
    assert state.actions[0].correction is Correction.RETRY_WITH_DELAY


@given(st.lists(st.sampled_from((GOOD, NOTHING, structs.replace(NOTHING, changed=True))), min_size=40, max_size=40))
def test_failures_always_come_to_an_end(verdicts: list[StepVerdict]) -> None:
    """Whatever is found, no more failures in a row and corrections of a step are let pass than may be."""
    state, reactions = after(*verdicts)
    ended = reactions.index(MoveKind.GIVE_UP) if MoveKind.GIVE_UP in reactions else len(reactions)

    passed = state.actions[:ended]
    assert sum(one.correction is not None for one in passed) <= MAX_CORRECTIONS
    assert "FFF"[:MAX_FAILURES] not in "".join("." if _ok(one) else "F" for one in passed)


def _ok(taken: TakenAction) -> bool:
    return taken.verdict is not None and taken.verdict.succeeded
