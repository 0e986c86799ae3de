"""What offering actors answer, as MCP writes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from msgspec import Struct, UnsetType

from actors.gateway.errors import error_text, to_error
from protocol.faults import Category, Fault
from protocol.offers.results import InputRequests, OfferedTask, Refused, ToolResult

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""The longest answer of an offering actor that clients get."""

Wire = dict[str, Any]


def is_too_long(answer: Struct) -> bool:
    """Return whether clients are spared an answer."""
    return len(msgspec.json.encode(answer)) > MAX_ANSWER_BYTES


def wire(answer: Struct) -> Wire:
    """Write an answer without the name of its kind, which is ours."""
    fields: Wire = msgspec.to_builtins(answer)
    return {name: value for name, value in fields.items() if name != "type"}


def complete(answer: Struct) -> Wire:
    """Write an answer after which nothing is left to do."""
    return {"resultType": "complete", **wire(answer)}


def tool_result(result: ToolResult) -> Wire:
    """Write what a tool came to."""
    return {"isError": False, **complete(result)}


def failed(told: Fault) -> Wire:
    """Write a fault so that the model can read it."""
    error = to_error(told)
    content = [{"type": "text", "text": error_text(error)}]
    return {
        "resultType": "complete",
        "content": content,
        "structuredContent": msgspec.to_builtins(error),
        "isError": True,
    }


def protocol_error(told: Fault) -> MCPError:
    """Return a fault where there is no result that could tell it."""
    code = INVALID_PARAMS if told.category is Category.VALIDATION else INTERNAL_ERROR
    return MCPError(code, told.message, msgspec.to_builtins(to_error(told)))


def refusal(refused: Refused) -> MCPError:
    """Return an error of the protocol as the offering actor told it."""
    return MCPError(refused.code, refused.message, None if refused.data is msgspec.UNSET else refused.data)


def input_required(requests: InputRequests, state: str | None) -> Wire:
    """Write what is wanted of the user before the rest can be done."""
    asked = {"resultType": "input_required", "inputRequests": msgspec.to_builtins(requests)}
    return asked if state is None else {**asked, "requestState": state}


def task(told: OfferedTask, handle: str) -> Wire:
    """Write how a task stands, by the id that the client knows it by."""
    written: Wire = {
        "taskId": handle,
        "status": told.status.value,
        "createdAt": _moment(told.created),
        "lastUpdatedAt": _moment(told.updated),
        "ttlMs": told.ttl_ms,
    }
    if told.message:
        written["statusMessage"] = told.message
    if not isinstance(told.poll_ms, UnsetType):
        written["pollIntervalMs"] = told.poll_ms
    return written


def detailed_task(told: OfferedTask, handle: str) -> Wire:
    """Write how a task stands, with what came of it or what it waits for."""
    written = task(told, handle)
    if not isinstance(told.result, UnsetType):
        written["result"] = tool_result(told.result)
    if not isinstance(told.error, UnsetType):
        written["error"] = wire(told.error)
    if not isinstance(told.requests, UnsetType):
        written["inputRequests"] = msgspec.to_builtins(told.requests)
    return written


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1_000, UTC).isoformat(timespec="milliseconds")
