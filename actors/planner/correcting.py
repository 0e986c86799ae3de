"""What is done after a step that failed, by the strategy that the machine has named; pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.planner.solution import Chosen
from protocol.acting.actions import ActionCall
from protocol.acting.steps import Correction, TakenAction
from protocol.acting.tasks import ActingStatus, TaskState
from protocol.acting.tree import PageTree

DELAY_S: Final = 2
"""How long a page is given before the same is tried again."""

PATIENCE: Final = Chosen(
    action=ActionCall(name="wait", arguments={"seconds": 1}),
    thought="What is wanted is not there: the page may not be through yet.",
    confidence=0.9,
)
"""What is done once for a step before its user is asked."""

_OTHER_TOOL: Final[Mapping[str, str]] = MappingProxyType(
    {"check": "click", "uncheck": "click", "selectDropdown": "setValue", "setValue": "selectDropdown"}
)
"""What else has the same effect on some pages; `setValue` where the node is a list to choose from."""

_REPEATABLE: Final = frozenset(
    {"navigate", "refresh", "hover", "setValue", "focus", "selectText", "check", "uncheck", "selectDropdown"}
    | {"scroll", "scroll_container", "findText", "wait", "waitForElement", "getText", "getAttribute"}
)
"""The actions that have the same effect when they are done twice."""

_END: Final = "100"


def remedy(state: TaskState, page: PageTree) -> Chosen | None:
    """Return the action that corrects what failed last, or what is to be tried again after it; None: choose anew."""
    failed = last_step_action(state)
    if failed is None or failed.correction is None or state.last is None:
        return None
    if state.last is not failed:
        return _again(failed, page) if state.last.action.name == "wait" else None
    if state.status is ActingStatus.CORRECTING:
        return _corrected(failed, page)
    return None


def may_wait(state: TaskState, page: PageTree) -> bool:
    """Return whether a page of ours may only need a moment: something was just done on it, or it says so itself."""
    if state.surface != "act" or state.plan is None or len(state.actions) >= state.max_steps:
        return False
    waited = any(one.action.name == "wait" for one in state.actions if one.step == state.plan.current)
    return not waited and (not page.ready or (state.last is not None and state.last.step != state.plan.current))


def is_remedy(chosen: Chosen, failed: TakenAction | None) -> bool:
    """Return whether an action only prepares another attempt."""
    return failed is not None and failed.correction is not None and chosen.action.name in {"wait", "scroll"}


def last_step_action(state: TaskState) -> TakenAction | None:
    """Return the last action that was to bring a step on."""
    return next((one for one in reversed(state.actions) if not one.remedy), None)


def _corrected(failed: TakenAction, page: PageTree) -> Chosen | None:
    match failed.correction:
        case Correction.RETRY_WITH_DELAY:
            wait = ActionCall(name="wait", arguments={"seconds": DELAY_S})
            return Chosen(action=wait, thought="The page may need a moment: wait, then try again.", confidence=0.9)
        case Correction.GATHER_INFORMATION:
            return _look_further(page)
        case Correction.ALTERNATIVE_TOOL:
            return _by_other_tool(failed, page)
        case _:
            return None


def _again(failed: TakenAction, page: PageTree) -> Chosen | None:
    """Return the same action once more, unless it may have had an effect that nobody has seen yet."""
    element = failed.action.element
    if (element and page.node(element) is None) or (failed.action.name not in _REPEATABLE and not failed.error):
        return None
    return Chosen(
        action=failed.action,
        thought="Try the same once more.",
        confidence=failed.confidence,
        expected=failed.expected,
        by=failed.by,
    )


def _look_further(page: PageTree) -> Chosen | None:
    more = page.left_out > 0 or any(one.has_more for one in page.scrollable_containers)
    if not more and (not page.scroll_position or page.scroll_position.startswith(_END)):
        return None
    down = ActionCall(name="scroll", arguments={"down": True})
    return Chosen(action=down, thought="It may lie further down: look there.", confidence=0.9)


def _by_other_tool(failed: TakenAction, page: PageTree) -> Chosen | None:
    name, node = failed.action.name, page.node(failed.action.element)
    if node is None or name not in _OTHER_TOOL or (name == "setValue" and node.role != "sel"):
        return None
    arguments = dict(failed.action.arguments)
    if _OTHER_TOOL[name] == "click":
        arguments = {"element": failed.action.element}
    arguments.pop("clear", None)
    return Chosen(
        action=ActionCall(name=_OTHER_TOOL[name], arguments=arguments),
        thought="That had no effect: do it another way.",
        confidence=failed.confidence,
        expected=failed.expected,
        by=failed.by,
    )
