"""ACT: a goal on a page of a browser of ours, reached step by step, each verified."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from protocol.acting.tasks import MAX_STEPS, MOST_STEPS, TaskGoal, TaskId, TaskState
from protocol.browse import stated_version
from protocol.browsers.operations import SessionId
from protocol.pages import Url
from protocol.replicas import Watch

MAX_VALUES = 50
MAX_VALUE_CHARS = 10_000

TASK_VALUES: Final = "task.values"
"""The purpose that the values of a task are sealed for: the planner's, and theirs who hand them in."""


def values_place(task: str) -> str:
    """Return the place that the values of a task are sealed for: a JSON object of texts by name."""
    return f"{TASK_VALUES} {task}"


class ReachOnPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """ACT: reach a goal on a page, in a browser session of the caller's.

    Asked again with the same `task`, it goes on: what was done is not done again. `values` are sealed for the planner
    (a JSON object of texts by name): what the goal calls `{name}` is taken from there and stands nowhere else. `words`
    answer what it has asked. `again` is a task of the caller's whose actions are performed anew, with its values, each
    on the element that is now what it was then. `watch` is who is told of each step (PROGRESS). `local_only`: no model
    is asked.
    """

    task: TaskId
    goal: TaskGoal
    session: SessionId
    caller: str
    url: Url | None = None
    values: bytes = b""
    words: str = ""
    resume: bool = False
    again: TaskId | None = None
    max_steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = MAX_STEPS
    screenshot: bool = True
    scopes: tuple[str, ...] = ()
    local: bool = False
    local_only: bool = False
    watch: Watch | None = None


class Reached(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The answer to ACT: how the task stands, by the fold of its lines; `session` is where its page is."""

    state: TaskState
    session: str
    schema_version: str = stated_version()


class ResumeTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """TASK_RESUME: what stood in the way of a task is gone, or its user says what it has asked."""

    task: TaskId
    caller: str
    words: str = ""
