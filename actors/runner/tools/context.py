"""What the tools of the runner work with, and how one says that it has failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from actors.settings import Settings
from bus import Bus
from bus.stores import JournalLog
from protocol.collections import CollectionLine
from protocol.faults import Fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool works with: the bus, the journal of collections, settings, and what is secret of the operator's."""

    bus: Bus
    settings: Settings
    collections: JournalLog[CollectionLine]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def failed(request: RunTool, code: ToolErrorCode, why: Fault) -> ToolResult:
    """Return the result of a call that came to nothing, with the code that 003 has for it."""
    return ToolResult(tool_call_id=request.id, status=ToolStatus.ERROR, code=code, fault=why)
