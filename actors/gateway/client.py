"""The gateway's functions for its owner at this machine: what the command line asks, and MCP over stdio.

This is the one module of the gateway that other rooms import: `weft` asks as a client that is in the same process, with
the local trust level (002 §9).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

from actors.gateway import pages, runs
from actors.gateway.access.caller import STDIO
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.errors import to_error
from actors.gateway.request import RequestContext
from actors.gateway.runs import ArtifactRequest, ResumeRequest, RunRequest, RunsRequest
from actors.settings import Settings
from bus import Bus
from protocol.browse import BrowseResult
from protocol.pages import BrowsePage
from protocol.runs.requests import RunNews
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList, TemplateList

__all__ = [
    "ArtifactRequest",
    "GatewayClient",
    "ResumeRequest",
    "RunRequest",
    "RunsRequest",
    "load_stdio_server",
    "to_error",
]


class GatewayClient:
    """Asks the actors what a gateway would ask for the owner; an actor that is being restarted gets `grace_ms`.

    Every method raises FaultError, as the function of the gateway does that it stands for.
    """

    def __init__(self, bus: BusClient, version: str, grace_ms: int = 0) -> None:
        """Ask over this bus."""
        self._app = AppContext(bus=bus, grace_ms=grace_ms, version=version)
        self._request = RequestContext(caller=STDIO)

    async def browse(self, page: BrowsePage) -> BrowseResult:
        """Read a page."""
        return await pages.browse(self._app, self._request, page)

    async def templates(self) -> TemplateList:
        """List the templates that can be run."""
        return await runs.templates(self._app)

    async def start_run(self, arguments: RunRequest) -> RunAccepted:
        """Begin a run, and wait for nothing."""
        return await runs.create(self._app, self._request, arguments)

    async def resume_run(self, run_id: str, arguments: ResumeRequest) -> RunAccepted:
        """Begin a run that takes over what succeeded in another one."""
        return await runs.resume(self._app, self._request, run_id, arguments)

    async def run(self, run_id: str) -> Run:
        """Return how a run stands."""
        return await runs.get(self._app, self._request, run_id)

    async def runs(self, arguments: RunsRequest) -> RunList:
        """List runs, newest first."""
        return await runs.list_runs(self._app, self._request, arguments)

    async def cancel_run(self, run_id: str) -> CancelAnswer:
        """Ask a run to stop before its next step."""
        return await runs.cancel(self._app, self._request, run_id)

    def follow_run(self, run_id: str) -> AsyncGenerator[RunNews]:
        """Yield what happens to a run until it is over; close the generator when you leave early."""
        return runs.follow(self._app, self._request, run_id)

    async def artifact(self, arguments: ArtifactRequest) -> ArtifactChunk:
        """Read a piece of a file that a run left."""
        return await runs.artifact(self._app, self._request, arguments)


def load_stdio_server() -> Callable[[Bus, Settings], Awaitable[None]]:
    """Import the MCP server, and return what speaks MCP over stdin and stdout until stdin ends.

    It answers as a replica of the gateway of its own.
    """
    from actors.gateway.mcp.replica_state import ReplicaState  # noqa: PLC0415 - imports the MCP SDK
    from actors.gateway.mcp.server import serve_stdio  # noqa: PLC0415 - as above

    async def serve(bus: Bus, settings: Settings) -> None:
        state = ReplicaState(bus.replica)
        for event, handler in state.events:
            await bus.serve(event.answered_by(bus.replica), handler, at_once=1)
        await serve_stdio(bus, settings, state)

    return serve
