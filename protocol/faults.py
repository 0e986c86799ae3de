"""The one error of the system: categories, codes, what each means, and the next thing to try (000 §3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from protocol.tiers import BROWSER, SCRIPTED

RATE_LIMIT_DELAY_MS = 60_000
"""How long to wait after a rate limit that names no delay (000 §3, recovery tree)."""


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
    HTTP_NOT_FOUND = "HTTP_NOT_FOUND"
    HTTP_FORBIDDEN = "HTTP_FORBIDDEN"
    HTTP_SERVICE_UNAVAILABLE = "HTTP_SERVICE_UNAVAILABLE"
    HTTP_BAD_GATEWAY = "HTTP_BAD_GATEWAY"
    HTTP_CLIENT_ERROR = "HTTP_CLIENT_ERROR"
    HTTP_SERVER_ERROR = "HTTP_SERVER_ERROR"
    HTTP_TOO_MANY_REDIRECTS = "HTTP_TOO_MANY_REDIRECTS"
    AUTH_SESSION_EXPIRED = "AUTH_SESSION_EXPIRED"
    AUTH_INVALID_CREDENTIALS = "AUTH_INVALID_CREDENTIALS"
    AUTH_MISSING_SESSION = "AUTH_MISSING_SESSION"
    AUTH_INSUFFICIENT_SCOPE = "AUTH_INSUFFICIENT_SCOPE"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    CONTENT_REQUIRES_JS = "CONTENT_REQUIRES_JS"
    CONTENT_EMPTY = "CONTENT_EMPTY"
    CONTENT_TOO_SHORT = "CONTENT_TOO_SHORT"
    CONTENT_TOO_LARGE = "CONTENT_TOO_LARGE"
    CONTENT_UNSUPPORTED_TYPE = "CONTENT_UNSUPPORTED_TYPE"
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
    SITE_STRUCTURE_CHANGED = "SITE_STRUCTURE_CHANGED"
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
    TPL_LOGIN_FIELD_NOT_FOUND = "TPL_LOGIN_FIELD_NOT_FOUND"
    ARTIFACT_NOT_FOUND = "ARTIFACT_NOT_FOUND"
    ARTIFACT_EXPIRED = "ARTIFACT_EXPIRED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    INTERNAL_UNAVAILABLE = "INTERNAL_UNAVAILABLE"
    INTERNAL_BUSY = "INTERNAL_BUSY"
    INTERNAL_DISCONNECTED = "INTERNAL_DISCONNECTED"
    INTERNAL_DEADLINE = "INTERNAL_DEADLINE"
    INTERNAL_CANCELLED = "INTERNAL_CANCELLED"


class Action(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One thing a client can do next; the lowest priority number first (000 §3)."""

    action: str
    description: str
    # 000 §3 requires it in the JSON, where `omit_defaults` would leave out a plain 1.
    priority: int = msgspec.field(default_factory=lambda: 1)
    suggested_delay_ms: int | None = None
    tool_to_use: str | None = None
    parameters: dict[str, str] | None = None

    def __post_init__(self) -> None:
        """Keep the numbers in the ranges that the contract gives them."""
        if self.priority < 1:
            msg = "priority counts from 1"
            raise ValueError(msg)


class FaultContext(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where a fault happened: the page asked for, its domain, the tier and the attempt (from 1)."""

    url: str | None = None
    domain: str | None = None
    tier: str | None = None
    attempt_number: int | None = None


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
        """Return the same fault, told where it happened."""
        context = FaultContext(url=url, domain=_domain(url), tier=tier, attempt_number=attempt)
        return msgspec.structs.replace(self, context=context)


def _domain(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


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


_RETRY = Action(
    action="retry",
    description="Wait a moment and send the same request again, three times at most.",
    suggested_delay_ms=1_000,
)
_REPORT = Action(action="report", description="Tell the user; trying again will not help.")
_USE_BROWSER = Action(
    action="use_browser_tier",
    description="Ask again with the full browser, which runs the page's scripts.",
    tool_to_use="browse",
    parameters={"forceTier": BROWSER.value},
)
_USE_LIGHTWEIGHT = Action(
    action="use_lightweight_tier",
    description="Ask again with the tier that runs the page's scripts without a browser.",
    tool_to_use="browse",
    parameters={"forceTier": SCRIPTED[0].value},
)
_WAIT = Action(
    action="wait_and_retry",
    description="Wait for the suggested delay, then send the request again; double the delay each time.",
    suggested_delay_ms=RATE_LIMIT_DELAY_MS,
)
_SLOWER = Action(action="reduce_frequency", description="Ask this domain less often.", priority=2)
_REFRESH = Action(
    action="refresh_session",
    description="Renew the saved session of this domain, then repeat the request.",
    tool_to_use="refresh_session",
)
_LOG_IN = Action(action="log_in", description="Save a session for this domain first, then name it in the request.")
_CHECK_URL = Action(action="check_url", description="Check the address: it may be misspelt or gone.")
_FIX_INPUT = Action(action="fix_request", description="Correct the field that the message names and send it again.")
_OPERATOR = Action(
    action="ask_operator", description="The operator of this Weft has to change a setting or start an actor."
)
_FRESH = Action(
    action="fetch_fresh",
    description="Fetch again without anything remembered of this site.",
    tool_to_use="browse",
    parameters={"freshnessRequirement": "realtime"},
)
_NEW_SESSION = Action(action="create_session", description="Open a new browser session, and go on there.")
_LOOK_AGAIN = Action(
    action="look_again",
    description="Look at the page as it stands now, and go on from there.",
    tool_to_use="get_page_info",
)
_ASK_SITE = Action(action="ask_site", description="Ask whoever runs the site; its robots.txt keeps programs out.")
_OTHER_KEY = Action(
    action="use_other_key", description="Use a key or token with the scope that the message names, or ask for one."
)
_LIST_TEMPLATES = Action(
    action="list_templates",
    description="Take the id and the version of a template from the list of them.",
    tool_to_use="list_task_templates",
)
_GO_LOCAL = Action(
    action="use_other_connection",
    description="Take another template, or have the user start `weft mcp` or `weft run` on their own machine.",
)
_CHECK_RUN = Action(
    action="check_run_id", description="Take the id from the list of your runs.", tool_to_use="list_task_runs"
)
_LESS_WORK = Action(action="split_run", description="Give the run more time, or split it into smaller ones.")
_RUN_ANEW = Action(action="run_again", description="Run the template again.", tool_to_use="run_task_template")
_SEE_STEP = Action(action="see_details", description="`details` name the step that failed and its code.")
_CHECK_ARTIFACT = Action(
    action="check_artifact_id",
    description="Take the id from the artifacts of the run.",
    tool_to_use="get_task_run",
)
_SECOND = {"priority": 2}


def _then(action: Action) -> Action:
    return msgspec.structs.replace(action, **_SECOND)


_C = Category
KINDS: Mapping[Code, Kind] = MappingProxyType(
    {
        Code.NETWORK_TIMEOUT: Kind(_C.NETWORK, True, "The site did not answer within the time allowed.", (_RETRY,)),
        Code.NETWORK_CONNECTION_FAILED: Kind(
            _C.NETWORK, True, "No connection to the site, or it broke off.", (_RETRY,)
        ),
        Code.NETWORK_DNS_FAILED: Kind(_C.NETWORK, True, "The host name has no address.", (_then(_RETRY), _CHECK_URL)),
        Code.NETWORK_TLS_FAILED: Kind(
            _C.NETWORK, True, "The site's certificate or TLS handshake was refused.", (_RETRY,)
        ),
        Code.HTTP_NOT_FOUND: Kind(_C.HTTP, False, "The page does not exist.", (_CHECK_URL,)),
        Code.HTTP_FORBIDDEN: Kind(_C.HTTP, False, "The site refuses access to this page.", (_LOG_IN,)),
        Code.HTTP_SERVICE_UNAVAILABLE: Kind(
            _C.HTTP, True, "The site is overloaded or down for maintenance.", (_RETRY,)
        ),
        Code.HTTP_BAD_GATEWAY: Kind(_C.HTTP, True, "A server behind the site failed.", (_RETRY,)),
        Code.HTTP_CLIENT_ERROR: Kind(
            _C.HTTP, False, "The site refused the request with another 4xx status.", (_REPORT,)
        ),
        Code.HTTP_SERVER_ERROR: Kind(_C.HTTP, True, "The site failed with another 5xx status.", (_RETRY,)),
        Code.HTTP_TOO_MANY_REDIRECTS: Kind(
            _C.HTTP, False, "The redirects go on too long or in a circle.", (_CHECK_URL,)
        ),
        Code.AUTH_SESSION_EXPIRED: Kind(_C.AUTH, True, "The saved session has expired.", (_REFRESH, _then(_RETRY))),
        Code.AUTH_INVALID_CREDENTIALS: Kind(_C.AUTH, False, "The credentials were refused.", (_REPORT,)),
        Code.AUTH_MISSING_SESSION: Kind(_C.AUTH, False, "The page wants a login and no session was given.", (_LOG_IN,)),
        Code.AUTH_INSUFFICIENT_SCOPE: Kind(_C.AUTH, False, "The key or token is not good for this.", (_OTHER_KEY,)),
        Code.RATE_LIMIT_EXCEEDED: Kind(
            _C.RATE_LIMIT, True, "The site, or Weft, allows fewer requests.", (_WAIT, _SLOWER)
        ),
        Code.CONTENT_REQUIRES_JS: Kind(
            _C.CONTENT, True, "The page shows nothing until its scripts run.", (_USE_LIGHTWEIGHT, _then(_USE_BROWSER))
        ),
        Code.CONTENT_EMPTY: Kind(_C.CONTENT, False, "The page has no text.", (_REPORT,)),
        Code.CONTENT_TOO_SHORT: Kind(_C.CONTENT, False, "The page has less text than a whole page would.", (_REPORT,)),
        Code.CONTENT_TOO_LARGE: Kind(_C.CONTENT, False, "The page is larger than the limit.", (_REPORT,)),
        Code.CONTENT_UNSUPPORTED_TYPE: Kind(
            _C.CONTENT, False, "The address serves a type that has no text.", (_REPORT,)
        ),
        Code.VALIDATION_INVALID_REQUEST: Kind(
            _C.VALIDATION, False, "The request is not what the contract says.", (_FIX_INPUT,)
        ),
        Code.VALIDATION_INVALID_PACKET: Kind(
            _C.VALIDATION, False, "A packet on the bus is not well formed.", (_FIX_INPUT,)
        ),
        Code.SECURITY_URL_BLOCKED: Kind(_C.SECURITY, False, "This kind of address is never fetched.", (_REPORT,)),
        Code.SECURITY_ADDRESS_BLOCKED: Kind(_C.SECURITY, False, "The host lies in a private network.", (_OPERATOR,)),
        Code.SECURITY_ORIGIN_REFUSED: Kind(
            _C.SECURITY, False, "The Host or Origin header is not on the list.", (_OPERATOR,)
        ),
        Code.BROWSER_UNAVAILABLE: Kind(
            _C.BROWSER, False, "The browser tier was asked for and none runs.", (_OPERATOR,)
        ),
        Code.PAGE_CRASHED: Kind(
            _C.BROWSER, True, "The page brought its browser down; a fresh one is there.", (_RETRY,)
        ),
        Code.BROWSER_PAGE_HUNG: Kind(
            _C.BROWSER, False, "The page's scripts never end.", (_USE_BROWSER, _then(_REPORT))
        ),
        Code.ELEMENT_NOT_FOUND: Kind(_C.BROWSER, True, "The page has no such element.", (_FIX_INPUT,)),
        Code.EXECUTION_ERROR: Kind(
            _C.BROWSER, False, "The page did not let itself be handled that way.", (_LOOK_AGAIN,)
        ),
        Code.SESSION_NOT_FOUND: Kind(
            _C.BROWSER, False, "There is no such browser session, or it was closed.", (_NEW_SESSION,)
        ),
        Code.CONFIG_TIER_NOT_DEPLOYED: Kind(
            _C.CONFIG, False, "The tier that was asked for is not deployed.", (_OPERATOR,)
        ),
        Code.CONFIG_INVALID: Kind(_C.CONFIG, False, "A setting has a value that cannot be used.", (_OPERATOR,)),
        Code.SITE_STRUCTURE_CHANGED: Kind(
            _C.SITE_CHANGE, True, "The site no longer has the page where it was.", (_FRESH,)
        ),
        Code.BLOCKED_BOT_DETECTION: Kind(_C.BLOCKED, True, "The site shows a challenge to programs.", (_USE_BROWSER,)),
        Code.BLOCKED_RATE_LIMITED: Kind(_C.BLOCKED, True, "The site blocks after too many requests.", (_WAIT, _SLOWER)),
        Code.BLOCKED_GEO_RESTRICTED: Kind(_C.BLOCKED, True, "The site is closed to this region.", (_WAIT,)),
        Code.BLOCKED_BY_ROBOTS: Kind(
            _C.BLOCKED, False, "The site's robots.txt keeps programs from this page.", (_ASK_SITE,)
        ),
        Code.TEMPLATE_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such template.", (_LIST_TEMPLATES,)),
        Code.TEMPLATE_VERSION_UNSUPPORTED: Kind(
            _C.VALIDATION, False, "The template has no such version.", (_LIST_TEMPLATES,)
        ),
        Code.TRUST_LEVEL_NOT_ALLOWED: Kind(
            _C.SECURITY, False, "The template is not for clients that connect this way.", (_GO_LOCAL,)
        ),
        Code.RUN_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such run.", (_CHECK_RUN,)),
        Code.RUN_TIMEOUT: Kind(_C.INTERNAL, True, "The run was not done within its time.", (_LESS_WORK,)),
        Code.RUN_CANCELED: Kind(_C.INTERNAL, True, "The run was canceled.", (_RUN_ANEW,)),
        Code.STEP_EXECUTION_FAILED: Kind(_C.INTERNAL, True, "A step of the run failed.", (_SEE_STEP,)),
        Code.TPL_LOGIN_FIELD_NOT_FOUND: Kind(
            _C.VALIDATION, False, "The page has no such field of a login form.", (_FIX_INPUT,)
        ),
        Code.ARTIFACT_NOT_FOUND: Kind(_C.VALIDATION, False, "There is no such artifact.", (_CHECK_ARTIFACT,)),
        Code.ARTIFACT_EXPIRED: Kind(_C.VALIDATION, False, "The artifact is kept no longer.", (_RUN_ANEW,)),
        Code.INTERNAL_ERROR: Kind(_C.INTERNAL, True, "Weft failed; its log says why.", (_RETRY,)),
        Code.INTERNAL_UNAVAILABLE: Kind(_C.INTERNAL, True, "No live actor answers this call.", (_RETRY,)),
        Code.INTERNAL_BUSY: Kind(_C.INTERNAL, True, "Every replica has its hands full.", (_RETRY,)),
        Code.INTERNAL_DISCONNECTED: Kind(
            _C.INTERNAL, True, "The bus broke off while the call was under way.", (_RETRY,)
        ),
        Code.INTERNAL_DEADLINE: Kind(_C.INTERNAL, True, "The time allowed ran out inside Weft.", (_RETRY,)),
        Code.INTERNAL_CANCELLED: Kind(_C.INTERNAL, True, "The caller went away and the work was stopped.", (_RETRY,)),
    }
)


def fault(code: Code, message: str | None = None, **details: Any) -> Fault:
    """Make the Fault that `code` stands for; `details` are the optional fields of `Fault`, or other `actions`.

    Without a `message` the meaning of the code is the message.
    """
    kind = KINDS[code]
    details.setdefault("actions", tuple(sorted(kind.actions, key=lambda action: action.priority)))
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
    return fault(Code.RATE_LIMIT_EXCEEDED, message, http_status=http_status, actions=(wait, _SLOWER))
