"""Calls of tools for a client: what tools there are, a call through the gate, and how a refusal is told.

The gate alone decides, and alone has tools run (003 "Why tool calls exist"); here names and arguments are read.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, structs

from actors.gateway.app_context import AppContext
from actors.gateway.approvals import answer_approval, get_approval
from actors.gateway.recovery import reachable
from actors.gateway.request import RequestContext
from protocol.actions import (
    CHECK_URL,
    FIX_INPUT,
    GO_LOCAL,
    LOOK_AGAIN,
    OPERATOR,
    OTHER_KEY,
    REPORT,
    USE_SAVED,
    Action,
)
from protocol.browse import SCHEMA_VERSION
from protocol.browsers.operations import SESSION_PREFIX
from protocol.codec import malformed
from protocol.faults import Code, Fault, FaultContext, FaultError, fault
from protocol.packets import ToolCall
from protocol.policy import (
    CALL_PREFIX,
    Approval,
    ApprovalState,
    Decision,
    Reason,
    ToolContext,
    ToolOutcome,
    ToolRequest,
    ToolStatus,
    Verb,
)
from protocol.schemas import schema
from protocol.subjects import POLICY_CALL, POLICY_DECIDE
from protocol.tools.browser import PLAYWRIGHT
from protocol.tools.registry import TOOLS, find_anywhere
from protocol.tools.tool import SCHEMA_VERSION as TOOL_SCHEMA_VERSION
from protocol.tools.tool import Risk, Surface, Tool

CALL_BYTES: Final = 18
"""Random bytes of the id of a call (144 bits)."""


class ToolInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool: what each surface calls it, what it may do, and the JSON Schema of its arguments."""

    name: str
    names: dict[str, str]
    risk: Risk
    description: str
    idempotent: bool
    callable: bool
    """Whether POST /api/tools/{name} calls it; the others have endpoints of their own."""
    schema: dict[str, Any]


class ToolList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every tool there is; their schemas have one version together (003 "Tool schema versioning")."""

    tools: tuple[ToolInfo, ...]
    tool_schema_version: int = TOOL_SCHEMA_VERSION
    schema_version: str = SCHEMA_VERSION


def list_tools() -> ToolList:
    """List every tool of the registry."""
    return ToolList(tools=tuple(_info(tool) for tool in TOOLS.values()))


def call_id(caller: str, key: str = "") -> str:
    """Return the id of a call: with a key of the caller's the same each time, else a new one."""
    if not key:
        return CALL_PREFIX + secrets.token_urlsafe(CALL_BYTES)
    digest = hashlib.sha256(f"call\n{caller}\n{key}".encode()).digest()
    return CALL_PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


class ClientCall(Struct, frozen=True, kw_only=True):
    """A call as it came in: a tool by what any surface calls it, and its arguments; `key` makes it the same call.

    `by_hand`: a person does it on the page that they see.
    """

    name: str
    arguments: Mapping[str, Any]
    surface: Surface
    key: str = ""
    by_hand: bool = False


async def call_tool(app: AppContext, request: RequestContext, call: ClientCall) -> ToolOutcome:
    """Have a tool run if the gate allows it; what it asks about is pending.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for what is no call of a tool, SECURITY_POLICY_DENIED with the reason,
            and what the tool itself came to nothing with.
    """
    outcome = await app.bus.call(POLICY_CALL, tool_request(app, request, call), wait_ms=app.grace_ms)
    if outcome.status is ToolStatus.DENIED:
        raise FaultError(reachable(denied(call.name, outcome.decision), local=request.caller.local))
    if outcome.result is not None and outcome.result.status is ToolStatus.ERROR:
        raise FaultError(failed(outcome))
    return outcome


async def call_or_ask(app: AppContext, request: RequestContext, call: ClientCall) -> ToolOutcome:
    """Have a tool run; what waits for an approval is asked of the user, where there is one who can be asked.

    Raises:
        FaultError: as `call_tool`, and SECURITY_APPROVAL_REQUIRED for what still waits.
    """
    user = request.approver
    resumed = None if user is None else user.resumed
    if resumed is not None:
        approval, given = await get_approval(app, request, resumed[0]), resumed[1]
    else:
        outcome = await call_tool(app, request, call)
        if outcome.status is not ToolStatus.PENDING or outcome.approval is None:
            return outcome
        approval = outcome.approval
        given = None if user is None else await user.ask(approval)
    if given is None:
        raise FaultError(waiting(call.name, approval.decision, approval))
    return _settled(call, await answer_approval(app, request, approval.id, given.answer, given.remember))


def _settled(call: ClientCall, approval: Approval) -> ToolOutcome:
    """Return what came of a call after its approval was answered; raises like `call_tool`."""
    if approval.result is None:
        raise FaultError(refused(call.name, approval))
    outcome = ToolOutcome(
        call_id=approval.call_id,
        decision=approval.decision,
        status=approval.result.status,
        result=approval.result,
        approval=approval,
    )
    if outcome.status is ToolStatus.ERROR:
        raise FaultError(failed(outcome))
    return outcome


async def decide(app: AppContext, call: ToolRequest) -> Decision:
    """Return what the gate says of a call that the gateway itself does for its caller.

    Raises:
        FaultError: SECURITY_POLICY_DENIED, with the reason and a way out.
    """
    decision = await app.bus.call(POLICY_DECIDE, call, wait_ms=app.grace_ms)
    if decision.decision is Verb.DENY:
        raise FaultError(reachable(denied(call.call.name, decision), local=call.local))
    return decision


def tool_request(app: AppContext, request: RequestContext, call: ClientCall) -> ToolRequest:
    """Return what the gate is asked about a call of a client.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, there is no such tool, or its arguments are others.
    """
    tool, given = read_call(call.name, with_own_session(app, request, call.arguments))
    who = request.caller
    return ToolRequest(
        id=call_id(who.name, call.key),
        call=ToolCall(name=tool.name_on(call.surface), arguments=_as_given(given)),
        surface=call.surface,
        caller=who.name,
        local=who.local,
        scopes=tuple(sorted(who.scopes)),
        conversation=request.client_id if call.surface is Surface.MCP else "",
        by_hand=call.by_hand,
        context=browser_context(app, request, given) if tool.actor == PLAYWRIGHT else ToolContext(),
    )


def read_call(name: str, arguments: Mapping[str, Any]) -> tuple[Tool[Any], Struct]:
    """Return the tool that any surface calls like that, and its arguments in the form that all of them share.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, with the field that is at fault.
    """
    try:
        tool, surface = find_anywhere(name)
    except ValueError:
        message = f"There is no tool {name[:_MAX_QUOTED_CHARS]!r}; GET /api/tools and `weft tools` list them."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="name")) from None
    kind, form = tool.arguments_on(surface), tool.forms.get(surface)
    try:
        given: Any = msgspec.convert(arguments, kind)
        return tool, given if form is None else form.converted(given)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), kind) from None


def _as_given(arguments: Struct) -> dict[str, Any]:
    """Return arguments as clients write them: without the tag that an operation of the browser has."""
    written: dict[str, Any] = msgspec.to_builtins(arguments)
    tag = arguments.__struct_config__.tag_field
    return {name: value for name, value in written.items() if name != tag}


def browser_context(app: AppContext, request: RequestContext, given: Struct) -> ToolContext:
    """Return where a tool of the browser works: in the session that its arguments name, or in the caller's own."""
    session = getattr(given, "session_id", None) or default_session(app, request)
    return ToolContext(session=session, tab=getattr(given, "tab_id", None))


def default_session(app: AppContext, request: RequestContext) -> str:
    """Return the session of a caller that names none: the same in every replica, and for nobody else to guess."""
    return _session_named(app, request, "browser session", request.client_id)


def with_own_session(app: AppContext, request: RequestContext, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments with the id of a session in place of the name that its caller gives it.

    A name belongs to its key: with another key it is another session.
    """
    name = arguments.get("sessionId")
    if not isinstance(name, str) or not _OWN_NAME.fullmatch(name):
        return arguments
    return {**arguments, "sessionId": _session_named(app, request, "named browser session", name)}


def _session_named(app: AppContext, request: RequestContext, kind: str, name: str) -> str:
    who = request.caller
    words = "\n".join((kind, who.name, "local" if who.local else "remote", name))
    digest = hmac.digest(app.naming, words.encode(), hashlib.sha256)
    return SESSION_PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def denied(name: str, decision: Decision) -> Fault:
    """Return the fault of a call that the gate has denied: why, and what may be done instead."""
    code, actions = _WAYS.get(decision.reason_code, _NO_WAY)
    rule = f" (rule {decision.rule})" if decision.rule else ""
    why = decision.why or decision.reason_code.value.replace("_", " ")
    failure = fault(code, f"{name} is not allowed: {why}{rule} [{decision.reason_code}]", actions=actions)
    return structs.replace(failure, context=FaultContext(tool=name, reason_code=decision.reason_code))


def waiting(name: str, decision: Decision, approval: Approval | None) -> Fault:
    """Return the fault of a call that waits for a person, for a surface on which an error is all that can be told."""
    number = "" if approval is None else approval.id
    message = f"{name} waits for an approval{f' ({number})' if number else ''}: {decision.why or decision.reason_code}"
    failure = fault(Code.SECURITY_APPROVAL_REQUIRED, message)
    context = FaultContext(tool=name, reason_code=decision.reason_code, approval_id=number or None)
    return structs.replace(failure, context=context)


def refused(name: str, approval: Approval) -> Fault:
    """Return the fault of a call that a person has not allowed, or nobody in time."""
    how = "Nobody has answered in time" if approval.state is ApprovalState.EXPIRED else "The user has denied it"
    failure = fault(Code.SECURITY_POLICY_DENIED, f"{name} is not allowed: {how}.")
    context = FaultContext(tool=name, reason_code=approval.decision.reason_code, approval_id=approval.id)
    return structs.replace(failure, context=context)


def failed(outcome: ToolOutcome) -> Fault:
    """Return the fault of a call that ran and came to nothing."""
    result = outcome.result
    own = None if result is None else result.fault
    failure = fault(Code.EXECUTION_ERROR, "The tool came to nothing.") if own is None else own
    code = None if result is None or result.code is UNSET else result.code.value
    return structs.replace(failure, context=structs.replace(failure.context or FaultContext(), tool_code=code))


def _info(tool: Tool[Any]) -> ToolInfo:
    return ToolInfo(
        name=tool.name,
        names={surface.value: tool.name_on(surface) for surface in Surface},
        risk=tool.risk,
        description=tool.description,
        idempotent=tool.idempotent,
        callable=tool.actor is not None,
        schema=schema(tool.arguments_on(Surface.REST)),
    )


_TYPE_IT_YOURSELF = Action(
    action="let_user_type",
    description="What is secret is typed by the user, or by login_keep_session with what the user hands in: "
    "a saved login (sessionProfile) then does it without typing.",
    tool_to_use="run_task_template",
    parameters={"templateId": "login_keep_session"},
)
_NO_WAY: Final = (Code.SECURITY_POLICY_DENIED, (REPORT,))
_WAYS: Final[Mapping[Reason, tuple[Code, tuple[Action, ...]]]] = MappingProxyType(
    {
        Reason.SENSITIVE_FIELD_BLOCKED: (Code.SECURITY_POLICY_DENIED, (_TYPE_IT_YOURSELF, USE_SAVED, REPORT)),
        Reason.FIELD_UNKNOWN: (Code.SECURITY_POLICY_DENIED, (LOOK_AGAIN, REPORT)),
        Reason.OPERATOR_RULE: (Code.SECURITY_POLICY_DENIED, (OPERATOR, REPORT)),
        Reason.SCOPE_MISSING: (Code.AUTH_INSUFFICIENT_SCOPE, (OTHER_KEY, REPORT)),
        Reason.LOCAL_ONLY: (Code.SECURITY_POLICY_DENIED, (GO_LOCAL, REPORT)),
        Reason.URL_REFUSED: (Code.SECURITY_POLICY_DENIED, (CHECK_URL, REPORT)),
        Reason.UNKNOWN_TOOL: (Code.VALIDATION_INVALID_REQUEST, (FIX_INPUT,)),
        Reason.INVALID_ARGUMENTS: (Code.VALIDATION_INVALID_REQUEST, (FIX_INPUT,)),
    }
)
"""The code of a denial, and the ways out of it, by its reason."""

_MAX_QUOTED_CHARS: Final = 64
_OWN_NAME: Final = re.compile(rf"(?!{SESSION_PREFIX})\w[\w .:-]{{0,63}}")
"""A name that a caller may give to a session; what begins as ids do is none."""
