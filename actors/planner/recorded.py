"""Does again what a task has done: its actions in their order, each on what is now what it was about then; pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, structs
from rapidfuzz import fuzz

from actors.planner.solution import Chosen, Solution, StepOver, TaskSoFar, Unsolved
from protocol.acting.actions import ActionCall
from protocol.acting.steps import PlanStep, TakenAction
from protocol.acting.tasks import TaskState
from protocol.acting.tree import PageTree, SemanticNode

LEAST_LIKENESS: Final = 0.6
"""How like an element must be to what it was then (0 to 1), and by `CLEARER` more so than any other."""

CLEARER: Final = 0.05
_NAME, _CONTEXT, _ID = 0.6, 0.25, 0.15


class RecordedSteps(Struct, frozen=True):
    """The steps of a task that was recorded, in place of rules that would find them."""

    past: TaskState

    def make_plan(self, goal: str, page: PageTree, so_far: TaskSoFar) -> tuple[PlanStep, ...]:
        """Return a step for each action that did what it should."""
        del goal, page, so_far
        return tuple(
            PlanStep(index=index, description=taken.thought or taken.string, expected=taken.expected)
            for index, taken in enumerate(self._actions())
        )

    def solve(self, step: PlanStep, page: PageTree, so_far: TaskSoFar) -> Solution:
        """Return the action of a step, on the elements that are now what its own were."""
        done = (one for one in so_far.actions if one.step == step.index and one.verdict is not None)
        if any(one.verdict is not None and one.verdict.succeeded for one in done):
            return StepOver(why="It was done again.")
        actions = self._actions()
        if step.index >= len(actions):
            return Unsolved(why="Nothing was recorded for this step.")
        taken = actions[step.index]
        action, sure = healed(taken, page)
        if action is None:
            return Unsolved(why="What the action was about is not on the page any more, or cannot be told from others.")
        return Chosen(action=action, thought=taken.thought, confidence=taken.confidence * sure)

    def _actions(self) -> tuple[TakenAction, ...]:
        return tuple(
            one for one in self.past.actions if not one.remedy and one.verdict is not None and one.verdict.succeeded
        )


def healed(taken: TakenAction, page: PageTree) -> tuple[ActionCall | None, float]:
    """Return an action with the ids of the elements that it is about now, and how sure that is; None without them."""
    action, sure = taken.action, 1.0
    for name, then in taken.nodes.items():
        node, likeness = _most_like(then, page)
        if node is None:
            return None, 0.0
        action = structs.replace(action, arguments={**action.arguments, name: node.id})
        sure = min(sure, likeness)
    lost = any(isinstance(action.arguments.get(name), str) and name not in taken.nodes for name in ("element", "to"))
    return (None, 0.0) if lost else (action, sure)


def nodes_of(action: ActionCall, page: PageTree) -> dict[str, SemanticNode]:
    """Return what an action is about, by the names of its arguments: by that it is found again."""
    named = {name: page.node(str(action.arguments.get(name, ""))) for name in ("element", "to")}
    return {name: structs.replace(node, value=None) for name, node in named.items() if node is not None}


def _most_like(then: SemanticNode, page: PageTree) -> tuple[SemanticNode | None, float]:
    scored = sorted(
        ((likeness_of(then, node), node) for node in page.nodes if node.role == then.role),
        key=lambda one: one[0],
        reverse=True,
    )
    if not scored or scored[0][0] < LEAST_LIKENESS:
        return None, 0.0
    if len(scored) > 1 and scored[0][0] - scored[1][0] < CLEARER:
        return None, 0.0
    return scored[0][1], min(scored[0][0], 1.0)


def likeness_of(then: SemanticNode, node: SemanticNode) -> float:
    """Return how like an element is to what it was: by its name, the words beside it, and its id (0 to 1)."""
    name = fuzz.ratio(then.name, node.name) / 100
    context = fuzz.token_set_ratio(then.context, node.context) / 100 if then.context or node.context else 1.0
    return _NAME * name + _CONTEXT * context + _ID * (then.id == node.id)
