"""Tasks on pages: their plan, what was done of it, and the lines of their journal (001 §1, §3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from protocol.acting.actions import ActionCall, ToolKind
from protocol.acting.tree import ReceivedInput, SemanticNode
from protocol.pages import Captured

MAX_STEPS: Final = 30
MOST_STEPS: Final = 100
MAX_CORRECTIONS: Final = 3
MAX_FAILURES: Final = 3
MAX_IDLE_SUCCESSES: Final = 5
"""When a task is given up: corrections, failures in a row, and steps that succeed without bringing it to its end."""

SUCCESS_CONFIDENCE: Final = 0.7
"""How sure a verdict must be for a step to count as done, and a task as done."""

MAX_GOAL_CHARS: Final = 10_000
MAX_KEPT_NODES: Final = 600
"""What is kept of a page before an action."""

TaskId = Annotated[str, Meta(pattern=r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$(?!\n)")]
TaskGoal = Annotated[str, Meta(min_length=1, max_length=MAX_GOAL_CHARS)]


class PlanStepStatus(StrEnum):
    """How a step of a plan stands (001 §3.2)."""

    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


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


class ExpectedKind(StrEnum):
    """What an action is expected to bring about (001, sentinel verification)."""

    NAVIGATION = "navigation"
    ELEMENT_APPEARS = "element_appears"
    ELEMENT_DISAPPEARS = "element_disappears"
    VALUE_CHANGES = "value_changes"
    STATE_CHANGES = "state_changes"
    DOWNLOAD_STARTS = "download_starts"
    ANY_CHANGE = "any_change"
    NO_CHANGE = "no_change"


class Expectation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an action is expected to bring about: `value` is the value, the state, or the words that come or go.

    `element` is the node that it is about; "" where it is none in particular.
    """

    kind: ExpectedKind
    element: str = ""
    value: str = ""


class PlanStep(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One atomic step; `description` is an instruction that can be carried out by itself."""

    index: int
    description: str
    status: PlanStepStatus = PlanStepStatus.PENDING
    tool_type: ToolKind = ToolKind.DOM
    reasoning: str = ""
    expected: Expectation | None = None
    by: Literal["rule", "model"] = "rule"

    @property
    def id(self) -> str:
        """The id that 001 gives it."""
        return f"step_{self.index}"


class TaskPlan(Struct, frozen=True, kw_only=True, rename="camel"):
    """The steps of a task; `current` is the index of the one that is at work, `created_at` in ms since the epoch."""

    steps: tuple[PlanStep, ...]
    current: int = 0
    created_at: int = 0


class BeforeState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a page, to compare it with what it is after an action."""

    url: str
    title: str = ""
    hash: str = ""
    focused: str = ""
    nodes: tuple[SemanticNode, ...] = ()
    recent_events: tuple[str, ...] = ()
    has_errors: bool = False
    has_success: bool = False
    dialog: str = ""
    tabs: int = 1
    scroll_position: str = ""
    inputs: tuple[ReceivedInput, ...] = ()
    selection: str = ""


class ClientEvidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a client has seen of its own action (001 §1); None where it does not say.

    `sentinel` is `verification_passed`, with its message, errors and success texts.
    """

    network: bool | None = None
    mutation: bool | None = None
    url_changed: bool | None = None
    previous_url: str = ""
    element_found: bool | None = None
    status: Literal["success", "failure", "pending"] | None = None
    error_code: str = ""
    error_message: str = ""
    actual_state: str = ""
    sentinel: bool | None = None
    sentinel_message: str = ""
    errors: tuple[str, ...] = ()
    successes: tuple[str, ...] = ()


class BlockerKind(StrEnum):
    """What stands in the way of a task, and only its user can take away."""

    LOGIN_FAILED = "login_failure"
    MFA = "mfa"
    CAPTCHA = "captcha"
    COOKIE_CONSENT = "cookie_consent"
    RATE_LIMIT = "rate_limit"
    SESSION_EXPIRED = "session_expired"
    ACCESS_DENIED = "access_denied"
    PAGE_ERROR = "page_error"


class Blocker(Struct, frozen=True, kw_only=True):
    """Something that stands in the way; `words` are the page's."""

    kind: BlockerKind
    confidence: float
    words: str = ""


class VerificationTier(StrEnum):
    """Who has judged: nobody had to, the gate of what changed, rules, a light model, a full model."""

    GATE = "gate"
    RULES = "rules"
    LIGHT = "light"
    FULL = "full"


class StepClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """VERIFY_STEP: did the action do what was wanted, and with `final` also: is the task done?

    `certainty` is how sure whoever chose the action was that it is the right one (0 to 1): a verdict about the task
    can be no surer. `typed` names the nodes that something secret was put into: their value is not looked at. `text` is
    what an action returned that only reads.
    """

    goal: str
    step: str
    action: ActionCall
    before: BeforeState
    after: BeforeState
    expected: Expectation | None = None
    client: ClientEvidence = ClientEvidence()
    final: bool = False
    certainty: float = 1.0
    text: str = ""
    typed: tuple[str, ...] = ()
    next_step: str = ""
    caller: str = ""
    local_only: bool = False


class StepVerdict(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """The answer to VERIFY_STEP: whether a step did what was wanted, and with `final` whether its task is done.

    `confidence` is how probable it is that it did (0 to 1): a failure that is sure has one near 0. `task_confidence`
    likewise. `evidence` is what it goes by, each in a sentence of ours that quotes the page where it must. `changed`:
    whether anything did; without it nothing has succeeded but what only reads, waits, or needs no page. `replan`: the
    plan was made for another page.
    """

    succeeded: bool
    confidence: float
    tier: VerificationTier
    evidence: tuple[str, ...]
    changed: bool = False
    task_done: bool = False
    task_confidence: float = 0.0
    blocker: Blocker | None = None
    replan: bool = False
    similarity: float = 1.0

    @property
    def without_trace(self) -> bool:
        """Whether nothing came of the action; that a control has the focus now says only that it was clicked."""
        return not self.succeeded and (not self.changed or self.tier is VerificationTier.GATE)


class Correction(StrEnum):
    """What is tried after a step that failed."""

    ALTERNATIVE_SELECTOR = "ALTERNATIVE_SELECTOR"
    ALTERNATIVE_TOOL = "ALTERNATIVE_TOOL"
    GATHER_INFORMATION = "GATHER_INFORMATION"
    UPDATE_PLAN = "UPDATE_PLAN"
    RETRY_WITH_DELAY = "RETRY_WITH_DELAY"


class TakenAction(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One action of a task: what it was, why, by whom, and what was found of it.

    `status` is `ok`, `error`, `denied` or `pending` (an approval) where we performed it ourselves; `error` its code.
    """

    number: int
    step: int
    action: ActionCall
    string: str
    thought: str = ""
    by: Literal["rule", "model"] = "rule"
    confidence: float = 1.0
    expected: Expectation | None = None
    status: Literal["", "ok", "error", "denied", "pending"] = ""
    error: str = ""
    message: str = ""
    text: str = ""
    verdict: StepVerdict | None = None
    correction: Correction | None = None
    at: int = 0
    remedy: bool = False
    """Whether it was taken to correct what failed before it (a wait, a look around), not to bring the step on."""
    page: str = ""
    """The hash of the page that it was chosen on."""
    nodes: dict[str, SemanticNode] = {}
    """What it is about, by the names of its arguments, without values: whoever does it again finds it by that."""


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
