"""What the policy gate is asked and decides: calls of tools, and approvals (003 "Why tool calls exist")."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.browse import SCHEMA_VERSION, stated_version
from protocol.documents import Content, Document
from protocol.faults import Fault
from protocol.packets import ToolCall
from protocol.tools.tool import Surface

CALL_PREFIX: Final = "call_"
APPROVAL_PREFIX: Final = "apv_"

MAX_CONTEXT_DOCUMENTS: Final = 64
MAX_CONTEXT_CHARS: Final = 400_000
"""What a proposal may bring along of what was read, all documents together."""

APPROVAL_MS: Final = 600_000
"""How long an approval waits for its answer unless a setting says otherwise; silence is a deny."""

CallId = Annotated[str, Meta(pattern=r"^call_[A-Za-z0-9_-]{16,86}$(?!\n)")]
ApprovalId = Annotated[str, Meta(pattern=r"^apv_[A-Za-z0-9_-]{16,86}$(?!\n)")]


class Verb(StrEnum):
    """What the gate decides; of several rules the strictest counts: deny, then ask, then allow."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Reason(StrEnum):
    """Why the gate decided so; the first nine are those of 003's policy gate."""

    OBSERVE_ALLOWED = "observe_allowed"
    SELECTION_LINKS_ALLOWED = "selection_links_allowed"
    SEARCH_ALLOWED = "search_allowed"
    SEARCH_SENSITIVE_QUERY = "search_sensitive_query"
    SENSITIVE_FIELD_BLOCKED = "sensitive_field_blocked"
    ASSIST_REQUIRES_APPROVAL = "assist_requires_approval"
    CALCULATE_ALLOWED = "calculate_allowed"
    COLLECTION_ALLOWED = "collection_allowed"
    SHARE_REQUIRES_APPROVAL = "share_requires_approval"

    READ_ALLOWED = "read_allowed"
    CALLER_PREAPPROVED = "caller_preapproved"
    """The caller has asked for it in so many words, not a model of ours."""
    DELETE_REQUIRES_APPROVAL = "delete_requires_approval"
    OPERATOR_RULE = "operator_rule"
    TAINTED_ARGUMENT = "tainted_argument"
    """An argument carries what an untrusted document says and the user did not name."""
    NOT_PERMITTED = "not_permitted"
    """The user's task does not want this tool."""
    SCOPE_MISSING = "scope_missing"
    LOCAL_ONLY = "local_only"
    URL_REFUSED = "url_refused"
    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    FIELD_UNKNOWN = "field_unknown"
    """Nobody could say what kind of field it is."""
    GRANTED = "granted"
    """The caller has allowed it before, for this conversation or this site."""


class FieldKind(StrEnum):
    """What a field of a page is for (003, policy gate)."""

    UNKNOWN = "unknown"
    ORDINARY = "ordinary"
    CREDENTIAL = "credential"
    PAYMENT = "payment"
    PERSONAL_ID = "personalId"

    @property
    def sensitive(self) -> bool:
        """Whether nothing is typed into it that a model proposes."""
        return self in {FieldKind.CREDENTIAL, FieldKind.PAYMENT, FieldKind.PERSONAL_ID}


class FieldFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page shows of the element that a call is about, as the browser sees it; texts are cut.

    `url` is that of the frame it stands in, `page_url` that of the tab. `target` is where a link or the form of a
    button leads. `near` are the words around it, `form_fields` the autocomplete, type, name and label of the other
    fields of its form, each in one text. `digest` is the same as long as all of that is.
    """

    page_url: str
    url: str = ""
    tag: str = ""
    type: str = ""
    name: str = ""
    id: str = ""
    autocomplete: str = ""
    inputmode: str = ""
    pattern: str = ""
    maxlength: int | None = None
    placeholder: str = ""
    label: str = ""
    role: str = ""
    title: str = ""
    heading: str = ""
    near: str = ""
    form_fields: tuple[str, ...] = ()
    target: str = ""
    language: str = ""
    secret: bool = False
    """Whether it holds what was marked as a secret."""
    digest: str = ""


class ToolContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a call comes out of.

    `user_words` are what the user has said in the conversation, `documents` what was read of the web: a model has seen
    them when it proposed the call. `permitted` names the tools that the user's task wants (None: any).
    `session` is the browser session that a tool of the browser works in, `tab` its tab.
    """

    user_words: tuple[str, ...] = ()
    documents: Annotated[tuple[Document[Content], ...], Meta(max_length=MAX_CONTEXT_DOCUMENTS)] = ()
    permitted: tuple[str, ...] | None = None
    session: str | None = None
    tab: int | None = None
    origin: str = ""
    """The address of the page that the user sees, where the caller says it."""
    field: FieldFacts | None = None
    """What the caller's own page shows of the element, where no browser of ours has it."""


class ToolRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """POLICY_CALL and POLICY_DECIDE: a call of a tool, by whom, and out of what.

    `id` is the same however often it is asked: the tool runs once. `surface` names the form of the call, `proposed`
    that a model of ours wants it; a client's own call is asked for by its caller. `scopes` are those of the caller's
    key, `local` whether the caller sits at this machine. `brisk`: who asks looks himself whether it came true, so a
    page need only have nothing under way. `by_hand`: a person does it, who has the session in hand.
    """

    id: CallId
    call: ToolCall
    surface: Surface
    caller: str
    local: bool = False
    proposed: bool = False
    scopes: tuple[str, ...] = ()
    conversation: str = ""
    brisk: bool = False
    by_hand: bool = False
    context: ToolContext = ToolContext()


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What the gate decided about a call (003): `why` in plain words; `rule` the operator's, by file and line."""

    decision: Verb
    reason_code: Reason
    why: str = ""
    rule: str = ""
    field_kind: FieldKind | UnsetType = UNSET
    tainted: tuple[str, ...] = ()
    """The arguments that carry what an untrusted document says."""
    expects: str = ""
    """The digest of the element that was decided about (see FieldFacts): who acts on another one has no permission."""


class ToolStatus(StrEnum):
    """What has come of a call; the first three are those of 003."""

    OK = "ok"
    ERROR = "error"
    CANCELLED = "cancelled"
    PENDING = "pending"
    """It waits for an approval."""
    DENIED = "denied"


class ToolResult(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What came of a call that has run (003): `payload` is what the tool answers, `documents` what it has read.

    `code` is one of 003's codes where it failed (`ToolErrorCode`), `fault` the error with its way out.
    """

    tool_call_id: str
    status: ToolStatus
    payload: dict[str, Any] = {}
    documents: tuple[Document[Content], ...] = ()
    code: ToolErrorCode | UnsetType = UNSET
    fault: Fault | None = None


class ToolErrorCode(StrEnum):
    """The codes of a call that failed (003, tool results)."""

    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    MISSING_URL = "MISSING_URL"
    INVALID_URL = "INVALID_URL"
    NO_ACTIVE_TAB = "NO_ACTIVE_TAB"
    NO_TARGET_TAB = "NO_TARGET_TAB"
    NO_CONTEXT = "NO_CONTEXT"
    UNSUPPORTED_TOOL = "UNSUPPORTED_TOOL"
    OPEN_TAB_FAILED = "OPEN_TAB_FAILED"
    NAVIGATION_FAILED = "NAVIGATION_FAILED"
    BACK_FAILED = "BACK_FAILED"
    FORWARD_FAILED = "FORWARD_FAILED"
    REFRESH_FAILED = "REFRESH_FAILED"
    NOT_FOUND = "NOT_FOUND"
    STALE_HANDLE = "STALE_HANDLE"
    NOT_INTERACTABLE = "NOT_INTERACTABLE"
    DISABLED = "DISABLED"
    BLOCKED_BY_OVERLAY = "BLOCKED_BY_OVERLAY"
    SEARCH_UNAVAILABLE = "SEARCH_UNAVAILABLE"
    SEARCH_FAILED = "SEARCH_FAILED"
    RUNTIME_UNAVAILABLE = "RUNTIME_UNAVAILABLE"


class RunTool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """TOOL: run a tool that the gate has allowed; `name` is its own, `arguments` in the form that all surfaces share.

    `id` is that of the call: whoever gets it again does nothing again, and answers the same. `expects` is the digest
    of the FieldFacts that were decided about: another element is not touched. `brisk` and `by_hand` are those of
    the ToolRequest.
    """

    id: CallId
    name: str
    arguments: dict[str, Any]
    caller: str
    local: bool = False
    conversation: str = ""
    session: str | None = None
    tab: int | None = None
    expects: str = ""
    brisk: bool = False
    by_hand: bool = False


class AskField(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSER_FIELD: say what an element is, or what lies `at` a point of the window, or what has the focus."""

    caller: str
    session: str
    tab: int | None = None
    element_id: str | None = None
    at: tuple[float, float] | None = None


class ApprovalState(StrEnum):
    """How an approval stands; all but the first are final."""

    PENDING = "pending"
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"


class Remembered(StrEnum):
    """For what an answer counts."""

    ONCE = "once"
    CONVERSATION = "conversation"
    SITE = "site"


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A call that waits for a person, or has been answered; times in ms since the epoch.

    `words` say what would be done with the arguments, `effect` what it would change. `result` is what came of it once
    it ran.
    """

    id: ApprovalId
    call_id: CallId
    caller: str = ""
    tool: str
    arguments: dict[str, Any]
    words: str
    decision: Decision
    effect: str
    state: ApprovalState
    created_at: int
    expires_at: int
    conversation: str = ""
    site: str = ""
    answered_at: int | None = None
    answered_by: str = ""
    remember: Remembered = Remembered.ONCE
    result: ToolResult | None = None


class ToolOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """POLICY_CALL: what was decided, and what came of the call: `result` where it ran, `approval` where it waits."""

    call_id: CallId
    decision: Decision
    status: ToolStatus
    result: ToolResult | None = None
    approval: Approval | None = None
    schema_version: str = stated_version()


class ListApprovals(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """APPROVAL_LIST: a caller's approvals, the newest first; `pending`: those that wait alone. None: everybody's."""

    caller: str | None
    pending: bool = False
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class ApprovalList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Approvals, the newest first."""

    approvals: tuple[Approval, ...]
    schema_version: str = SCHEMA_VERSION


class AnswerApproval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """APPROVAL_ANSWER: allow or deny what waits; the first answer counts, and whoever answers again gets that one.

    The outcome is that of the call, which has run when it was allowed. `caller` is whose call it is; None: anybody's.
    """

    id: ApprovalId
    caller: str | None
    answer: Literal["allow", "deny"]
    remember: Remembered = Remembered.ONCE
    by: str = ""


class AskApproval(Struct, frozen=True, kw_only=True):
    """APPROVAL_GET: one approval of a caller; None: of anybody."""

    id: ApprovalId
    caller: str | None
