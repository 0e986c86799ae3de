"""THE table of the runner's tools: each by its name, with what runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from actors.runner.tools.calculation import calculate
from actors.runner.tools.context import ToolContext
from protocol.faults import Code, FaultError, fault
from protocol.policy import RunTool, ToolResult
from protocol.tools.registry import TOOLS

Runs = Callable[[ToolContext, RunTool, Any], Awaitable[ToolResult]]

RUNS: Final[Mapping[str, Runs]] = MappingProxyType({"app.calculate": calculate})
"""What runs each of the registry's tools that name the runner."""


async def run_tool(context: ToolContext, request: RunTool) -> ToolResult:
    """Run a tool of ours by its name.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is none of ours; why it came to nothing.
    """
    run = RUNS.get(request.name)
    if run is None:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{request.name} is no tool of the runner."))
    return await run(context, request, msgspec.convert(request.arguments, TOOLS[request.name].arguments))
