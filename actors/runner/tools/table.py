"""THE table of the runner's tools: each by its name, with what runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from actors.runner.tools import collections, texts
from actors.runner.tools.calculation import calculate
from actors.runner.tools.context import ToolDependencies, failed
from actors.runner.tools.integration import invoke
from actors.runner.tools.search import search
from protocol.faults import Code, FaultError, fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult
from protocol.tools.registry import TOOLS

Runs = Callable[[ToolDependencies, RunTool, Any], Awaitable[ToolResult]]

RUNS: Final[Mapping[str, Runs]] = MappingProxyType(
    {
        "app.calculate": calculate,
        "collection.create": collections.create,
        "collection.add_sources": collections.add_sources,
        "collection.list_sources": collections.list_sources,
        "collection.delete": collections.delete,
        "collection.watch": collections.watch,
        "source.capture": collections.capture,
        "source.refresh": collections.refresh,
        "transform.list_types": texts.list_types,
        "transform.run": texts.run_transform,
        "artifact.save": texts.save,
        "artifact.open": texts.open_text,
        "artifact.share": texts.share,
        "artifact.delete": texts.delete,
        "integration.invoke": invoke,
        "search": search,
        "source.delete": collections.delete_source,
    }
)
"""What runs each of the registry's tools that name the runner."""


async def run_tool(context: ToolDependencies, request: RunTool) -> ToolResult:
    """Run a tool of ours by its name.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is none of ours; why it came to nothing.
    """
    run = RUNS.get(request.name)
    if run is None:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{request.name} is no tool of the runner."))
    arguments = msgspec.convert(request.arguments, TOOLS[request.name].arguments)
    try:
        return await run(context, request, arguments)
    except FaultError as error:
        code = _CODES.get(error.fault.code)
        if code is None:
            raise
        return failed(request, code, error.fault)


_CODES: Final[Mapping[Code, ToolErrorCode]] = MappingProxyType(
    {
        Code.VALIDATION_INVALID_REQUEST: ToolErrorCode.INVALID_ARGUMENTS,
        Code.VALIDATION_UNKNOWN_COLLECTION: ToolErrorCode.NOT_FOUND,
        Code.VALIDATION_UNKNOWN_SOURCE: ToolErrorCode.NOT_FOUND,
        Code.ARTIFACT_NOT_FOUND: ToolErrorCode.NOT_FOUND,
        Code.CONTENT_EMPTY: ToolErrorCode.NO_CONTEXT,
    }
)
"""What 003 calls what a client did wrong; every other fault is raised as it is."""
