"""The table of tools, in the order in which clients see them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from actors.gateway.asking import REFRESH_SESSION
from actors.gateway.mcp.tool import ToolEntry
from actors.gateway.mcp.tools import browse, sessions

TOOLS: Mapping[str, ToolEntry[Any]] = MappingProxyType(
    {
        "browse": browse.BROWSE,
        REFRESH_SESSION: sessions.REFRESH,
        "session_management": sessions.MANAGE,
    }
)
