"""Errors as clients get them, over REST and over MCP alike: their status, their form and their words.

A Fault becomes a StructuredError (000 §3). The contracts of the browser tools and of the runs add to that (002 §7), and
below `/v1` it stands in an envelope.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from actors.gateway.translate import one_line
from actors.page_addresses import readable, readable_host
from protocol.actions import Action
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.browsers.operations import Operation
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.faults import Category, Code, Fault, FaultContext, fault


def to_error(failure: Fault) -> StructuredError:
    """Return a fault as a client gets it (000 §3)."""
    return StructuredError(
        error=failure.message,
        category=failure.category,
        code=failure.code,
        retryable=failure.retryable,
        recommended_actions=failure.actions,
        http_status=UNSET if failure.http_status is None else failure.http_status,
        field=UNSET if failure.field is None else failure.field,
        context=UNSET if failure.context is None else _readable(failure.context),
    )


def _readable(context: FaultContext) -> FaultContext:
    """Return where a fault happened with the host in its own letters, where none could pass for another."""
    url, domain = context.url, context.domain
    return structs.replace(
        context, url=None if url is None else readable(url), domain=None if domain is None else readable_host(domain)
    )


def error_text(error: StructuredError) -> str:
    """Write an error so that a model can act on it: what happened, and numbered next steps."""
    lines = [f"{one_line(error.error)} [{error.code}; {_again(error)}]"]
    if error.field:
        lines.append(f"Field at fault: {error.field}")
    if error.http_status:
        lines.append(f"HTTP status of the site: {error.http_status}")
    if error.recommended_actions:
        lines.append("Next steps:")
        ordered = sorted(error.recommended_actions, key=lambda action: action.priority)
        lines += [f"{number}. {_step(action)}" for number, action in enumerate(ordered, 1)]
    return "\n".join(lines)


def _step(action: Action) -> str:
    text = one_line(action.description)
    if action.suggested_delay_ms:
        text += f" Delay: {action.suggested_delay_ms / 1_000:g} s."
    if action.tool_to_use:
        given = f" {msgspec.json.encode(action.parameters).decode()}" if action.parameters else ""
        text += f" Tool: {action.tool_to_use}{given}"
    return text


# -- the status of HTTP ------------------------------------------------------------------------------------------------

STATUS_OF_CATEGORY: Mapping[Category, int] = MappingProxyType(
    {
        # the client's to mend
        Category.VALIDATION: 400,
        Category.SECURITY: 403,
        Category.RATE_LIMIT: 429,
        # the site's: Weft did its work, and the server behind it failed or refused
        Category.NETWORK: 502,
        Category.HTTP: 502,
        Category.AUTH: 502,
        Category.CONTENT: 502,
        Category.BLOCKED: 502,
        Category.SITE_CHANGE: 502,
        # Weft's own
        Category.CONFIG: 501,  # this Weft has no such tier; asking again is of no use
        Category.BROWSER: 503,
        Category.INTERNAL: 500,
    }
)
"""The HTTP status that an error of each category is answered with, unless its code has one of its own."""

STATUS_OF_CODE: Mapping[Code, int] = MappingProxyType(
    {
        Code.NETWORK_TIMEOUT: 504,
        Code.INTERNAL_DEADLINE: 504,
        Code.INTERNAL_UNAVAILABLE: 503,
        Code.INTERNAL_BUSY: 503,
        Code.INTERNAL_DISCONNECTED: 503,
        Code.INTERNAL_CANCELLED: 503,
        Code.PAGE_CRASHED: 502,  # these are the page's doing
        Code.BROWSER_PAGE_HUNG: 502,
        Code.ELEMENT_NOT_FOUND: 502,
        Code.EXECUTION_ERROR: 502,
        Code.SESSION_NOT_FOUND: 404,
        Code.TEMPLATE_NOT_FOUND: 404,
        Code.TEMPLATE_VERSION_UNSUPPORTED: 404,
        Code.RUN_NOT_FOUND: 404,
        Code.ARTIFACT_NOT_FOUND: 404,
        Code.VALIDATION_UNKNOWN_CONVERSATION: 404,
        Code.ARTIFACT_EXPIRED: 410,
        Code.VALIDATION_UNKNOWN_COLLECTION: 404,
        Code.VALIDATION_UNKNOWN_SOURCE: 404,
        Code.VALIDATION_UNKNOWN_APPROVAL: 404,
        Code.VALIDATION_UNKNOWN_FLOW: 404,
        Code.VALIDATION_UNKNOWN_TASK: 404,
        Code.VALIDATION_UNKNOWN_CHAT: 404,
        Code.VALIDATION_UNKNOWN_PATTERN: 404,
        Code.VALIDATION_TASK_OVER: 409,
        Code.VALIDATION_CHAT_ARCHIVED: 409,
        Code.VALIDATION_SESSION_HELD: 409,
        Code.VALIDATION_SESSION_NOT_HELD: 409,
        Code.CONFIG_STORAGE_FULL: 507,
        Code.RUN_TIMEOUT: 504,
        Code.RUN_CANCELED: 409,  # it cannot be gone on with as it stands
        Code.STEP_EXECUTION_FAILED: 502,
        Code.STEP_VERIFICATION_FAILED: 502,
        Code.AUTH_INSUFFICIENT_SCOPE: 403,  # ours, not the site's
        Code.CONFIG_INVALID: 500,  # the operator's mistake
        Code.VALIDATION_INVALID_PACKET: 500,  # two of our actors disagree: the client's request was well formed
    }
)

_WITH_RETRY_AFTER = frozenset({429, 503})
"""The statuses that RFC 9110 §10.2.3 and RFC 6585 §4 give a Retry-After."""


def http_status(failure: Fault) -> int:
    """Return the HTTP status that Weft answers with; the status of the site is `Fault.http_status`."""
    return STATUS_OF_CODE.get(failure.code, STATUS_OF_CATEGORY[failure.category])


def retry_after_s(failure: Fault, status: int) -> int | None:
    """Return the Retry-After of an answer with `status`, in whole seconds, where it has one."""
    if status not in _WITH_RETRY_AFTER or failure.retry_after_ms is None:
        return None
    return math.ceil(failure.retry_after_ms / 1_000)


# -- the envelope of /v1 -----------------------------------------------------------------------------------------------


class Problem(Struct, frozen=True, kw_only=True, rename="camel"):
    """What went wrong: the same as a StructuredError says, its sentence as `message`."""

    code: Code
    message: str
    category: Category
    retryable: bool
    recommended_actions: tuple[Action, ...]
    http_status: int | UnsetType = UNSET
    field: str | UnsetType = UNSET
    context: FaultContext | UnsetType = UNSET


class Failure(Struct, frozen=True, kw_only=True, rename="camel"):
    """An error in its envelope."""

    success: Literal[False] = False
    error: Problem
    schema_version: str = SCHEMA_VERSION


def to_failure(error: StructuredError) -> Failure:
    """Put an error into the envelope."""
    return Failure(
        error=Problem(
            code=error.code,
            message=error.error,
            category=error.category,
            retryable=error.retryable,
            recommended_actions=error.recommended_actions,
            http_status=error.http_status,
            field=error.field,
            context=error.context,
        )
    )


# -- the browser tools (002 §7) ----------------------------------------------------------------------------------------


class NextAction(Struct, frozen=True, kw_only=True):
    """A call that makes sense now; the lowest priority number first."""

    tool: str
    args: dict[str, Any]
    reason: str
    priority: int = 1


class ToolErrorDetails(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was being done, and which argument is at fault."""

    tool: str
    session_id: str | None = None
    tab_id: int | None = None
    field: str | None = None
    url: str | None = None


class ToolError(StructuredError, frozen=True, kw_only=True, rename="camel"):
    """An error of a browser tool (002 §7.2); the fields of a StructuredError are added to it."""

    error_code: ErrorCode
    recover_hint: str
    details: ToolErrorDetails
    next_actions: tuple[NextAction, ...] | UnsetType = UNSET


def to_tool_error(failure: Fault, tool: str, arguments: Mapping[str, Any]) -> ToolError:
    """Return a fault as a client of a browser tool gets it; `arguments` are those of the call, whatever they were."""
    code = ERROR_CODES.get(failure.code, ErrorCode.EXECUTION_ERROR)
    where = _target(arguments)
    way = _WAYS[code]
    general = code is not ErrorCode.EXECUTION_ERROR and failure.actions == fault(failure.code).actions
    own = [] if general else [action for action in failure.actions if action.tool_to_use in TOOLS_OF_TABS]
    advised = bool(own) or (bool(failure.actions) and not general)
    nexts = [
        NextAction(
            tool=str(action.tool_to_use),
            args=where | dict(action.parameters or {}),
            reason=action.description,
            priority=action.priority,
        )
        for action in own
    ]
    if not advised and way.tool is not None:
        args = {} if code is ErrorCode.SESSION_NOT_FOUND else where
        nexts = [NextAction(tool=way.tool, args=args, reason=way.hint)]
    return ToolError(
        **structs.asdict(to_error(failure)),
        error_code=code,
        recover_hint=failure.actions[0].description if advised else way.hint,
        details=ToolErrorDetails(
            tool=tool,
            session_id=where.get("sessionId"),
            tab_id=where.get("tabId"),
            field=failure.field,
            url=None if failure.context is None else failure.context.url,
        ),
        next_actions=tuple(sorted(nexts, key=lambda action: action.priority)) or UNSET,
    )


def tool_error_text(error: ToolError) -> str:
    """Write an error so that a model can act on it: what happened, then what to do."""
    return _recovery_text(error, [action.tool for action in error.next_actions or ()])


TOOLS_OF_TABS: Final = frozenset(str(operation.__struct_config__.tag) for operation in get_args(Operation))
"""The tools of the browser; what an error advises of others is for whoever reads pages."""


class _Way(NamedTuple):
    hint: str
    tool: str | None = None


_WAYS: Mapping[ErrorCode, _Way] = MappingProxyType(
    {
        ErrorCode.ELEMENT_NOT_FOUND: _Way(
            "Look at the page as it stands now, and take the id of the element from there.", "get_page_info"
        ),
        ErrorCode.NAVIGATION_TIMEOUT: _Way(
            "Look how far the page has come; if it is of no use so, go there again.", "get_page_info"
        ),
        ErrorCode.SESSION_NOT_FOUND: _Way(
            "Leave out sessionId to work in your own session, or open a new one.", "create_session"
        ),
        ErrorCode.PAGE_CRASHED: _Way("The session is still there, in a fresh browser: go to the page again."),
        ErrorCode.INVALID_PARAMETER: _Way("Correct the argument that the message names, and call again."),
        ErrorCode.EXECUTION_ERROR: _Way("Look at the page as it stands now, and try another way.", "get_page_info"),
    }
)
"""The way out of an error whose fault names none of its own."""


def _target(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the session and the tab that a call named, where they are what they should be."""
    session, tab = arguments.get("sessionId"), arguments.get("tabId")
    named: dict[str, Any] = {"sessionId": session} if isinstance(session, str) else {}
    return named | ({"tabId": tab} if isinstance(tab, int) else {})


# -- runs (002 §7) -----------------------------------------------------------------------------------------------------

RUNTIME_CODES: Final = frozenset(
    {
        Code.TEMPLATE_NOT_FOUND,
        Code.TEMPLATE_VERSION_UNSUPPORTED,
        Code.TRUST_LEVEL_NOT_ALLOWED,
        Code.RUN_NOT_FOUND,
        Code.RUN_TIMEOUT,
        Code.RUN_CANCELED,
        Code.STEP_EXECUTION_FAILED,
        Code.STEP_VERIFICATION_FAILED,
        Code.TPL_LOGIN_FIELD_NOT_FOUND,
        Code.ARTIFACT_NOT_FOUND,
        Code.ARTIFACT_EXPIRED,
    }
)
"""The codes of the layer of runs (002 §7.1); every other one is told by the code of the tool layer."""


class RunFaultDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was asked for, which part of the request is at fault, and where a run failed."""

    run_id: str | UnsetType = UNSET
    template_id: str | UnsetType = UNSET
    artifact_id: str | UnsetType = UNSET
    field: str | UnsetType = UNSET
    failed_step: str | UnsetType = UNSET
    step_error_code: str | UnsetType = UNSET


class RunFault(Struct, frozen=True, kw_only=True, rename="camel"):
    """An error about runs (002 §7.2); what follows `details` are the fields of a StructuredError, which are added."""

    error: str
    error_code: str
    recover_hint: str
    details: RunFaultDetails
    category: Category = Category.INTERNAL
    code: Code = Code.INTERNAL_ERROR
    retryable: bool = False
    recommended_actions: tuple[Action, ...] = ()
    schema_version: str = SCHEMA_VERSION
    http_status: int | UnsetType = UNSET
    field: str | UnsetType = UNSET
    context: FaultContext | UnsetType = UNSET


def to_run_fault(
    failure: Fault, *, run_id: str | None = None, template_id: str | None = None, artifact_id: str | None = None
) -> RunFault:
    """Return a fault as a client that asked about runs gets it, with what it named."""
    return RunFault(
        **structs.asdict(to_error(failure)),
        error_code=error_code(failure.code),
        recover_hint=failure.actions[0].description if failure.actions else _NOTHING_TO_DO,
        details=RunFaultDetails(
            run_id=run_id or UNSET,
            template_id=template_id or UNSET,
            artifact_id=artifact_id or UNSET,
            field=failure.field or UNSET,
        ),
    )


def run_fault_of(failure: Fault, arguments: Mapping[str, Any]) -> RunFault:
    """Return a fault of a call with these arguments, as JSON has them, whatever they were."""
    named = {name: value for name in _NAMED if isinstance(value := arguments.get(name), str)}
    return to_run_fault(
        failure,
        run_id=_short(named.get("runId")),
        template_id=_short(named.get("templateId")),
        artifact_id=_short(named.get("artifactId")),
    )


def error_code(code: Code) -> str:
    """Return the code of the contract for one of ours (002 §7.1)."""
    if code in RUNTIME_CODES:
        return code.value
    if code is Code.INTERNAL_DEADLINE:  # no page was gone to here
        return ErrorCode.EXECUTION_ERROR.value
    return ERROR_CODES.get(code, ErrorCode.EXECUTION_ERROR).value


def run_fault_text(error: RunFault) -> str:
    """Write an error so that a model can act on it: what happened, then what to do."""
    tools = dict.fromkeys(action.tool_to_use for action in error.recommended_actions if action.tool_to_use)
    return _recovery_text(error, tools)


def _recovery_text(error: ToolError | RunFault, tools: Iterable[str]) -> str:
    lines = [f"{one_line(error.error)} [{error.error_code}; {_again(error)}]"]
    if error.field:
        lines.append(f"Argument at fault: {error.field}")
    return "\n".join([*lines, error.recover_hint, *(f"Next: {tool}" for tool in tools)])


def _again(error: StructuredError | RunFault) -> str:
    return "trying again may help" if error.retryable else "trying again unchanged will not help"


def _short(given: str | None) -> str | None:
    return None if given is None else given[:_MAX_QUOTED_CHARS]


_NAMED: Final = ("runId", "templateId", "artifactId")
_MAX_QUOTED_CHARS: Final = 200
_NOTHING_TO_DO: Final = "Correct the request and send it again."
