"""Asks models for plans and actions by the router, and takes nothing of what they say that the page does not have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec import Struct

from actors.planner.modelled.prompts import acting, planning
from actors.planner.modelled.schemas import action_schema, plan_schema, read_action, read_plan
from actors.planner.pictures import Look
from actors.planner.solution import Chosen, Solution, Unsolved, UserAsked
from bus import Requester, remaining_ms
from protocol.acting.actions import ACTIONS, ActionCall
from protocol.acting.steps import Expectation, ExpectedKind, PlanStep
from protocol.acting.tasks import TaskState
from protocol.acting.tree import PageTree
from protocol.faults import FaultError
from protocol.models import CallModel, ImagePart, ModelMessage, OutputSchema
from protocol.subjects import CALL_MODEL

PLAN: Final = "agent_plan"
ACT: Final = "agent_act"
LOOK: Final = "browser_get_screenshot"
"""What models are asked for, the names by which the router routes: with a picture of the page by the route that 004 has
for screenshots."""

MAX_TOKENS: Final = 1_024
RESERVE_MS: Final = 5_000
"""What is left of the time where a model takes too long."""

ATTEMPTS: Final = 2
MOST_CONFIDENT: Final = 0.9
"""No model is surer of itself than that."""

NO_MODEL: Final = "No model has answered."
NOT_UNDERSTOOD: Final = "A model proposed what the page does not have."

Prompt = Callable[[ImagePart | None], tuple[ModelMessage, ...]]
"""Writes what is asked, with a picture of the page or without."""

_VALUES: Final = frozenset({"setValue", "selectDropdown"})
_STATES: Final = frozenset({"check", "uncheck"})
_MOVES: Final = frozenset({"navigate", "goBack", "goForward", "refresh"})


class PageAdvisor(Struct, frozen=True):
    """The models that may be asked for one task; `look` returns how its page looks."""

    bus: Requester
    look: Look

    async def make_plan(self, state: TaskState, page: PageTree) -> tuple[PlanStep, ...] | UserAsked | Unsolved:
        """Ask a model for a plan."""
        prompt = partial(planning, state, page)
        for _ in range(ATTEMPTS):
            data, _ = await self._ask(PLAN, state, prompt, plan_schema())
            if data is None:
                return Unsolved(why=NO_MODEL)
            try:
                plan = read_plan(data)
            except ValueError:
                continue
            if not plan.steps:
                return UserAsked(question=plan.question) if plan.question.strip() else Unsolved(why=NOT_UNDERSTOOD)
            return tuple(
                PlanStep(index=index, description=one.description, reasoning=one.reasoning, by="model")
                for index, one in enumerate(plan.steps)
            )
        return Unsolved(why=NOT_UNDERSTOOD)

    async def choose(self, state: TaskState, step: PlanStep, page: PageTree) -> Solution:
        """Ask a model for the next action of a step."""
        ours, prompt = state.surface == "act", partial(acting, state, step, page)
        for _ in range(ATTEMPTS):
            data, pictured = await self._ask(ACT, state, prompt, action_schema(page, ours=ours))
            if data is None:
                return Unsolved(why=NO_MODEL)
            try:
                written, action = read_action(data, page, ours=ours)
            except ValueError:
                continue
            confidence = min(max(written.confidence, 0.0), MOST_CONFIDENT)
            thought = " ".join(written.thought.split())[:500]
            return Chosen(
                action=action,
                thought=thought,
                confidence=confidence,
                expected=_expected(action),
                by="model",
                pictured=pictured,
            )
        return Unsolved(why=NOT_UNDERSTOOD)

    async def _ask(self, tool: str, state: TaskState, prompt: Prompt, output: OutputSchema) -> tuple[Any, bool]:
        """Return what a model answers, and whether it was shown a picture; None where none does.

        Where no model that sees has answered, one is asked that does not.
        """
        picture = await self.look()
        if picture is not None:
            data = await self._call(LOOK, state, prompt(picture), output)
            if data is not None:
                return data, True
        return await self._call(tool, state, prompt(None), output), False

    async def _call(self, tool: str, state: TaskState, messages: tuple[ModelMessage, ...], output: OutputSchema) -> Any:
        left = remaining_ms()
        if left is not None and left <= RESERVE_MS:
            return None
        request = CallModel(
            tool=tool,
            messages=messages,
            output=output,
            max_tokens=MAX_TOKENS,
            conversation=state.task_id,
            caller=state.caller,
        )
        timeout_ms = CALL_MODEL.timeout_ms if left is None else min(left - RESERVE_MS, CALL_MODEL.timeout_ms)
        try:
            answer = await self.bus.call(CALL_MODEL, request, timeout_ms=timeout_ms)
        except FaultError:
            return None
        return answer.data or None


def _expected(action: ActionCall) -> Expectation | None:
    """Return what an action is to bring about by its kind alone."""
    if ACTIONS[action.name].ends:
        return None
    if action.name in _VALUES:
        value = str(action.arguments.get("value", ""))
        return Expectation(kind=ExpectedKind.VALUE_CHANGES, element=action.element, value=value)
    if action.name in _STATES:
        value = "checked" if action.name == "check" else ""
        return Expectation(kind=ExpectedKind.STATE_CHANGES, element=action.element, value=value)
    if action.name in _MOVES:
        return Expectation(kind=ExpectedKind.NAVIGATION)
    return None
