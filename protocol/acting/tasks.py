"""Tasks on pages: their plan, what was done of it, and the lines of their journal (001 §1, §3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from protocol.acting.steps import BeforeState, Blocker, Correction, PlanStepStatus, StepVerdict, TakenAction, TaskPlan
from protocol.pages import Captured

MAX_STEPS: Final = 30
MOST_STEPS: Final = 100
MAX_CORRECTIONS: Final = 3
MAX_FAILURES: Final = 3
MAX_IDLE_SUCCESSES: Final = 5
"""When a task is given up: corrections, failures in a row, and steps that succeed without bringing it to its end."""

MAX_GOAL_CHARS: Final = 10_000

TaskId = Annotated[str, Meta(pattern=r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$(?!\n)")]
TaskGoal = Annotated[str, Meta(min_length=1, max_length=MAX_GOAL_CHARS)]


class ActingStatus(StrEnum):
    """What a task is at (001 §3.2)."""

    PLANNING = "planning"
    EXECUTING = "executing"
    VERIFYING = "verifying"
    CORRECTING = "correcting"
    COMPLETED = "completed"
    FAILED = "failed"
    NEEDS_USER_INPUT = "needs_user_input"

    @property
    def final(self) -> bool:
        """Whether nothing follows."""
        return self in {ActingStatus.COMPLETED, ActingStatus.FAILED}


# -- the lines of the journal ------------------------------------------------------------------------------------------


class _TaskLine(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """A line about a task; `at` in ms since the epoch."""

    task: str
    at: int


class TaskBegun(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="begun"):
    """A task was asked for: the first line of each. `goal` has no secret in it."""

    caller: str
    goal: str
    surface: Literal["interact", "act"]
    session: str = ""
    url: str = ""
    max_steps: int = MAX_STEPS
    given: bytes = b""
    """The values that the caller has given for it, sealed for the planner."""
    again: str = ""
    """The task whose actions it performs anew."""


class TaskPlanned(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="planned"):
    """It has a plan, or another one than before."""

    plan: TaskPlan
    reason: str = ""


class ActionChosen(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="chosen"):
    """An action was chosen; this stands here before anybody performs it. `before` is the page as it was."""

    taken: TakenAction
    before: BeforeState
    request: str = ""
    """A digest of what was asked: the same answer is given to who asks it again."""


class ActionPerformed(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="performed"):
    """What came of an action that we performed ourselves."""

    number: int
    status: Literal["ok", "error", "denied", "pending"]
    error: str = ""
    message: str = ""
    text: str = ""


class ActionJudged(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="judged"):
    """What was found of an action."""

    number: int
    verdict: StepVerdict
    correction: Correction | None = None


class PlanStepEnded(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="step"):
    """A step of the plan is over; `text` is what it was to find out."""

    index: int
    status: PlanStepStatus = PlanStepStatus.COMPLETED
    why: str = ""
    text: str = ""


class TaskNoted(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="noted"):
    """Something that a task was told to remember."""

    key: str
    value: str


class TaskPaused(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="paused"):
    """It waits for its user: for words, or until what stands in the way is gone."""

    question: str
    missing: tuple[str, ...] = ()
    blocker: Blocker | None = None
    options: tuple[str, ...] = ()
    request: str = ""
    permission: str = ""
    """The action, written down, that the user is asked to allow."""


class TaskResumed(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="resumed"):
    """It goes on: `words` are what the user has said, without a secret in it; `given` are all values from here on.

    `allows`: what was asked about may be done.
    """

    words: str = ""
    allows: bool = False
    given: bytes = b""


class TaskEnded(_TaskLine, frozen=True, kw_only=True, omit_defaults=True, tag="ended"):
    """It is over. `screenshot` is the picture of where it ended."""

    status: Literal["completed", "failed"]
    text: str = ""
    confidence: float = 0.0
    screenshot: Captured | None = None
    request: str = ""


TaskLine = (
    TaskBegun
    | TaskPlanned
    | ActionChosen
    | ActionPerformed
    | ActionJudged
    | PlanStepEnded
    | TaskNoted
    | TaskPaused
    | TaskResumed
    | TaskEnded
)
"""A line of TASKS."""


def task_topic(task: str) -> str:
    """Return the topic of the lines of a task."""
    return f"task.{task}"


class AskTask(Struct, frozen=True, kw_only=True):
    """TASK_GET: a task of a caller."""

    task: TaskId
    caller: str


class TaskState(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What the lines of a task come to: the fold that whoever acts and whoever answers share (task_fold.py).

    `memory` is what it was told to remember; `actions` all that were chosen, in their order. `before` is the page
    before the last of them, `request` the digest of what was answered last. `texts` are what steps were to find out.
    """

    task_id: str
    caller: str
    goal: str
    surface: Literal["interact", "act"]
    status: ActingStatus = ActingStatus.PLANNING
    session: str = ""
    url: str = ""
    max_steps: int = MAX_STEPS
    plan: TaskPlan | None = None
    actions: tuple[TakenAction, ...] = ()
    before: BeforeState | None = None
    request: str = ""
    memory: dict[str, str] = {}
    question: str = ""
    missing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    blocker: Blocker | None = None
    user_words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    permission: str = ""
    allowed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """The actions, written down, that the user has allowed when he was asked, and those that he has not."""
    text: str = ""
    confidence: float = 0.0
    screenshot: Captured | None = None
    created_at: int = 0
    updated_at: int = 0
    again: str = ""
    given: bytes = b""

    @property
    def last(self) -> TakenAction | None:
        """The action that was chosen last."""
        return self.actions[-1] if self.actions else None

    @property
    def unjudged(self) -> TakenAction | None:
        """The action of which nothing was found yet; there is one at most, the last."""
        return self.last if self.last is not None and self.last.verdict is None else None
