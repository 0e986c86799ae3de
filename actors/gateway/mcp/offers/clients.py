"""What the client of a request has said that it can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import MISSING_REQUIRED_CLIENT_CAPABILITY
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from actors.gateway.request import RequestContext

Context = ServerRequestContext[RequestContext, Any]
"""What the SDK hands to a method; its lifespan is our own request: who asks, and how."""

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which a call becomes a task."""

_NEEDED: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def is_modern(context: Context) -> bool:
    """Return whether the client speaks the protocol without sessions."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def declared(context: Context) -> dict[str, Any]:
    """Return the capabilities of the client as MCP writes them; none, where it has said nothing."""
    said = context.session.client_capabilities
    return {} if said is None else said.model_dump(by_alias=True, mode="json", exclude_none=True)


def knows_tasks(context: Context) -> bool:
    """Return whether the client takes a task for an answer."""
    return is_modern(context) and TASKS in (declared(context).get("extensions") or {})


def need_tasks(context: Context) -> None:
    """Refuse a client that knows no tasks.

    Raises:
        MCPError: it does not, and which capability that is.
    """
    if not knows_tasks(context):
        lacking({"extensions": {TASKS: {}}})


def need_answers(context: Context, asked: Iterable[str]) -> None:
    """Refuse a client that has not said that it answers these methods; an older one may have said nothing at all.

    Raises:
        MCPError: which capabilities it lacks.
    """
    if not is_modern(context) and context.session.client_capabilities is None:
        return
    can = declared(context)
    needed = {_NEEDED[method]: dict[str, Any]() for method in asked if _NEEDED[method] not in can}
    if needed:
        lacking(needed)


def lacking(capabilities: dict[str, Any]) -> NoReturn:
    """Refuse a client for what it lacks.

    Raises:
        MCPError: always.
    """
    message = "The client has not said that it can do what this needs"
    raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, {"requiredCapabilities": capabilities})
