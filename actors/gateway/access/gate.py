"""The gates before every HTTP request and every WebSocket: who is not let in is refused, and the others are counted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

import anyio
import structlog
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from actors.gateway.access import limits
from actors.gateway.access.authentication import AccessControl, Visitor
from actors.gateway.access.caller import NOBODY, RequestUsage
from actors.gateway.access.caller import Scope as KeyScope
from actors.gateway.access.limits import ConcurrencyKind, ConcurrencyLimits
from actors.gateway.access.open_streams import OpenStreams
from actors.gateway.access.rules import access_headers, preflight
from actors.gateway.errors import to_error
from actors.gateway.http import HttpStatusError, event_message, invalid, is_visit, refusal
from actors.gateway.request import RequestContext, with_request
from bus.context import account
from bus.fairness import Account
from protocol.faults import Code, fault

log = structlog.stdlib.get_logger()

SOCKET_FAILED = "socket_failed"

INTERNAL_ERROR = 1011
"""RFC 6455 §7.4.1."""

_KEY_ENDED = fault(Code.AUTH_INVALID_CREDENTIALS, "The key that this stream was opened with is no longer good.")

_LAST_WORDS_S = 0.5
"""What a client may take for the last event of a stream that is ended."""

_EVENTS = b"text/event-stream"
_FAILED = HTTPStatus.BAD_REQUEST
"""The least status that counts as an error."""


class RequestGate:
    """ASGI: lets pass the HTTP requests that are let in."""

    def __init__(self, app: ASGIApp, access: AccessControl) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = access_headers(scope)
        try:
            self._access.rules.check(headers)
            if (answer := preflight(scope)) is not None:
                return await answer(scope, receive, send)
            visited = is_visit(scope["method"], scope["path"], Headers(scope=scope).getlist("accept"))
            needs_key = not (visited or self._access.rules.is_open(scope["path"]))
            visitor = await self._access.let_in(scope, headers, needs_key=needs_key)
            return await self._pass(visitor, scope, receive, send, origin="".join(headers.origins))
        except HttpStatusError as error:
            return await refusal(error)(scope, receive, send)

    async def _pass(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send, *, origin: str) -> None:
        concurrency, name = self._access.concurrency, visitor.account
        most = visitor.caller.limits.at_once or concurrency.most[ConcurrencyKind.REQUEST]
        if not concurrency.take(ConcurrencyKind.REQUEST, name, most):
            self._access.accounts.refused[name] += 1
            raise limits.too_many(ConcurrencyKind.REQUEST, most)
        admitted = AdmittedRequest(visitor, concurrency, self._access.streams, send)
        try:
            with self._counted(visitor) as admitted.usage, admitted.work:
                request = RequestContext(caller=visitor.caller, usage=admitted.usage, origin=origin)
                await self._app(with_request(scope, request), receive, admitted.send_with_limits)
            await admitted.send_end()
        finally:
            admitted.leave()
        if admitted.crowded:
            raise limits.too_many(ConcurrencyKind.STREAM, concurrency.most[ConcurrencyKind.STREAM])

    @contextmanager
    def _counted(self, visitor: Visitor) -> Generator[RequestUsage]:
        """Count a request of a caller, and have what is done for it share with what is done for others."""
        if visitor.caller is NOBODY:
            yield RequestUsage()
            return
        name = visitor.account
        self._access.accounts.begin(name)
        try:
            with account(Account(name, visitor.caller.limits.weight)), self._access.ledger.counting(name) as usage:
                yield usage
        finally:
            self._access.accounts.end(name)


@dataclass(eq=False)
class AdmittedRequest:
    """One request that was let in: its answer says how its limits stand, and streams have places of their own.

    `work` is stopped where it begins a stream that there is no place for (`crowded`), and when the key of a stream is
    good no more (`key_ended`).
    """

    visitor: Visitor
    concurrency: ConcurrencyLimits
    streams: OpenStreams
    send: Send
    place: ConcurrencyKind = ConcurrencyKind.REQUEST
    usage: RequestUsage = field(default_factory=RequestUsage)
    crowded: bool = False
    key_ended: bool = False
    work: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def send_with_limits(self, message: Message) -> None:
        """Send, with the limits on the answer; a key that has ended is told nothing more."""
        if self.key_ended:
            return
        if message["type"] == "http.response.start":
            await self._begin(message)
            return
        if not message.get("more_body", False):
            self.streams.remove(self.visitor.caller.name, self)  # it ends by itself
        await self.send(message)

    def end(self) -> None:
        """End a stream whose key is good no more."""
        self.key_ended = True
        self.work.cancel()

    async def send_end(self) -> None:
        """Send the client of a stream that was ended why it was, if it takes that at once."""
        if self.key_ended:
            last = event_message("error", to_error(_KEY_ENDED))
            with anyio.move_on_after(_LAST_WORDS_S):
                await self.send({**last, "more_body": False})

    def leave(self) -> None:
        """Leave the place of the request, or of the stream that it has become."""
        self.streams.remove(self.visitor.caller.name, self)
        self.concurrency.leave(self.place, self.visitor.account)

    async def _begin(self, message: Message) -> None:
        headers: list[tuple[bytes, bytes]] = message.get("headers", [])
        opens = _is_stream(headers)
        if opens and not self._is_placed():
            self.crowded = True
            self.work.cancel()
            await anyio.sleep_forever()
        if message["status"] >= _FAILED:
            self.usage.failed = True
        message["headers"] = [*headers, *self.visitor.rate_state.headers]
        await self.send(message)
        if opens:
            self.streams.add(self.visitor.caller.name, self)

    def _is_placed(self) -> bool:
        """Move from the place of a request to that of a stream, if there is one."""
        if not self.concurrency.take(ConcurrencyKind.STREAM, self.visitor.account):
            return False
        self.concurrency.leave(self.place, self.visitor.account)
        self.place = ConcurrencyKind.STREAM
        return True


def _is_stream(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(_EVENTS) for name, value in headers)


class SocketRoute(Struct, frozen=True):
    """One WebSocket that clients may open at `path`: `run` accepts it and works until it is closed.

    It needs a key with `scope`, which has so many sockets at most; None is for protocols that let their clients in
    themselves, and bound them.
    """

    path: str
    run: Callable[[WebSocket], Awaitable[None]]
    scope: KeyScope | None = KeyScope.BROWSE


class SocketGate:
    """ASGI: lets pass the WebSockets that are let in; there is nothing at all other paths."""

    def __init__(self, access: AccessControl, routes: Iterable[SocketRoute] = ()) -> None:
        self._access = access
        self._routes = [(WebSocketRoute(one.path, one.run), one) for one in routes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have one WebSocket from its handshake to its end."""
        headers, route = access_headers(scope), self._match(scope)
        try:
            self._access.rules.check(headers)
            needs_key = route is None or route.scope is not None
            visitor = await self._access.let_in(scope, headers, needs_key=needs_key)
            with ExitStack() as stack:
                if route is None:
                    raise invalid("There is no WebSocket at this path", 404)
                if route.scope is not None:
                    visitor.caller.require(route.scope)
                    self._take_place(stack, visitor)
                usage = RequestUsage()
                if visitor.caller is not NOBODY:
                    usage = stack.enter_context(self._access.ledger.counting(visitor.account))
                inner = with_request(scope, RequestContext(caller=visitor.caller, usage=usage))
                await _run_socket(route, WebSocket(inner, receive, send))
        except HttpStatusError as error:
            await refusal(error)(scope, receive, send)

    def _take_place(self, stack: ExitStack, visitor: Visitor) -> None:
        """Hold one of the places for sockets that a key has."""
        concurrency = self._access.concurrency
        if not stack.enter_context(concurrency.holding(ConcurrencyKind.SOCKET, visitor.account)):
            raise limits.too_many(ConcurrencyKind.SOCKET, concurrency.most[ConcurrencyKind.SOCKET])

    def _match(self, scope: Scope) -> SocketRoute | None:
        for pattern, route in self._routes:
            match, child = pattern.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                return route
        return None


async def _run_socket(route: SocketRoute, opened: WebSocket) -> None:
    try:
        await route.run(opened)
    except Exception:
        log.exception(SOCKET_FAILED, path=route.path)
        await opened.close(INTERNAL_ERROR)
