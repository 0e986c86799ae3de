"""MCP over HTTP: both eras of the protocol at one address, without sessions: any replica answers any request."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace

import anyio
from mcp.server import Server
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.http import JSON, answer, invalid, not_allowed, refusal
from actors.gateway.http_input import read_json
from actors.gateway.mcp.here import Here
from actors.gateway.mcp.toolsets import Toolset, asked_for
from actors.gateway.mcp.transport.legacy import Legacy
from actors.gateway.mcp.transport.messages import BadMessageError, error
from actors.gateway.mcp.transport.modern import Modern
from actors.gateway.mcp.transport.progress import reporting
from actors.gateway.mcp.transport.stream import Stream, Streams
from actors.gateway.request import RequestContext, request_context
from protocol.faults import FaultError

PATH = "/mcp"

_OURS = b"mcp-"
_BLANKS = b" \t"


@dataclass
class Endpoint:
    """ASGI: the endpoint of MCP, which works while `running()` is entered. Our own gate has checked Host and Origin."""

    server: Server[RequestContext]
    app: AppContext
    here: Here
    toolsets: frozenset[Toolset]
    _streams: Streams = field(default_factory=Streams)

    def __post_init__(self) -> None:
        """Report progress in both eras, and make what answers each."""
        self.server.middleware.append(reporting(self.app.watchers))
        self._modern = Modern(self.server, self.here.underway, self._streams)
        self._legacy = Legacy(self.server, self.app.bus, self.here.questions, self.here.underway, self._streams)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Hold what the server needs as long as it answers."""
        async with self.server.lifespan(self.server), anyio.create_task_group() as tasks:
            tasks.start_soon(self._streams.look_after)
            yield
            tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; there is no session to DELETE, and nothing is told to a client that GETs."""
        try:
            if scope["method"] != "POST":
                raise not_allowed("POST")
            trimmed: Scope = {**scope, "headers": [_trimmed(*header) for header in scope["headers"]]}
            request = Request(trimmed, receive)
            toolsets = asked_for(scope["query_string"], self.toolsets)
            context = replace(request_context(scope), toolsets=toolsets)
            accepted = _accepted(request)
            body = await read_json(request)
            await self._answer(request, body, Stream(send, *accepted), context)
        except ClientDisconnect:
            return
        except FaultError as refused:
            await refusal(refused)(scope, receive, send)

    async def _answer(self, request: Request, body: bytes, stream: Stream, context: RequestContext) -> None:
        """Have the era answer that the client speaks; a version that is not known is for the newer one to refuse."""
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
        era = self._legacy if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS else self._modern
        try:
            await era.answer(request, body, stream, context)
        except BadMessageError as bad:
            await answer(error(None, bad.told), 400)(request.scope, request.receive, stream.send)


def _trimmed(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Take the blanks around a header of MCP away, which belong to no value (RFC 9110 §5.5); the server leaves some."""
    return name, value.strip(_BLANKS) if name.startswith(_OURS) else value


def _accepted(request: Request) -> tuple[bool, bool]:
    """Return whether the client takes JSON, and whether it takes events; who does not say takes anything."""
    if "accept" not in request.headers:
        return True, True
    accepted = check_accept_headers(request)
    if accepted == (False, False):
        raise invalid(f"The answer is {JSON} or text/event-stream, and the client accepts neither", 406)
    return accepted
