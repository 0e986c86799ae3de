"""The client of a request: its id, what it declared that it can do, and how it is asked for input."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, cast

import anyio
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    INVALID_REQUEST,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitResult,
    ListRootsRequest,
    ListRootsResult,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import BaseModel, ValidationError

from actors.gateway.request import RequestContext
from protocol.offers.results import InputRequest, InputRequests

Context = ServerRequestContext[RequestContext, Any]
"""What the SDK hands to a method; its lifespan is our own request: who asks, and how."""

CLIENT_ID_HEADER = "mcp-session-id"

TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which a call becomes a task."""

INPUT_TIMEOUT_S = 300.0
"""How long the user may take for an answer, in seconds."""


# -- what it can do ----------------------------------------------------------------------------------------------------


def is_modern(context: Context) -> bool:
    """Return whether the client speaks a version of the protocol without sessions."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def capabilities_of(context: Context) -> dict[str, Any]:
    """Return the capabilities of the client as MCP writes them; none, where it has declared nothing."""
    declared = context.session.client_capabilities
    return {} if declared is None else declared.model_dump(by_alias=True, mode="json", exclude_none=True)


def shows_data_alone(context: Context) -> bool:
    """Return whether the client is known to show its model the data of an answer in place of the text."""
    declared = context.session.client_params
    program = context.lifespan_context.program if declared is None else declared.client_info.name
    return program.casefold().startswith(_SHOWING_DATA_ALONE)


_SHOWING_DATA_ALONE = ("claude-code", "codex", "opencode", "visual studio code")
"""What these call themselves begins so. All others show the text, or both."""


def supports_tasks(context: Context) -> bool:
    """Return whether the client takes a task for an answer."""
    return is_modern(context) and TASKS in (capabilities_of(context).get("extensions") or {})


def require_tasks(context: Context) -> None:
    """Refuse a client that knows no tasks.

    Raises:
        MCPError: it does not, and which capability that is.
    """
    if not supports_tasks(context):
        raise _lacks({"extensions": {TASKS: {}}})


def require_input(context: Context, methods: Iterable[str]) -> None:
    """Refuse a client that has not declared that it answers these methods; an older one may have declared nothing.

    Raises:
        MCPError: which capabilities it lacks.
    """
    if not is_modern(context) and context.session.client_capabilities is None:
        return
    declared = capabilities_of(context)
    lacking = {_CAPABILITIES[method]: dict[str, Any]() for method in methods if _CAPABILITIES[method] not in declared}
    if lacking:
        raise _lacks(lacking)


def _lacks(capabilities: dict[str, Any]) -> MCPError:
    message = "The client has not said that it can do what this needs"
    return MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, {"requiredCapabilities": capabilities})


_CAPABILITIES: Mapping[str, str] = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""What a server may make use of, by the method that it is for."""


# -- how it is asked for input, by versions in which the server sends requests -----------------------------------------


async def request_input(context: Context, requests: InputRequests) -> dict[str, dict[str, Any]]:
    """Send the client one request after the other while it waits for our response, and return its answers.

    Raises:
        MCPError: it lacks a capability, or refuses, or takes too long.
    """
    require_input(context, [request.method for request in requests.values()])
    with anyio.move_on_after(INPUT_TIMEOUT_S):
        return {name: await _request(context, request) for name, request in requests.items()}
    raise MCPError(INVALID_REQUEST, f"The client did not answer within {INPUT_TIMEOUT_S:.0f} s")


async def _request(context: Context, request: InputRequest) -> dict[str, Any]:
    request_type, result_type = _TYPES[request.method]
    try:
        typed = request_type.model_validate({"method": request.method, "params": request.params})
        metadata = ServerMessageMetadata(related_request_id=context.request_id)
        result = await context.session.send_request(typed, result_type, metadata=metadata)
    except ValidationError:
        raise MCPError(INVALID_REQUEST, f"{request.method}: not as MCP has it") from None
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


_TYPES: Mapping[str, tuple[type[Any], type[BaseModel]]] = {
    "elicitation/create": (ElicitRequest, ElicitResult),
    "sampling/createMessage": (CreateMessageRequest, CreateMessageResultWithTools),
    "roots/list": (ListRootsRequest, ListRootsResult),
}


# -- its id ------------------------------------------------------------------------------------------------------------


class ClientId(Struct, frozen=True):
    """Which client this is, among those of its caller, and what it declared; None if it did not. It opens nothing.

    Over HTTP a client of an older version is given its id as `Mcp-Session-Id` when it initializes, and sends it with
    every request. Any replica takes any id, known to it or not, so there is no session that could be lost; what the
    client declared, and what program it is, is written into the id itself. Over stdio the process is the client, and
    has an id of its own.
    """

    name: str = ""
    capabilities: Mapping[str, Any] | None = None
    program: str = ""

    def header(self) -> str:
        """Encode the id for a header."""
        declared = {**(self.capabilities or {}), **({_PROGRAM: self.program} if self.program else {})}
        encoded = base64.urlsafe_b64encode(msgspec.json.encode(declared)).decode().rstrip("=")
        return f"{self.name}.{encoded}" if len(encoded) <= _MAX_CAPABILITIES_CHARS else self.name


NO_CLIENT_ID = ClientId()


def new_client_id(initialize: Mapping[str, Any] | None = None) -> ClientId:
    """Make an id for a client that declares this (the parameters of its `initialize`)."""
    known, params = None, initialize or {}
    if isinstance(params.get("capabilities"), dict):
        declared = cast("dict[str, Any]", params["capabilities"])
        known = {name: declared[name] for name in _CAPABILITIES.values() if isinstance(declared.get(name), dict)}
    info: object = params.get("clientInfo")
    program = cast("dict[str, Any]", info).get("name") if isinstance(info, dict) else ""
    name = program[:_MAX_PROGRAM_CHARS] if isinstance(program, str) else ""
    return ClientId(secrets.token_urlsafe(_NAME_BYTES), known, name)


def read_client_id(header: str | None) -> ClientId:
    """Decode an id; one that is none of ours counts as none."""
    match = _CLIENT_ID.fullmatch(header or "")
    if match is None:
        return NO_CLIENT_ID
    name, encoded = match.groups()
    declared = _decoded(encoded) if encoded else None
    program = (declared or {}).pop(_PROGRAM, "")
    return ClientId(name, declared, program if isinstance(program, str) else "")


_NAME_BYTES = 12
_PROGRAM = "program"
_MAX_PROGRAM_CHARS = 64
_MAX_CAPABILITIES_CHARS = 1_000
_CLIENT_ID = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\.([A-Za-z0-9_-]{0,1000}))?")


def _decoded(encoded: str) -> dict[str, Any] | None:
    padded = encoded + "=" * (-len(encoded) % 4)
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=dict[str, Any])
    except (binascii.Error, msgspec.DecodeError, RecursionError):
        return None
