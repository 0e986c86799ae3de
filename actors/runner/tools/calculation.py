"""app.calculate."""

from __future__ import annotations

from actors.runner.tools.context import ToolContext
from protocol.faults import Code, FaultError, fault
from protocol.policy import RunTool, ToolResult
from protocol.tools.app import Calculate


async def calculate(context: ToolContext, request: RunTool, arguments: Calculate) -> ToolResult:
    """Compute an expression."""
    del context, request, arguments
    raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
