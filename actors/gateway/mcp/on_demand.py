"""The endpoint of MCP, loaded when its first client comes: REST needs nothing of its SDK, a third of a start."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import anyio
import structlog
from anyio import to_thread
from starlette.types import Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.http import refusal
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.toolsets import Toolset
from protocol.faults import Code, FaultError, fault

if TYPE_CHECKING:
    from actors.gateway.mcp.transport.http import McpEndpoint

log = structlog.stdlib.get_logger()

MCP_NOT_LOADED: Final = "mcp_not_loaded"
_NOT_LOADED: Final = "MCP cannot be loaded here; REST works. Install Weft again, whole: the gateway's log says why."

Make = Callable[[AppContext, ReplicaState, frozenset[Toolset]], "McpEndpoint"]


@dataclass
class McpOnDemand:
    """ASGI: the endpoint of MCP, which works while `running()` is entered."""

    app: AppContext
    state: ReplicaState
    toolsets: frozenset[Toolset]
    _endpoint: McpEndpoint | None = field(default=None, init=False)
    _loading: anyio.Lock = field(default_factory=anyio.Lock, init=False)
    _begun: anyio.Event = field(default_factory=anyio.Event, init=False)
    _works: anyio.Event = field(default_factory=anyio.Event, init=False)
    _over: anyio.Event = field(default_factory=anyio.Event, init=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Hold what the endpoint needs, once it is loaded, as long as it answers."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            yield
            self._over.set()
            self._begun.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the first waits until what answers is loaded."""
        endpoint = self._endpoint
        if endpoint is None or not self._works.is_set():
            try:
                endpoint = await self._loaded()
            except FaultError as error:
                await refusal(error)(scope, receive, send)
                return
        await endpoint(scope, receive, send)

    async def _loaded(self) -> McpEndpoint:
        """Load the endpoint, once; a failure is that of this request, and the next one tries again."""
        async with self._loading:
            if self._endpoint is None:
                try:
                    make = await to_thread.run_sync(_load)
                except Exception as error:
                    log.exception(MCP_NOT_LOADED)
                    raise FaultError(fault(Code.INTERNAL_ERROR, _NOT_LOADED)) from error
                self._endpoint = make(self.app, self.state, self.toolsets)
                self._begun.set()
        await self._works.wait()
        return self._endpoint

    async def _run(self) -> None:
        await self._begun.wait()
        if self._endpoint is None:
            return
        async with self._endpoint.running():
            self._works.set()
            await self._over.wait()


def _load() -> Make:
    """Import what speaks MCP, and declare the tools, whose schemas take long to make."""
    gc.disable()  # it would look at the thousands of classes that are made
    try:
        from actors.gateway.mcp import server, toolbox  # noqa: PLC0415 - the SDK

        toolbox.warm()
    finally:
        gc.enable()
    return server.http_endpoint
