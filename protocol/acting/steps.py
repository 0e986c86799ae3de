"""The steps of a task on a page: what each expects, what was seen of it, and what was found (001 §1, §3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

from protocol.acting.actions import ActionCall, ToolKind
from protocol.acting.tree import ReceivedInput, SemanticNode

SUCCESS_CONFIDENCE: Final = 0.7
"""How sure a verdict must be for a step to count as done, and a task as done."""
MAX_KEPT_NODES: Final = 600
"""What is kept of a page before an action."""


class PlanStepStatus(StrEnum):
    """How a step of a plan stands (001 §3.2)."""

    PENDING = "pending"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


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
    status: int = 0
    """The HTTP status that it came with, where that is one of an error."""


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
    plan was made for another page. `refused`: the page itself says that it was not done; its words are the last of
    `evidence`.
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
    refused: bool = False
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
    pictured: bool = False
    """Whether a model has chosen it that was shown a picture of the page."""
    page: str = ""
    """The hash of the page that it was chosen on."""
    nodes: dict[str, SemanticNode] = {}
    """What it is about, by the names of its arguments, without values: whoever does it again finds it by that."""
