"""POST /api/agent/interact: what a client sends of its page, and what it gets to do next (001 §1, §3)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from protocol.acting.steps import BlockerKind, PlanStepStatus
from protocol.acting.tasks import MAX_GOAL_CHARS, TaskId
from protocol.acting.tree import ReceivedInput, ScrollContainer, SemanticNode, SemanticNodeV2, Viewport
from protocol.shapes import Worded

MAX_SCREENSHOT_CHARS: Final = 2_000_000
MAX_SKELETON_CHARS: Final = 100_000
MAX_DOM_CHARS: Final = 1_000_000
MAX_HASH_CHARS: Final = 256
MAX_EVENTS: Final = 20
MAX_EVENT_CHARS: Final = 200
MAX_FINDINGS: Final = 10
MAX_MESSAGE_CHARS: Final = 500
MAX_SENT_NODES: Final = 5_000

DomMode = Literal["semantic", "skeleton", "hybrid", "full"]
Finding = Annotated[str, Meta(max_length=MAX_EVENT_CHARS)]
_BASE64: Final = "[A-Za-z0-9+/]"
SentPicture = Annotated[
    str,
    Meta(
        max_length=MAX_SCREENSHOT_CHARS,
        pattern=rf"^(?:data:image/[a-z]+;base64,)?(?:/9j/|iVBORw0KGg{_BASE64}{{2}}|UklGR{_BASE64}{{6}}XRUJQ)"
        rf"{_BASE64}*={{0,2}}$(?!\n)",
        description="A JPEG, PNG or WebP in base64, with or without the head of a data URL.",
    ),
]
ClientTab = Annotated[int, Meta(ge=1, le=2**53 - 1)]
"""The number that a client has for its tab, an integer that every reader of JSON takes as it is (RFC 8259 §6)."""

ChatId = TaskId
"""A chat session; a UUID like that of a task."""


class ActionFailure(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Why the last action failed, as the client says."""

    message: str = ""
    code: str = ""
    action: str = ""
    element_id: int | str | None = None


class ActionReport(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What came of the last action, as the client says."""

    success: bool
    actual_state: str = ""


class ClientVerification(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the client found where it looked for a selector."""

    element_found: bool
    selector: str | None = None
    url_changed: bool | None = None
    timestamp: float | None = None


class ClientObservations(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the client saw happen."""

    did_network_occur: bool | None = None
    did_dom_mutate: bool | None = None
    did_url_change: bool | None = None


class InteractRequest(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A client's page, and what its user wants; fields that are not known are passed over, as 001 has many clients.

    `interactive_tree` and `interactive_tree` in snake case are the same, and so are `page_title` and `title`. Without a
    `url` it is a request for words alone. A `screenshot` that is null is the same as before.
    """

    query: Annotated[Worded, Meta(max_length=MAX_GOAL_CHARS)]
    url: Annotated[str, Meta(max_length=8_192)] | None = None
    dom: Annotated[str, Meta(max_length=MAX_DOM_CHARS)] | None = None
    task_id: TaskId | None = None
    session_id: ChatId | None = None
    tab_id: ClientTab | None = None
    domain: Annotated[str, Meta(max_length=255)] | None = None
    title: Annotated[str, Meta(max_length=500)] | None = None
    last_action_status: Literal["success", "failure", "pending"] | None = None
    last_action_error: ActionFailure | None = None
    last_action_result: ActionReport | None = None
    previous_url: Annotated[str, Meta(max_length=8_192)] | None = None
    client_verification: ClientVerification | None = None
    client_observations: ClientObservations | None = None
    dom_mode: DomMode | None = None
    interactive_tree: Annotated[tuple[SemanticNode, ...], Meta(max_length=MAX_SENT_NODES)] | None = None
    interactive_tree_alias: Annotated[tuple[SemanticNode, ...], Meta(max_length=MAX_SENT_NODES)] | None = field(
        default=None, name="interactive_tree"
    )
    interactive_tree_hash: Annotated[str, Meta(max_length=MAX_HASH_CHARS)] | None = None
    viewport: Viewport | None = None
    page_title: Annotated[str, Meta(max_length=500)] | None = None
    scroll_position: Annotated[str, Meta(max_length=10)] | None = None
    scrollable_containers: Annotated[tuple[ScrollContainer, ...], Meta(max_length=100)] = ()
    recent_events: Annotated[tuple[Finding, ...], Meta(max_length=MAX_EVENTS)] = ()
    has_errors: bool = False
    has_success: bool = False
    inputs: Annotated[tuple[ReceivedInput, ...], Meta(max_length=MAX_EVENTS)] = ()
    selection: Finding = ""
    verification_passed: bool | None = field(default=None, name="verification_passed")
    verification_message: Annotated[str, Meta(max_length=MAX_MESSAGE_CHARS)] = field(
        default="", name="verification_message"
    )
    errors_detected: Annotated[tuple[Finding, ...], Meta(max_length=MAX_FINDINGS)] = field(
        default=(), name="errors_detected"
    )
    success_messages: Annotated[tuple[Finding, ...], Meta(max_length=MAX_FINDINGS)] = field(
        default=(), name="success_messages"
    )
    dom_filtered: bool = field(default=False, name="dom_filtered")
    filter_reason: Annotated[str, Meta(max_length=MAX_MESSAGE_CHARS)] = field(default="", name="filter_reason")
    original_node_count: Annotated[int, Meta(ge=0)] | None = field(default=None, name="original_node_count")
    token_reduction: Annotated[float, Meta(ge=0, le=100)] | None = field(default=None, name="token_reduction")
    semantic_nodes: Annotated[tuple[SemanticNodeV2, ...], Meta(max_length=MAX_SENT_NODES)] | None = None
    screenshot: SentPicture | UnsetType | None = UNSET
    skeleton_dom: Annotated[str, Meta(max_length=MAX_SKELETON_CHARS)] | None = None
    screenshot_hash: Annotated[str, Meta(max_length=MAX_HASH_CHARS)] | None = None

    @property
    def tree(self) -> tuple[SemanticNode, ...] | None:
        """The nodes of V3, by whichever name they came."""
        return self.interactive_tree if self.interactive_tree is not None else self.interactive_tree_alias


class Interact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """INTERACT: one round of a task whose page its client has. `local_only`: no model is asked."""

    request: InteractRequest
    caller: str
    scopes: tuple[str, ...] = ()
    local: bool = False
    local_only: bool = False


class ActionDetails(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The action in its parts; `element_id` is a number where the id is one, `element_ref` always its text."""

    name: str
    element_id: int | str | UnsetType = UNSET
    element_ref: str | UnsetType = UNSET
    selector_path: str | UnsetType = UNSET
    args: dict[str, Any] | UnsetType = UNSET


class ShownStep(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A step of a plan as 001 has it."""

    id: str
    index: int
    description: str
    status: PlanStepStatus
    tool_type: str
    reasoning: str | UnsetType = UNSET
    expected_outcome: dict[str, Any] | UnsetType = UNSET


class ShownPlan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A plan as 001 has it; `created_at` in ISO 8601."""

    steps: tuple[ShownStep, ...]
    current_step_index: int
    created_at: str


class BlockerInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands in the way, where the status is needs_user_input."""

    type: BlockerKind
    confidence: float
    description: str


class InteractData(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a client gets to do next: an action, or a request for more of its page (001 §1, §3.2)."""

    status: str
    session_id: str | UnsetType = UNSET
    task_id: str | UnsetType = UNSET
    thought: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    action_details: ActionDetails | UnsetType = UNSET
    plan: ShownPlan | UnsetType = UNSET
    current_step: int | UnsetType = UNSET
    total_steps: int | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    user_question: str | UnsetType = UNSET
    options: tuple[str, ...] | UnsetType = UNSET
    """What may be answered, where the question is which of several things is meant."""
    missing_information: tuple[str, ...] | UnsetType = UNSET
    blocker_info: BlockerInfo | UnsetType = UNSET
    verification: dict[str, Any] | UnsetType = UNSET
    correction: dict[str, Any] | UnsetType = UNSET
    requested_dom_mode: DomMode | UnsetType = UNSET
    needs_screenshot: bool | UnsetType = UNSET
    needs_skeleton_dom: bool | UnsetType = UNSET
    reason: str | UnsetType = UNSET
