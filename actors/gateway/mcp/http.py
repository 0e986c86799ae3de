"""MCP over HTTP, without sessions: any replica answers any request."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from actors.gateway.rest.answers import refusal
from actors.gateway.rest.routing import MAX_BODY_BYTES, not_allowed

PATH = "/mcp"


def make_manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    """Make what serves `server` over HTTP while its `run()` is entered.

    Stateless, so that any replica can answer any request. Our own gate has checked Host and Origin.
    """
    return StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )


class PostOnly:
    """ASGI: the endpoint of MCP; without sessions there is no stream to GET and nothing to DELETE."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST":
            await self._manager.handle_request(scope, receive, send)
        else:
            await refusal(not_allowed("POST"))(scope, receive, send)
