"""A task as a client of 001 gets to see it after a round: what to do next, the plan, and how the last action went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from actors.planner.interacting.negotiation import WantedContext
from actors.planner.values import filled, put_in
from protocol.acting.actions import ActionCall
from protocol.acting.interact import ActionDetails, BlockerInfo, InteractData, ShownPlan, ShownStep
from protocol.acting.steps import Expectation, TakenAction, TaskPlan
from protocol.acting.strings import action_string, wire_name
from protocol.acting.tasks import ActingStatus, TaskState

NEEDS_CONTEXT: Final = "needs_context"
MAX_NUMBER_DIGITS: Final = 15

SelectorOf = Callable[[str], str]
"""The selector of a node by its id."""


def wanted_data(wanted: WantedContext) -> InteractData:
    """Return the answer that asks for more of a page (001 §1)."""
    return InteractData(
        status=NEEDS_CONTEXT,
        requested_dom_mode=wanted.mode,
        needs_screenshot=wanted.screenshot,
        needs_skeleton_dom=wanted.skeleton,
        reason=wanted.reason,
    )


def round_data(
    state: TaskState, due: TakenAction | None, values: Mapping[str, str], selector: SelectorOf
) -> InteractData:
    """Return the answer to a round: `due` is the action that comes next, which gets the values in their places."""
    plan = shown_plan(state.plan, due.step if due is not None else None, state.actions)
    words, call = _words_and_action(state, due)
    action = filled(call, values)
    asks = state.status is ActingStatus.NEEDS_USER_INPUT
    status = ActingStatus.EXECUTING if due is not None and state.status is ActingStatus.VERIFYING else state.status
    judged = next((one for one in reversed(state.actions) if one.verdict is not None), None)
    return InteractData(
        status=status.value,
        session_id=state.session or UNSET,
        task_id=state.task_id,
        thought=put_in(words, values),
        action=_string(state, action),
        action_details=action_details(action, selector),
        plan=UNSET if plan is None else plan,
        current_step=UNSET if plan is None else plan.current_step_index,
        total_steps=UNSET if plan is None else len(plan.steps),
        confidence=due.confidence if due is not None else (state.confidence or UNSET),
        reasoning=state.question if asks else UNSET,
        user_question=state.question if asks else UNSET,
        options=(state.options or UNSET) if asks else UNSET,
        missing_information=(state.missing or UNSET) if asks else UNSET,
        blocker_info=_blocker(state) if asks else UNSET,
        verification=UNSET if judged is None else _verification(judged),
        correction=UNSET if judged is None or judged.correction is None else {"strategy": judged.correction.value},
    )


def action_details(action: ActionCall, selector: SelectorOf) -> ActionDetails:
    """Return an action in its parts; an id that is a number is one."""
    element = action.element
    numeric = element.isascii() and element.isdecimal() and len(element) <= MAX_NUMBER_DIGITS
    arguments = {name: value for name, value in action.arguments.items() if name != "element"}
    return ActionDetails(
        name=wire_name(action),
        element_id=(int(element) if numeric else element) if element else UNSET,
        element_ref=element or UNSET,
        selector_path=selector(element) if element else UNSET,
        args=arguments or UNSET,
    )


def shown_plan(plan: TaskPlan | None, step: int | None, actions: Iterable[TakenAction] = ()) -> ShownPlan | None:
    """Return a plan as 001 has it; `step` is the one that the action is of, where there is one.

    What a step is expected to bring about is what its last one of these actions is.
    """
    if plan is None or not plan.steps:
        return None
    expected = {one.step: one.expected for one in actions if one.expected is not None}
    current = min(plan.current if step is None else step, len(plan.steps) - 1)
    steps = tuple(
        ShownStep(
            id=one.id,
            index=one.index,
            description=one.description,
            status=one.status,
            tool_type=one.tool_type.value,
            reasoning=one.reasoning or UNSET,
            expected_outcome=_outcome(one.expected or expected.get(one.index)),
        )
        for one in plan.steps
    )
    at = datetime.fromtimestamp(plan.created_at / 1_000, UTC).isoformat(timespec="milliseconds")
    return ShownPlan(steps=steps, current_step_index=current, created_at=at.replace("+00:00", "Z"))


def _outcome(expected: Expectation | None) -> dict[str, Any] | UnsetType:
    return UNSET if expected is None else msgspec.to_builtins(expected)


def kept_words(state: TaskState, due: TakenAction | None) -> tuple[str, str]:
    """Return what is said in the chat session and the action there: with the places of values, never with a secret."""
    words, call = _words_and_action(state, due)
    return words, _string(state, call)


def _words_and_action(state: TaskState, due: TakenAction | None) -> tuple[str, ActionCall]:
    if due is not None:
        return due.thought, due.action
    match state.status:
        case ActingStatus.COMPLETED:
            given: dict[str, Any] = {"text": state.text} if state.text else {}
            return state.text or "The task is done.", ActionCall(name="finish", arguments=given)
        case ActingStatus.NEEDS_USER_INPUT:
            return state.question, ActionCall(name="ask_user", arguments={"question": state.question})
        case _:
            given = {"reason": state.text} if state.text else {}
            return state.text or "The task could not be done.", ActionCall(name="fail", arguments=given)


def _string(state: TaskState, action: ActionCall) -> str:
    """Write an action down; the end of a task is always the same words, which clients compare (001 §3.4)."""
    return f"{action.name}()" if state.status.final and action.ends else action_string(action)


def _blocker(state: TaskState) -> Any:
    blocker = state.blocker
    if blocker is None:
        return UNSET
    return BlockerInfo(type=blocker.kind, confidence=blocker.confidence, description=state.question or blocker.words)


def _verification(judged: TakenAction) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(judged.verdict)
    return written | {"action": judged.string}
