"""How a task ends and what its user is asked: in words of ours, by what was found; pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from actors.planner.correcting import last_step_action
from actors.planner.machine import is_last_step
from actors.planner.solving.attempts import LOOKING
from protocol.acting.steps import SUCCESS_CONFIDENCE, Blocker, BlockerKind, TakenAction
from protocol.acting.tasks import ActingStatus, TaskState
from protocol.acting.tree import PageTree

READ_CONFIDENCE: Final = 0.75
"""How sure it is that a task is done for which nothing had to be done but to read."""

DONE: Final = "Done."
NO_TRACE: Final = "It was done, and had no effect that shows."

SURE: Final = 0.85
"""How sure the choice of an action must be for its task to go on though it left no trace."""

UNSEEN_CONFIDENCE: Final = 0.6
"""How sure it is at most that a task is done of which something left no trace."""

_PRESSES: Final = frozenset(
    {"click", "clickAt", "doubleClick", "rightClick", "press", "hover", "dragFrom", "selectText"}
)

BLOCKERS: Final[Mapping[BlockerKind, str]] = MappingProxyType(
    {
        BlockerKind.LOGIN_FAILED: "The site did not accept the login. Give other credentials, or log in yourself.",
        BlockerKind.MFA: "The site wants a second proof of who you are: a code or a confirmation. Give it the site.",
        BlockerKind.CAPTCHA: "The site wants a proof that a human is there. Solve it in the page.",
        BlockerKind.COOKIE_CONSENT: "A question about cookies is in the way. Answer it in the page.",
        BlockerKind.RATE_LIMIT: "The site has had too many requests. Wait a while.",
        BlockerKind.SESSION_EXPIRED: "The login has expired. Log in again.",
        BlockerKind.ACCESS_DENIED: "The site does not let you in here. Say what is to be done instead.",
        BlockerKind.PAGE_ERROR: "The page shows an error. Try later, or say what is to be done instead.",
    }
)
_GOES_ON: Final = "Then let the task go on."


def looks_done(state: TaskState) -> bool:
    """Return whether the last action has brought the task to its end, as the verifier found."""
    taken = last_step_action(state)
    if taken is None or taken.verdict is None or state.plan is None or not is_last_step(state.plan):
        return False
    if taken.thought.startswith(LOOKING):
        return False
    verdict = taken.verdict
    return verdict.succeeded and verdict.task_done and verdict.task_confidence >= SUCCESS_CONFIDENCE


def is_without_trace(state: TaskState) -> bool:
    """Return whether the last action was surely the right one, was done, and showed nothing: buttons may just count.

    At the end of a plan that is not enough: then nobody knows whether the task is done.
    """
    taken = last_step_action(state)
    if taken is None or taken.verdict is None or state.plan is None or is_last_step(state.plan):
        return False
    done = taken.status == "ok" and not taken.error and taken.action.name in _PRESSES
    alone = taken.by == "rule" and taken.confidence >= SURE and taken.step == state.plan.current
    return done and alone and taken.verdict.without_trace


def objection(state: TaskState) -> TakenAction | None:
    """Return the last attempt at the step at work that was not done; None where it was, or only left no trace.

    What only looked for something is no such attempt.
    """
    plan = state.plan
    own = [one for one in state.actions if plan is not None and one.step == plan.current and not one.remedy]
    tried = (one for one in reversed(own) if not one.thought.startswith(LOOKING))
    last = next((one for one in tried if one.status == "error" or _has_trace(one)), None)
    return None if last is None or (last.verdict is not None and last.verdict.succeeded) else last


def _has_trace(taken: TakenAction) -> bool:
    return taken.verdict is not None and not taken.verdict.without_trace


def is_refused(state: TaskState) -> bool:
    """Return whether the page has just refused what a rule has chosen: the same elsewhere would be another thing."""
    taken = last_step_action(state)
    if state.status is not ActingStatus.CORRECTING or taken is None or taken.by != "rule":
        return False
    return taken.verdict is not None and taken.verdict.refused


def supports(state: TaskState, page: PageTree, text: str) -> bool:
    """Return whether what was found bears it out that the task is done, where a model says so.

    Its last action has succeeded at the end of the plan; or nothing had to be done, and what it says stands there.
    """
    taken = last_step_action(state)
    if taken is not None:
        at_the_end = state.plan is None or is_last_step(state.plan)
        return at_the_end and taken.verdict is not None and taken.verdict.succeeded
    words = " ".join(part for node in page.nodes for part in (node.name, node.value or "", node.context) if part)
    return bool(text.strip()) and " ".join(text.casefold().split()) in " ".join(words.casefold().split())


def conclusion(state: TaskState) -> str:
    """Return what a task has come to: what it was to find out, or that it is done."""
    return "\n".join(state.texts) or DONE


def confidence_of(state: TaskState) -> float:
    """Return how sure it is that a task is done: no surer than the least sure of its choices, and of their verdicts."""
    taken = [one for one in state.actions if not one.remedy and one.verdict is not None and one.verdict.succeeded]
    last = {one.step: one.verdict for one in state.actions if not one.remedy}
    shown = not any(one is not None and one.without_trace for one in last.values())
    if not taken:
        return READ_CONFIDENCE if shown else UNSEEN_CONFIDENCE
    choices = (one.confidence for one in taken)
    verdicts = (one.verdict.confidence for one in taken if one.verdict is not None)
    return round(min(_sure(taken[-1]), *choices, *verdicts, 1.0 if shown else UNSEEN_CONFIDENCE), 3)


def question_about(blocker: Blocker | None, *, step: str = "", goal: str = "", tried: TakenAction | None = None) -> str:
    """Return what the user is asked: to take something away, or to say a step or a goal in other words.

    `tried` is the last attempt at the step, which was not done.
    """
    if blocker is not None:
        return f"{BLOCKERS[blocker.kind]} {_GOES_ON}"
    if goal:
        return "How is this to be done? Say it in single steps, with the words that the page has on its controls."
    why = _why_not(tried)
    if tried is not None and tried.verdict is not None and tried.verdict.refused:
        return f"This step was tried, and not done: {step}. {why} What is to be done?"
    question = f"How is this step to be done here: {step}? Name the control with the words that the page has on it."
    return f"{question} It was tried: {why}" if why else question


def _why_not(tried: TakenAction | None) -> str:
    """Return what an attempt failed with: what whoever did it says, else the last that was seen of it."""
    if tried is None or tried.verdict is None:
        return ""
    return tried.message if tried.status == "error" and tried.message else tried.verdict.evidence[-1]


def _sure(taken: TakenAction) -> float:
    verdict = taken.verdict
    if verdict is None:
        return 0.0
    return verdict.task_confidence if verdict.task_done else min(verdict.confidence, READ_CONFIDENCE)
