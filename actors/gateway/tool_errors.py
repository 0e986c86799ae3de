"""The errors of the tools that drive a browser, as their contract has them (002 §7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from actors.gateway.translate import one_line, to_error
from protocol.browse import StructuredError
from protocol.browsers.errors import ERROR_CODES, ErrorCode
from protocol.faults import Fault, fault


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


def to_tool_error(told: Fault, tool: str, arguments: Mapping[str, Any]) -> ToolError:
    """Return a fault as a client of a browser tool gets it; `arguments` are those of the call, whatever they were."""
    code = ERROR_CODES.get(told.code, ErrorCode.EXECUTION_ERROR)
    where = _where(arguments)
    own = [action for action in told.actions if action.tool_to_use]
    way = _WAYS[code]
    general = code is not ErrorCode.EXECUTION_ERROR and told.actions == fault(told.code).actions
    said = bool(own) or (bool(told.actions) and not general)
    nexts = [
        NextAction(
            tool=str(action.tool_to_use),
            args=where | dict(action.parameters or {}),
            reason=action.description,
            priority=action.priority,
        )
        for action in own
    ]
    if not said and way.tool is not None:
        args = {} if code is ErrorCode.SESSION_NOT_FOUND else where
        nexts = [NextAction(tool=way.tool, args=args, reason=way.hint)]
    error = to_error(told)
    return ToolError(
        **{name: getattr(error, name) for name in StructuredError.__struct_fields__},
        error_code=code,
        recover_hint=told.actions[0].description if said else way.hint,
        details=ToolErrorDetails(
            tool=tool,
            session_id=where.get("sessionId"),
            tab_id=where.get("tabId"),
            field=told.field,
            url=None if told.context is None else told.context.url,
        ),
        next_actions=tuple(sorted(nexts, key=lambda action: action.priority)) or UNSET,
    )


def tool_error_text(error: ToolError) -> str:
    """Write an error so that a model can act on it: what happened, then what to do."""
    again = "trying again may help" if error.retryable else "trying again unchanged will not help"
    lines = [f"{one_line(error.error)} [{error.error_code}; {again}]"]
    if error.field:
        lines.append(f"Argument at fault: {error.field}")
    lines.append(error.recover_hint)
    lines += [f"Next: {action.tool}" for action in error.next_actions or ()]
    return "\n".join(lines)


def _where(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Tell the session and the tab that a call named, where they are what they should be."""
    session, tab = arguments.get("sessionId"), arguments.get("tabId")
    named: dict[str, Any] = {"sessionId": session} if isinstance(session, str) else {}
    return named | ({"tabId": tab} if isinstance(tab, int) else {})
