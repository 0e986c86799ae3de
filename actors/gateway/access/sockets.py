"""The gate before every WebSocket: the same as before requests; who is not let in is refused before the handshake."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass

import structlog
from starlette.routing import Match, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from actors.gateway.access import refusals
from actors.gateway.access.caller import NOBODY
from actors.gateway.access.caller import Scope as Good
from actors.gateway.access.gate import AccessControl
from actors.gateway.access.limits import Kind
from actors.gateway.access.rules import asked
from actors.gateway.access.usage import RequestUsage
from actors.gateway.http.answers import RefusedError, invalid, refusal
from actors.gateway.request import RequestContext, with_request

log = structlog.stdlib.get_logger()

SOCKET_FAILED = "socket_failed"

INTERNAL_ERROR = 1011
"""RFC 6455 §7.4.1."""


@dataclass(frozen=True)
class Socket:
    """One WebSocket that clients may open at `path`: `run` accepts it and works until it is closed.

    It needs a key with `scope`; None is for protocols that let their clients in themselves.
    """

    path: str
    run: Callable[[WebSocket], Awaitable[None]]
    scope: Good | None = Good.BROWSE


class SocketGate:
    """ASGI: lets pass the WebSockets that are let in; there is nothing at all other paths."""

    def __init__(self, access: AccessControl, sockets: Iterable[Socket] = ()) -> None:
        self._access = access
        self._sockets = [(WebSocketRoute(one.path, one.run), one) for one in sockets]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have one WebSocket from its handshake to its end."""
        request, found = asked(scope), self._found(scope)
        try:
            self._access.rules.check(request)
            needs_key = found is None or found.scope is not None
            visitor = await self._access.let_in(scope, request, needs_key=needs_key)
            with ExitStack() as held:
                if found is None:
                    raise invalid("There is no WebSocket at this path", 404)
                if found.scope is not None:
                    visitor.caller.require(found.scope)
                if not held.enter_context(self._access.hands.holding(Kind.SOCKET, visitor.account)):
                    raise refusals.too_many(Kind.SOCKET, self._access.hands.most[Kind.SOCKET])
                usage = RequestUsage()
                if visitor.caller is not NOBODY:
                    usage = held.enter_context(self._access.ledger.counting(visitor.account))
                inner = with_request(scope, RequestContext(caller=visitor.caller, usage=usage))
                await _run(found, WebSocket(inner, receive, send))
        except RefusedError as error:
            await refusal(error)(scope, receive, send)

    def _found(self, scope: Scope) -> Socket | None:
        for route, socket in self._sockets:
            match, child = route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                return socket
        return None


async def _run(socket: Socket, opened: WebSocket) -> None:
    try:
        await socket.run(opened)
    except Exception:
        log.exception(SOCKET_FAILED, path=socket.path)
        await opened.close(INTERNAL_ERROR)
