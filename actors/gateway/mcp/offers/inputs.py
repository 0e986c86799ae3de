"""What an offering actor wants of the user or the client, asked the way that older clients know: request by request."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    INVALID_REQUEST,
    CreateMessageRequest,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from pydantic import BaseModel, ValidationError

from actors.gateway.mcp.offers.clients import Context, need_answers
from protocol.offers.results import InputRequest, InputRequests

USER_S = 300.0
"""How long the user may take for an answer, in seconds."""

_KINDS: dict[str, tuple[type[Any], type[BaseModel]]] = {
    "elicitation/create": (ElicitRequest, ElicitResult),
    "sampling/createMessage": (CreateMessageRequest, CreateMessageResultWithTools),
    "roots/list": (ListRootsRequest, ListRootsResult),
}


async def answers(context: Context, requests: InputRequests) -> dict[str, dict[str, Any]]:
    """Ask the client, one request after the other, while it waits for our answer.

    Raises:
        MCPError: it lacks a capability, or refuses, or takes too long.
    """
    need_answers(context, [request.method for request in requests.values()])
    with anyio.move_on_after(USER_S):
        return {name: await _answer(context, request) for name, request in requests.items()}
    raise MCPError(INVALID_REQUEST, f"The client did not answer within {USER_S:.0f} s")


async def _answer(context: Context, request: InputRequest) -> dict[str, Any]:
    kind, answer = _KINDS[request.method]
    try:
        asked = kind.model_validate({"method": request.method, "params": request.params})
        metadata = ServerMessageMetadata(related_request_id=context.request_id)
        given = await context.session.send_request(asked, answer, metadata=metadata)
    except ValidationError:
        raise MCPError(INVALID_REQUEST, f"{request.method}: not as MCP has it") from None
    return given.model_dump(by_alias=True, mode="json", exclude_none=True)
