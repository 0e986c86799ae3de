"""Who asks, and how: one value that is made where a request comes in, and passed to whatever answers it.

Over HTTP it travels in the ASGI scope, from the gate to the endpoint; over pipes it is the lifespan of the MCP server.
How long a request may take is no part of it: that is the deadline of the anyio scope that it is answered in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from starlette.types import Scope

from actors.gateway.access.caller import NOBODY, Caller
from actors.gateway.access.usage import RequestUsage
from actors.gateway.mcp.toolsets import EVERY_TOOLSET, Toolset
from actors.gateway.progress import Watcher
from protocol.replicas import Watch

SCOPE_KEY: Final = "weft.request"
"""Where it stands in the ASGI scope."""


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """One request: who asks, what it uses, and who watches how far it is.

    `client_id` tells apart the clients of one caller where they take part in that, and is '' elsewhere; `toolsets` are
    those that an MCP client may see and call.
    """

    caller: Caller = NOBODY
    usage: RequestUsage = field(default_factory=RequestUsage, compare=False)
    watcher: Watcher | None = None
    client_id: str = ""
    toolsets: frozenset[Toolset] = EVERY_TOOLSET

    @property
    def watch(self) -> Watch | None:
        """Return who watches the work in hand, to be sent along to whoever does it."""
        return None if self.watcher is None else self.watcher.watch

    def watched_by(self, watcher: Watcher | None) -> RequestContext:
        """Return the same request with another watcher; with none for work in parts, whose own progress is nobody's."""
        return replace(self, watcher=watcher)

    def report(self, done: int, message: str, total: int | None = None) -> None:
        """Report to whoever watches how far the work is; `message` has no word of a page."""
        if self.watcher is not None:
            self.watcher.report(done, message, total)


def request_context(scope: Scope) -> RequestContext:
    """Return the request of an ASGI scope; one that passed no gate is nobody's."""
    return scope.get(SCOPE_KEY) or RequestContext()


def with_request(scope: Scope, request: RequestContext) -> Scope:
    """Return a copy of an ASGI scope with this request."""
    return {**scope, SCOPE_KEY: request}
