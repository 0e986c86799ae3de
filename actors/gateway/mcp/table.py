"""The table of tools, in the order in which clients see them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from actors.gateway.mcp.tool import ToolEntry
from actors.gateway.mcp.tools import batch, browse, browser, runs, sessions
from actors.gateway.pages import REFRESH_SESSION

TOOLS: Mapping[str, ToolEntry[Any]] = MappingProxyType(
    {
        "browse": browse.BROWSE,
        "batch_browse": batch.BATCH,
        REFRESH_SESSION: sessions.REFRESH,
        "session_management": sessions.MANAGE,
        **browser.BROWSER_TOOLS,
        **runs.RUN_TOOLS,
    }
)
