"""One request of a client, answered by the server within the exchange that brought it, in either era."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.types import INTERNAL_ERROR, ErrorData
from pydantic import ValidationError

from actors.gateway.mcp.transport.dialogue import Dialogue
from actors.gateway.mcp.transport.messages import Json, error
from actors.gateway.request import RequestContext

log = structlog.stdlib.get_logger()

REQUEST_FAILED = "mcp_request_failed"

_UNFORESEEN = ErrorData(code=INTERNAL_ERROR, message="Internal server error")


async def answered(  # noqa: PLR0913, PLR0917 - what the SDK wants to know
    server: Server[RequestContext],
    request: RequestContext,
    dialogue: Dialogue,
    connection: Connection,
    method: str,
    params: Mapping[str, Any] | None,
) -> Json:
    """Return the response; what nobody foresaw says nothing of the inside.

    What the SDK knows as the lifespan of the server is our `request`.
    """
    number = dialogue.request_id
    try:
        # `serve_one` of the SDK would close what the connection opened, and one of a single request opens nothing.
        result = await ServerRunner(server, connection, request).on_request(dialogue, method, params)
    except (MCPError, ValidationError) as failure:
        return error(number, handler_exception_to_error_data(failure) or _UNFORESEEN)
    except Exception:
        log.exception(REQUEST_FAILED, method=method)
        return error(number, _UNFORESEEN)
    return {"jsonrpc": "2.0", "id": number, "result": result}
