"""What the tools of the runner work with, and how one says that it has failed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from actors.runner.collections.collection_log import CollectionLog
from actors.runner.collections.key_room import KeyRoom
from actors.runner.integrations import Integrations
from actors.runner.outside import OutsideClient
from actors.runner.searching.engines import Engines
from actors.settings import Settings
from actors.toml_file import Watched
from actors.tool_files import own_engines, own_integrations, read_engines, read_integrations
from actors.usage import UsageLedger
from bus import Bus
from protocol.faults import Fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.search import SearchEngine
from protocol.subjects import COLLECTIONS, DELIVERIES


@dataclass(frozen=True, kw_only=True)
class ToolDependencies:
    """What a tool works with: the bus, the journal of collections, settings, and what is secret of the operator's."""

    bus: Bus
    settings: Settings
    collections: CollectionLog
    integrations: Integrations
    engines: Engines
    engine_file: Watched[tuple[SearchEngine, ...]]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@asynccontextmanager
async def opened(
    bus: Bus, settings: Settings, environment: Mapping[str, str], usage: UsageLedger
) -> AsyncGenerator[ToolDependencies]:
    """Open what tools work with, and watch the files of the operator, while the block lasts."""
    file, engine_file = (
        Watched(own_integrations(settings), read_integrations),
        Watched(own_engines(settings), read_engines),
    )
    async with OutsideClient(settings).opened() as outside, file.open(), engine_file.open():
        table = await bus.table(DELIVERIES)
        yield ToolDependencies(
            bus=bus,
            settings=settings,
            collections=CollectionLog(await bus.journal(COLLECTIONS), KeyRoom(bus, settings.restart_grace_ms)),
            integrations=Integrations(bus, outside, file, table, environment),
            engines=Engines(bus, outside, environment, usage),
            engine_file=engine_file,
            environment=environment,
        )


def failed(request: RunTool, code: ToolErrorCode, why: Fault) -> ToolResult:
    """Return the result of a call that came to nothing, with the code that 003 has for it."""
    return ToolResult(tool_call_id=request.id, status=ToolStatus.ERROR, code=code, fault=why)
