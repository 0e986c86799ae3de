"""What was recorded is done again on the elements that are now what they were then, or on none."""

from __future__ import annotations

import pytest

from actors.planner.recorded import RecordedSteps, nodes_of
from actors.planner.solution import Chosen, StepOver, TaskSoFar, Unsolved
from protocol.acting.actions import ActionCall
from protocol.acting.steps import StepVerdict, TakenAction, VerificationTier
from protocol.acting.tasks import TaskState
from protocol.acting.tree import PageTree, SemanticNode

DONE = StepVerdict(succeeded=True, confidence=0.9, tier=VerificationTier.RULES, evidence=())
MISSED = StepVerdict(succeeded=False, confidence=0.1, tier=VerificationTier.RULES, evidence=())
CALL = ActionCall(name="click", arguments={"element": "7"})
THEN = PageTree(url="https://loom.example/", nodes=(SemanticNode(id="7", role="btn", name="Buy", context="Red"),))
BEFORE = TaskSoFar(goal="Buy", values={})


def taken(verdict: StepVerdict, *, remedy: bool = False) -> TakenAction:
    return TakenAction(
        number=0, step=0, action=CALL, string="click(7)", verdict=verdict, remedy=remedy, nodes=nodes_of(CALL, THEN)
    )


PAST = TaskState(
    task_id="t", caller="c", goal="Buy", surface="act", actions=(taken(MISSED), taken(DONE), taken(DONE, remedy=True))
)


def page(*nodes: tuple[str, str, str]) -> PageTree:
    built = (SemanticNode(id=name, role="btn", name=label, context=context) for name, label, context in nodes)
    return PageTree(url="https://loom.example/", nodes=tuple(built))


@pytest.mark.parametrize(
    ("now", "element"),
    [
        (page(("7", "Buy", "Red")), "7"),
        (page(("31", "Buy", "Blue"), ("32", "Buy", "Red")), "32"),
        (page(("31", "Buy now", "Red"), ("32", "Sell", "Red")), "31"),
        (page(("7", "Delete", "Blue"), ("32", "Buy", "Red")), "32"),
    ],
)
def test_an_action_finds_its_element_again(now: PageTree, element: str) -> None:
    steps = RecordedSteps(PAST)
    (step,) = steps.make_plan("Buy", now, BEFORE)

    chosen = steps.solve(step, now, BEFORE)

    assert isinstance(chosen, Chosen)
    assert chosen.action == ActionCall(name="click", arguments={"element": element})


@pytest.mark.parametrize("now", [page(), page(("1", "Sell", "Red")), page(("1", "Buy", "Red"), ("2", "Buy", "Red"))])
def test_nothing_is_done_where_the_element_is_gone_or_not_told_from_another(now: PageTree) -> None:
    steps = RecordedSteps(PAST)
    (step,) = steps.make_plan("Buy", now, BEFORE)

    assert isinstance(steps.solve(step, now, BEFORE), Unsolved)


def test_what_was_done_again_is_over() -> None:
    steps = RecordedSteps(PAST)
    (step,) = steps.make_plan("Buy", THEN, BEFORE)

    assert isinstance(steps.solve(step, THEN, TaskSoFar(goal="Buy", values={}, actions=(taken(DONE),))), StepOver)
