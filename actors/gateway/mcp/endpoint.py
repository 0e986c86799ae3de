"""The endpoint of MCP as a gateway has it: the server, over HTTP."""

from __future__ import annotations

from actors.gateway.app_context import AppContext
from actors.gateway.mcp.offer_catalogue import Offers
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.mcp.transport.http import McpEndpoint


def make(app: AppContext, state: ReplicaState, toolsets: frozenset[Toolset]) -> McpEndpoint:
    """Make the endpoint of a replica, which follows from here on what actors offer."""
    state.offers = Offers()
    return McpEndpoint(make_server(app, state.offers), app, state, toolsets)
