"""Results as MCP writes them: of our own tools, and of offering actors."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from msgspec import Struct, UnsetType

from actors.gateway.errors import to_error
from actors.gateway.mcp.tool import ToolAnswer, ToolLink
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Category, Fault
from protocol.offers.results import InputRequests, OfferedResult, OfferedTask, Refused

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""The longest answer of an offering actor that clients get."""

Wire = dict[str, Any]


def is_too_long(answer: Struct) -> bool:
    """Return whether clients are spared an answer."""
    return len(msgspec.json.encode(answer)) > MAX_ANSWER_BYTES


def tool_answer(answer: ToolAnswer, *, text_alone: bool = False) -> Wire:
    """Write an answer as the SDK would write its own model of one, which costs more than all the rest of a call."""
    images = (
        {"type": "image", "data": base64.b64encode(image.data).decode(), "mimeType": image.media_type}
        for image in answer.images
    )
    text = f"{answer.text}\n\n{answer.asked_data}" if text_alone and answer.asked_data else answer.text
    written: Wire = {
        "resultType": "complete",
        "content": [{"type": "text", "text": text}, *images, *map(_link, answer.links)],
        "structuredContent": _data(answer),
        "isError": answer.is_error,
    }
    if text_alone:
        del written["structuredContent"]
    return written


def tool_result(result: OfferedResult) -> Wire:
    """Write the result of an offered tool."""
    return {"isError": False, **complete(result)}


def complete(outcome: Struct) -> Wire:
    """Write a result after which nothing is left to do."""
    return {"resultType": "complete", **untagged(outcome)}


def untagged(outcome: Struct) -> Wire:
    """Write an outcome without the name of its kind, which is ours."""
    fields: Wire = msgspec.to_builtins(outcome)
    return {name: value for name, value in fields.items() if name != "type"}


def input_required(requests: InputRequests, state: str | None) -> Wire:
    """Write what is wanted of the user before the rest can be done."""
    result = {"resultType": "input_required", "inputRequests": msgspec.to_builtins(requests)}
    return result if state is None else {**result, "requestState": state}


def task(standing: OfferedTask, task_id: str) -> Wire:
    """Write how a task stands, by the id that the client knows it by."""
    written: Wire = {
        "taskId": task_id,
        "status": standing.status.value,
        "createdAt": _moment(standing.created),
        "lastUpdatedAt": _moment(standing.updated),
        "ttlMs": standing.ttl_ms,
    }
    if standing.message:
        written["statusMessage"] = standing.message
    if not isinstance(standing.poll_ms, UnsetType):
        written["pollIntervalMs"] = standing.poll_ms
    return written


def detailed_task(standing: OfferedTask, task_id: str) -> Wire:
    """Write how a task stands, with its result or with what it waits for."""
    written = task(standing, task_id)
    if not isinstance(standing.result, UnsetType):
        written["result"] = tool_result(standing.result)
    if not isinstance(standing.error, UnsetType):
        written["error"] = untagged(standing.error)
    if not isinstance(standing.requests, UnsetType):
        written["inputRequests"] = msgspec.to_builtins(standing.requests)
    return written


def protocol_error(error: Fault) -> MCPError:
    """Return a fault as an error of the protocol, where no result could hold it."""
    code = INVALID_PARAMS if error.category is Category.VALIDATION else INTERNAL_ERROR
    return MCPError(code, error.message, msgspec.to_builtins(to_error(error)))


def refusal(refused: Refused) -> MCPError:
    """Return an error of the protocol as the offering actor wrote it."""
    return MCPError(refused.code, refused.message, None if refused.data is msgspec.UNSET else refused.data)


def _link(link: ToolLink) -> Wire:
    written = {"type": "resource_link", "uri": link.uri, "name": link.name, "mimeType": link.media_type}
    return written if link.size is None else {**written, "size": link.size}


def _data(answer: ToolAnswer) -> dict[str, Any]:
    """Return an answer as data, with its version; what tells the types of a union apart is no client's business."""
    data: dict[str, Any] = msgspec.to_builtins(answer.data)
    if isinstance(answer.data, Struct):
        data.pop(answer.data.__struct_config__.tag_field or "", None)
    return {**data, "schemaVersion": SCHEMA_VERSION} | (
        {"nextActions": msgspec.to_builtins(answer.next_actions)} if answer.next_actions else {}
    )


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1_000, UTC).isoformat(timespec="milliseconds")
