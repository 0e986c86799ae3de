"""The one error of the system: categories, codes, what each means, and the next thing to try (000 §3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from protocol.actions import (
    ADD_PROVIDER,
    ANSWER_APPROVAL,
    ANSWER_LOCALLY,
    ANY_TIER,
    ASK_SITE,
    AWAIT_HAND,
    BEGIN_CHAT,
    BEGIN_TASK,
    CHECK_APPROVAL,
    CHECK_ARTIFACT,
    CHECK_COLLECTION,
    CHECK_CONVERSATION,
    CHECK_FLOW,
    CHECK_PATTERN,
    CHECK_RUN,
    CHECK_SOURCE,
    CHECK_URL,
    FIX_INPUT,
    FRESH,
    GO_LOCAL,
    LESS_WORK,
    LIST_TEMPLATES,
    LOG_IN,
    LOOK_AGAIN,
    MAKE_ROOM,
    MORE_BUDGET,
    MORE_TIME,
    NEW_SESSION,
    NO_SCRIPTS,
    OPERATOR,
    OTHER_KEY,
    RATE_LIMIT_DELAY_MS,
    RECORD_AGAIN,
    REFRESH,
    REFUSE_CONSENT,
    REPORT,
    RETRY,
    RUN_ANEW,
    SEE_STEP,
    SLOWER,
    TAKE_IN_HAND,
    USE_BROWSER,
    USE_LIGHTWEIGHT,
    USE_SAVED,
    WAIT,
    Action,
    ranked,
)
from protocol.urls import host_of, without_userinfo


class Category(StrEnum):
    """The twelve kinds of failure a client tells apart (000 §3)."""

    NETWORK = "network"
    HTTP = "http"
    AUTH = "auth"
    RATE_LIMIT = "rate_limit"
    CONTENT = "content"
    VALIDATION = "validation"
    SECURITY = "security"
    BROWSER = "browser"
    CONFIG = "config"
    SITE_CHANGE = "site_change"
    BLOCKED = "blocked"
    INTERNAL = "internal"


class Code(StrEnum):
    """Every error code, most of them named by 000 §3 and 002 §7.1; `KINDS` says what each one means."""

    NETWORK_TIMEOUT = "NETWORK_TIMEOUT"
    NETWORK_CONNECTION_FAILED = "NETWORK_CONNECTION_FAILED"
    NETWORK_DNS_FAILED = "NETWORK_DNS_FAILED"
    NETWORK_TLS_FAILED = "NETWORK_TLS_FAILED"
    NETWORK_MODEL_FAILED = "NETWORK_MODEL_FAILED"
    HTTP_NOT_FOUND = "HTTP_NOT_FOUND"
    HTTP_FORBIDDEN = "HTTP_FORBIDDEN"
    HTTP_SERVICE_UNAVAILABLE = "HTTP_SERVICE_UNAVAILABLE"
    HTTP_BAD_GATEWAY = "HTTP_BAD_GATEWAY"
    HTTP_CLIENT_ERROR = "HTTP_CLIENT_ERROR"
    HTTP_PROXY_REFUSED = "HTTP_PROXY_REFUSED"
    HTTP_SERVER_ERROR = "HTTP_SERVER_ERROR"
    HTTP_TOO_MANY_REDIRECTS = "HTTP_TOO_MANY_REDIRECTS"
    AUTH_SESSION_EXPIRED = "AUTH_SESSION_EXPIRED"
    AUTH_INVALID_CREDENTIALS = "AUTH_INVALID_CREDENTIALS"
    AUTH_MISSING_SESSION = "AUTH_MISSING_SESSION"
    AUTH_INSUFFICIENT_SCOPE = "AUTH_INSUFFICIENT_SCOPE"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    RATE_LIMIT_BUDGET = "RATE_LIMIT_BUDGET"
    CONTENT_REQUIRES_JS = "CONTENT_REQUIRES_JS"
    CONTENT_EMPTY = "CONTENT_EMPTY"
    CONTENT_TOO_SHORT = "CONTENT_TOO_SHORT"
    CONTENT_TOO_LARGE = "CONTENT_TOO_LARGE"
    CONTENT_UNSUPPORTED_TYPE = "CONTENT_UNSUPPORTED_TYPE"
    CONTENT_PAYWALLED = "CONTENT_PAYWALLED"
    CONTENT_CONSENT_REQUIRED = "CONTENT_CONSENT_REQUIRED"
    CONTENT_AGE_RESTRICTED = "CONTENT_AGE_RESTRICTED"
    VALIDATION_INVALID_REQUEST = "VALIDATION_INVALID_REQUEST"
    VALIDATION_INVALID_PACKET = "VALIDATION_INVALID_PACKET"
    SECURITY_URL_BLOCKED = "SECURITY_URL_BLOCKED"
    SECURITY_ADDRESS_BLOCKED = "SECURITY_ADDRESS_BLOCKED"
    SECURITY_ORIGIN_REFUSED = "SECURITY_ORIGIN_REFUSED"
    BROWSER_UNAVAILABLE = "BROWSER_UNAVAILABLE"
    PAGE_CRASHED = "PAGE_CRASHED"
    BROWSER_PAGE_HUNG = "BROWSER_PAGE_HUNG"
    ELEMENT_NOT_FOUND = "ELEMENT_NOT_FOUND"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    CONFIG_TIER_NOT_DEPLOYED = "CONFIG_TIER_NOT_DEPLOYED"
    CONFIG_INVALID = "CONFIG_INVALID"
    CONFIG_NO_MODEL = "CONFIG_NO_MODEL"
    CONFIG_STORAGE_FULL = "CONFIG_STORAGE_FULL"
    SITE_STRUCTURE_CHANGED = "SITE_STRUCTURE_CHANGED"
    SITE_PARKED = "SITE_PARKED"
    SITE_NOT_READY = "SITE_NOT_READY"
    SITE_SUSPENDED = "SITE_SUSPENDED"
    SITE_NOT_CONFIGURED = "SITE_NOT_CONFIGURED"
    BLOCKED_BOT_DETECTION = "BLOCKED_BOT_DETECTION"
    BLOCKED_RATE_LIMITED = "BLOCKED_RATE_LIMITED"
    BLOCKED_GEO_RESTRICTED = "BLOCKED_GEO_RESTRICTED"
    BLOCKED_BY_ROBOTS = "BLOCKED_BY_ROBOTS"
    TEMPLATE_NOT_FOUND = "TEMPLATE_NOT_FOUND"
    TEMPLATE_VERSION_UNSUPPORTED = "TEMPLATE_VERSION_UNSUPPORTED"
    TRUST_LEVEL_NOT_ALLOWED = "TRUST_LEVEL_NOT_ALLOWED"
    RUN_NOT_FOUND = "RUN_NOT_FOUND"
    RUN_TIMEOUT = "RUN_TIMEOUT"
    RUN_CANCELED = "RUN_CANCELED"
    STEP_EXECUTION_FAILED = "STEP_EXECUTION_FAILED"
    STEP_VERIFICATION_FAILED = "STEP_VERIFICATION_FAILED"
    TPL_LOGIN_FIELD_NOT_FOUND = "TPL_LOGIN_FIELD_NOT_FOUND"
    ARTIFACT_NOT_FOUND = "ARTIFACT_NOT_FOUND"
    VALIDATION_UNKNOWN_CONVERSATION = "VALIDATION_UNKNOWN_CONVERSATION"
    ARTIFACT_EXPIRED = "ARTIFACT_EXPIRED"
    VALIDATION_UNKNOWN_COLLECTION = "VALIDATION_UNKNOWN_COLLECTION"
    VALIDATION_UNKNOWN_SOURCE = "VALIDATION_UNKNOWN_SOURCE"
    SECURITY_POLICY_DENIED = "SECURITY_POLICY_DENIED"
    SECURITY_APPROVAL_REQUIRED = "SECURITY_APPROVAL_REQUIRED"
    SECURITY_CHANNEL_FORBIDDEN = "SECURITY_CHANNEL_FORBIDDEN"
    VALIDATION_UNKNOWN_APPROVAL = "VALIDATION_UNKNOWN_APPROVAL"
    VALIDATION_UNKNOWN_FLOW = "VALIDATION_UNKNOWN_FLOW"
    VALIDATION_UNKNOWN_TASK = "VALIDATION_UNKNOWN_TASK"
    VALIDATION_UNKNOWN_CHAT = "VALIDATION_UNKNOWN_CHAT"
    VALIDATION_UNKNOWN_PATTERN = "VALIDATION_UNKNOWN_PATTERN"
    VALIDATION_TASK_OVER = "VALIDATION_TASK_OVER"
    VALIDATION_CHAT_ARCHIVED = "VALIDATION_CHAT_ARCHIVED"
    VALIDATION_SESSION_HELD = "VALIDATION_SESSION_HELD"
    VALIDATION_SESSION_NOT_HELD = "VALIDATION_SESSION_NOT_HELD"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    INTERNAL_UNAVAILABLE = "INTERNAL_UNAVAILABLE"
    INTERNAL_BUSY = "INTERNAL_BUSY"
    INTERNAL_DISCONNECTED = "INTERNAL_DISCONNECTED"
    INTERNAL_DEADLINE = "INTERNAL_DEADLINE"
    INTERNAL_CANCELLED = "INTERNAL_CANCELLED"


class FaultContext(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where a fault happened: the page asked for, its domain, the tier and the attempt (from 1).

    Of a call that the policy did not allow: the tool, the reason code, and the approval that it waits for; of one
    that failed the code of 003. `drift` and `where` tell how the answer of a learned API is not what it was, and at
    which place.
    """

    url: str | None = None
    domain: str | None = None
    tier: str | None = None
    attempt_number: int | None = None
    tool: str | None = None
    reason_code: str | None = None
    drift: str | None = None
    where: str | None = None
    approval_id: str | None = None
    tool_code: str | None = None


class Fault(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong, said for the client: nothing internal, no secret, and what to do about it.

    `http_status` is the status the web site answered with, not the one Weft answers with. `field` names the
    part of the client's input that is at fault.
    """

    category: Category
    code: Code
    message: str
    retryable: bool
    actions: tuple[Action, ...] = ()
    http_status: int | None = None
    field: str | None = None
    context: FaultContext | None = None

    @property
    def retry_after_ms(self) -> int | None:
        """The delay that the first action with one suggests, in milliseconds."""
        return next((a.suggested_delay_ms for a in self.actions if a.suggested_delay_ms), None)

    def at(self, *, url: str, tier: str | None = None, attempt: int | None = None) -> Fault:
        """Return the same fault, told where it happened: without the credentials that an address may hold."""
        url = without_userinfo(url)
        former = self.context or FaultContext()
        context = FaultContext(
            url=url, domain=host_of(url), tier=tier, attempt_number=attempt, drift=former.drift, where=former.where
        )
        return msgspec.structs.replace(self, context=context)

    def of_field(self, field: str) -> Fault:
        """Return the same fault of a field that the client calls otherwise, in its message, too."""
        former = f"{self.field}: "
        message = f"{field}: {self.message.removeprefix(former)}" if self.message.startswith(former) else self.message
        return msgspec.structs.replace(self, field=field, message=message)


class FaultError(Exception):
    """A Fault on its way up; raise it anywhere in a handler and it crosses the bus as it is."""

    def __init__(self, fault: Fault) -> None:
        """Carry `fault`, whose message becomes the text of the exception."""
        super().__init__(f"{fault.code}: {fault.message}")
        self.fault = fault


class Kind(Struct, frozen=True):
    """What a code means whenever it occurs: its category, whether to try again, and how."""

    category: Category
    retryable: bool
    meaning: str
    actions: tuple[Action, ...] = ()


_C = Category
_ROWS: Mapping[Code, Kind] = {
    Code.NETWORK_TIMEOUT: Kind(
        _C.NETWORK, True, "The site did not answer within the time allowed.", (MORE_TIME, RETRY, REPORT)
    ),
    Code.NETWORK_CONNECTION_FAILED: Kind(
        _C.NETWORK, True, "No connection to the site, or it broke off.", (RETRY, REPORT)
    ),
    Code.NETWORK_DNS_FAILED: Kind(_C.NETWORK, True, "The host name has no address.", (RETRY, CHECK_URL, REPORT)),
    Code.NETWORK_TLS_FAILED: Kind(
        _C.NETWORK, True, "The site's certificate or TLS handshake was refused.", (RETRY, REPORT)
    ),
    Code.NETWORK_MODEL_FAILED: Kind(
        _C.NETWORK, True, "No model that could be asked has answered.", (RETRY, ANSWER_LOCALLY, REPORT)
    ),
    Code.HTTP_NOT_FOUND: Kind(_C.HTTP, False, "The page does not exist.", (CHECK_URL, REPORT)),
    Code.HTTP_FORBIDDEN: Kind(
        _C.HTTP, False, "The site refuses access to this page.", (USE_BROWSER, USE_SAVED, LOG_IN, REPORT)
    ),
    Code.HTTP_SERVICE_UNAVAILABLE: Kind(
        _C.HTTP, True, "The site is overloaded or down for maintenance.", (RETRY, REPORT)
    ),
    Code.HTTP_BAD_GATEWAY: Kind(_C.HTTP, True, "A server behind the site failed.", (RETRY, REPORT)),
    Code.HTTP_CLIENT_ERROR: Kind(_C.HTTP, False, "The site refused the request with another 4xx status.", (REPORT,)),
    Code.HTTP_PROXY_REFUSED: Kind(_C.HTTP, False, "A proxy on the way to the site wants a login.", (OPERATOR, REPORT)),
    Code.HTTP_SERVER_ERROR: Kind(_C.HTTP, True, "The site failed with another 5xx status.", (RETRY, REPORT)),
    Code.HTTP_TOO_MANY_REDIRECTS: Kind(
        _C.HTTP, False, "The redirects go on too long or in a circle.", (CHECK_URL, REPORT)
    ),
    Code.AUTH_SESSION_EXPIRED: Kind(_C.AUTH, True, "The saved session has expired.", (REFRESH, RETRY, LOG_IN, REPORT)),
    Code.AUTH_INVALID_CREDENTIALS: Kind(_C.AUTH, False, "The credentials were refused.", (REPORT,)),
    Code.AUTH_MISSING_SESSION: Kind(
        _C.AUTH, False, "The page wants a login and no session was given.", (USE_SAVED, LOG_IN, REPORT)
    ),
    Code.AUTH_INSUFFICIENT_SCOPE: Kind(_C.AUTH, False, "The key or token is not good for this.", (OTHER_KEY, REPORT)),
    Code.RATE_LIMIT_EXCEEDED: Kind(
        _C.RATE_LIMIT, True, "The site, or Weft, allows fewer requests.", (WAIT, SLOWER, REPORT)
    ),
    Code.RATE_LIMIT_BUDGET: Kind(
        _C.RATE_LIMIT, True, "What models may cost is spent.", (ANSWER_LOCALLY, MORE_BUDGET, REPORT)
    ),
    Code.CONTENT_REQUIRES_JS: Kind(
        _C.CONTENT,
        True,
        "The page shows nothing until its scripts run.",
        (USE_LIGHTWEIGHT, USE_BROWSER, MORE_TIME, REPORT),
    ),
    Code.CONTENT_EMPTY: Kind(_C.CONTENT, False, "The page has no text.", (USE_BROWSER, FRESH, REPORT)),
    Code.CONTENT_TOO_SHORT: Kind(
        _C.CONTENT, False, "The page has less text than a whole page would.", (USE_BROWSER, REPORT)
    ),
    Code.CONTENT_TOO_LARGE: Kind(_C.CONTENT, False, "The page is larger than the limit.", (REPORT,)),
    Code.CONTENT_UNSUPPORTED_TYPE: Kind(_C.CONTENT, False, "The address serves a type that has no text.", (REPORT,)),
    Code.CONTENT_PAYWALLED: Kind(
        _C.CONTENT, False, "The page is for those who pay for it.", (USE_SAVED, LOG_IN, REPORT)
    ),
    Code.CONTENT_CONSENT_REQUIRED: Kind(
        _C.CONTENT, True, "A request for consent stands where the page should be.", (REFUSE_CONSENT, REPORT)
    ),
    Code.CONTENT_AGE_RESTRICTED: Kind(
        _C.CONTENT, False, "The site asks for the age of its visitors first.", (USE_SAVED, LOG_IN, REPORT)
    ),
    Code.VALIDATION_INVALID_REQUEST: Kind(
        _C.VALIDATION, False, "The request is not what the contract says.", (FIX_INPUT,)
    ),
    Code.VALIDATION_INVALID_PACKET: Kind(_C.VALIDATION, False, "A packet on the bus is not well formed.", (FIX_INPUT,)),
    Code.SECURITY_URL_BLOCKED: Kind(_C.SECURITY, False, "This kind of address is never fetched.", (REPORT,)),
    Code.SECURITY_ADDRESS_BLOCKED: Kind(_C.SECURITY, False, "The host lies in a private network.", (OPERATOR, REPORT)),
    Code.SECURITY_ORIGIN_REFUSED: Kind(
        _C.SECURITY, False, "The Host or Origin header is not on the list.", (OPERATOR,)
    ),
    Code.BROWSER_UNAVAILABLE: Kind(
        _C.BROWSER, False, "The browser tier was asked for and none runs.", (ANY_TIER, OPERATOR, REPORT)
    ),
    Code.PAGE_CRASHED: Kind(
        _C.BROWSER, True, "The page brought its browser down; a fresh one is there.", (RETRY, NO_SCRIPTS, REPORT)
    ),
    Code.BROWSER_PAGE_HUNG: Kind(_C.BROWSER, False, "The page's scripts never end.", (USE_BROWSER, NO_SCRIPTS, REPORT)),
    Code.ELEMENT_NOT_FOUND: Kind(_C.BROWSER, True, "The page has no such element.", (LOOK_AGAIN, FIX_INPUT)),
    Code.EXECUTION_ERROR: Kind(_C.BROWSER, False, "The page did not let itself be handled that way.", (LOOK_AGAIN,)),
    Code.SESSION_NOT_FOUND: Kind(
        _C.BROWSER, False, "There is no such browser session, or it was closed.", (NEW_SESSION,)
    ),
    Code.CONFIG_TIER_NOT_DEPLOYED: Kind(
        _C.CONFIG, False, "The tier that was asked for is not deployed.", (ANY_TIER, OPERATOR, REPORT)
    ),
    Code.CONFIG_INVALID: Kind(_C.CONFIG, False, "A setting has a value that cannot be used.", (OPERATOR,)),
    Code.CONFIG_NO_MODEL: Kind(
        _C.CONFIG, False, "There is no model that can be asked.", (ADD_PROVIDER, ANSWER_LOCALLY, REPORT)
    ),
    Code.CONFIG_STORAGE_FULL: Kind(
        _C.CONFIG, False, "There is no room left to keep more.", (MAKE_ROOM, OPERATOR, REPORT)
    ),
    Code.SITE_STRUCTURE_CHANGED: Kind(
        _C.SITE_CHANGE, True, "The site no longer has the page where it was.", (FRESH, CHECK_URL, REPORT)
    ),
    Code.SITE_PARKED: Kind(_C.CONTENT, False, "The domain is parked or for sale.", (CHECK_URL, REPORT)),
    Code.SITE_NOT_READY: Kind(_C.CONTENT, False, "The site is announced, and not there yet.", (REPORT,)),
    Code.SITE_SUSPENDED: Kind(_C.CONTENT, False, "The site's host has suspended it.", (REPORT,)),
    Code.SITE_NOT_CONFIGURED: Kind(
        _C.CONTENT, False, "A web server answers that has no site yet.", (CHECK_URL, REPORT)
    ),
    Code.BLOCKED_BOT_DETECTION: Kind(
        _C.BLOCKED, True, "The site shows a challenge to programs.", (USE_BROWSER, USE_SAVED, REPORT)
    ),
    Code.BLOCKED_RATE_LIMITED: Kind(
        _C.BLOCKED, True, "The site blocks after too many requests.", (WAIT, SLOWER, REPORT)
    ),
    Code.BLOCKED_GEO_RESTRICTED: Kind(_C.BLOCKED, True, "The site is closed to this region.", (WAIT, REPORT)),
    Code.BLOCKED_BY_ROBOTS: Kind(
        _C.BLOCKED, False, "The site's robots.txt keeps programs from this page.", (ASK_SITE, REPORT)
    ),
    Code.TEMPLATE_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such template.", (LIST_TEMPLATES,)),
    Code.TEMPLATE_VERSION_UNSUPPORTED: Kind(
        _C.VALIDATION, False, "The template has no such version.", (LIST_TEMPLATES,)
    ),
    Code.TRUST_LEVEL_NOT_ALLOWED: Kind(
        _C.SECURITY, False, "The template is not for clients that connect this way.", (GO_LOCAL,)
    ),
    Code.RUN_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such run.", (CHECK_RUN,)),
    Code.RUN_TIMEOUT: Kind(_C.INTERNAL, True, "The run was not done within its time.", (LESS_WORK,)),
    Code.RUN_CANCELED: Kind(_C.INTERNAL, True, "The run was canceled.", (RUN_ANEW,)),
    Code.STEP_EXECUTION_FAILED: Kind(_C.INTERNAL, True, "A step of the run failed.", (SEE_STEP,)),
    Code.STEP_VERIFICATION_FAILED: Kind(
        _C.SITE_CHANGE, True, "The page is not as it was when the step was recorded.", (RECORD_AGAIN,)
    ),
    Code.TPL_LOGIN_FIELD_NOT_FOUND: Kind(
        _C.VALIDATION, False, "The page has no such field of a login form.", (FIX_INPUT,)
    ),
    Code.VALIDATION_UNKNOWN_CONVERSATION: Kind(
        _C.VALIDATION, False, "There is no such conversation.", (CHECK_CONVERSATION,)
    ),
    Code.ARTIFACT_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such artifact.", (CHECK_ARTIFACT,)),
    Code.ARTIFACT_EXPIRED: Kind(_C.VALIDATION, False, "The artifact is kept no longer.", (RUN_ANEW,)),
    Code.VALIDATION_UNKNOWN_COLLECTION: Kind(_C.VALIDATION, False, "There is no such collection.", (CHECK_COLLECTION,)),
    Code.VALIDATION_UNKNOWN_SOURCE: Kind(_C.VALIDATION, False, "There is no such source.", (CHECK_SOURCE,)),
    Code.VALIDATION_UNKNOWN_FLOW: Kind(_C.VALIDATION, False, "There is no such flow.", (CHECK_FLOW,)),
    Code.VALIDATION_UNKNOWN_TASK: Kind(_C.VALIDATION, False, "There is no such task.", (BEGIN_TASK,)),
    Code.VALIDATION_UNKNOWN_PATTERN: Kind(_C.VALIDATION, False, "There is no such pattern.", (CHECK_PATTERN,)),
    Code.VALIDATION_UNKNOWN_CHAT: Kind(_C.VALIDATION, False, "There is no such chat session.", (FIX_INPUT,)),
    Code.VALIDATION_TASK_OVER: Kind(_C.VALIDATION, False, "The task is over.", (BEGIN_TASK,)),
    Code.VALIDATION_CHAT_ARCHIVED: Kind(_C.VALIDATION, False, "The chat session is archived.", (BEGIN_CHAT,)),
    Code.VALIDATION_SESSION_HELD: Kind(
        _C.VALIDATION, False, "A person has this browser session in hand.", (AWAIT_HAND,)
    ),
    Code.VALIDATION_SESSION_NOT_HELD: Kind(
        _C.VALIDATION, False, "Nobody has this browser session in hand.", (TAKE_IN_HAND,)
    ),
    Code.SECURITY_POLICY_DENIED: Kind(_C.SECURITY, False, "The policy does not allow this call.", (REPORT,)),
    Code.SECURITY_APPROVAL_REQUIRED: Kind(
        _C.SECURITY, False, "The call waits until a person allows it.", (ANSWER_APPROVAL,)
    ),
    Code.SECURITY_CHANNEL_FORBIDDEN: Kind(
        _C.SECURITY, False, "There is no such channel for anybody: a session's is private-session-<id>.", (FIX_INPUT,)
    ),
    Code.VALIDATION_UNKNOWN_APPROVAL: Kind(_C.VALIDATION, False, "There is no such approval.", (CHECK_APPROVAL,)),
    Code.INTERNAL_ERROR: Kind(_C.INTERNAL, True, "Weft failed; its log says why.", (RETRY, REPORT)),
    Code.INTERNAL_UNAVAILABLE: Kind(_C.INTERNAL, True, "No live actor answers this call.", (RETRY, OPERATOR, REPORT)),
    Code.INTERNAL_BUSY: Kind(_C.INTERNAL, True, "Every replica has its hands full.", (RETRY, REPORT)),
    Code.INTERNAL_DISCONNECTED: Kind(
        _C.INTERNAL, True, "The bus broke off while the call was under way.", (RETRY, REPORT)
    ),
    Code.INTERNAL_DEADLINE: Kind(
        _C.INTERNAL, True, "The time allowed ran out inside Weft.", (MORE_TIME, RETRY, REPORT)
    ),
    Code.INTERNAL_CANCELLED: Kind(_C.INTERNAL, True, "The caller went away and the work was stopped.", (RETRY, REPORT)),
}

KINDS: Mapping[Code, Kind] = MappingProxyType(
    {code: msgspec.structs.replace(kind, actions=ranked(kind.actions)) for code, kind in _ROWS.items()}
)
"""What each code means, with its actions in the order in which they are to be tried, as far as they apply."""


def fault(code: Code, message: str | None = None, **details: Any) -> Fault:
    """Make the Fault that `code` stands for; `details` are the optional fields of `Fault`, or other `actions`.

    Without a `message` the meaning of the code is the message.
    """
    kind = KINDS[code]
    details.setdefault("actions", kind.actions)
    return Fault(
        category=kind.category, code=code, message=message or kind.meaning, retryable=kind.retryable, **details
    )


def rate_limited(message: str, delay_ms: int | None, http_status: int = 429) -> Fault:
    """Make a RATE_LIMIT_EXCEEDED that carries the delay the site asked for (000 §3; 60 s when it named none)."""
    delay_ms = delay_ms or RATE_LIMIT_DELAY_MS
    wait = Action(
        action="wait_and_retry",
        description=f"Wait {delay_ms / 1000:g} seconds, then send the request again.",
        suggested_delay_ms=delay_ms,
    )
    return fault(Code.RATE_LIMIT_EXCEEDED, message, http_status=http_status, actions=(wait, SLOWER))
