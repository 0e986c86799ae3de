"""Chooses plans and actions: by rules first, and by a model only where they say that they do not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from anyio import to_thread
from msgspec import Struct

from actors.planner.solution import Chosen, Solution, TaskSoFar, Unsolved, UserAsked
from actors.planner.values import shown_values
from protocol.acting.steps import PlanStep
from protocol.acting.tasks import TaskState
from protocol.acting.tree import PageTree

NO_RULE = "No rule says how to do this, and no model was asked."


class StepRules(Protocol):
    """What is known without a model (solving/)."""

    def make_plan(self, goal: str, page: PageTree, so_far: TaskSoFar) -> tuple[PlanStep, ...]:
        """Take a goal apart; nothing where it is not understood."""
        ...

    def solve(self, step: PlanStep, page: PageTree, so_far: TaskSoFar) -> Solution:
        """Return the next action of a step."""
        ...


class PageModels(Protocol):
    """What models are asked (modelled/); they never raise, but say why they do not know."""

    async def make_plan(self, state: TaskState, page: PageTree) -> tuple[PlanStep, ...] | UserAsked | Unsolved:
        """Ask a model for a plan."""
        ...

    async def choose(self, state: TaskState, step: PlanStep, page: PageTree) -> Solution:
        """Ask a model for the next action of a step."""
        ...


class StepChooser(Struct, frozen=True, kw_only=True):
    """Chooses for one task; `models` is None where none may be asked."""

    rules: StepRules
    models: PageModels | None
    values: Mapping[str, str]

    async def plan(self, state: TaskState, page: PageTree) -> tuple[PlanStep, ...] | UserAsked | Unsolved:
        """Return the steps of a task, or what is missing for them."""
        steps = await to_thread.run_sync(self.rules.make_plan, state.goal, page, self._so_far(state))
        if steps:
            return steps
        return Unsolved(why=NO_RULE) if self.models is None else await self.models.make_plan(state, page)

    async def action(self, state: TaskState, step: PlanStep, page: PageTree) -> Solution:
        """Return what comes next of a step.

        What has just failed is not taken from the rules again; a model may have seen more in the page.
        """
        solution: Solution = Unsolved(why=NO_RULE)
        if step.by == "rule" or self.models is None:
            solution = await to_thread.run_sync(self.rules.solve, step, page, self._so_far(state))
        if isinstance(solution, Chosen) and _has_just_failed(state, solution, page):
            solution = Unsolved(why=solution.thought)
        if not isinstance(solution, Unsolved) or self.models is None:
            return solution
        return await self.models.choose(state, step, page)

    def _so_far(self, state: TaskState) -> TaskSoFar:
        return TaskSoFar(
            goal=state.goal,
            values=shown_values(self.values),
            actions=state.actions,
            memory=state.memory,
            user_words=state.user_words,
        )


def _has_just_failed(state: TaskState, chosen: Chosen, page: PageTree) -> bool:
    """Return whether the same was done on the same page with no success, and a wait did not follow."""
    last = state.last
    return (
        last is not None
        and not last.remedy
        and last.action == chosen.action
        and last.page == page.hash
        and last.verdict is not None
        and not last.verdict.succeeded
    )
