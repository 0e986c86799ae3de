"""MCP: tools, resources, prompts and tasks, our own and those that other actors offer."""

from __future__ import annotations

from typing import Final

HANDLES: Final = "mcp"
"""The purpose that what clients carry for us is sealed for."""

PATH: Final = "/mcp"
"""Where it is spoken over HTTP."""
