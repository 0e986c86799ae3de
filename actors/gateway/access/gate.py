"""The gate before every request and every socket: who is asked, from where, by whom, and how often."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.access import refusals
from actors.gateway.access.caller import NOBODY, Caller
from actors.gateway.access.credentials import Credentials
from actors.gateway.access.limits import Hands, Kind, Rates, Room, address_of
from actors.gateway.access.rules import Asked, Rules, asked
from actors.gateway.access.security_headers import preflight
from actors.gateway.access.usage import Ledger, RequestUsage
from actors.gateway.http.answers import RefusedError, refusal
from actors.gateway.request import RequestContext, with_request

_EVENTS = b"text/event-stream"
_FAILED = HTTPStatus.BAD_REQUEST
"""The least status that counts as an error."""


@dataclass(frozen=True)
class Visitor:
    """Who was let in: the caller, the name that its limits go by, and how they stand."""

    caller: Caller
    account: str
    room: Room


@dataclass
class AccessControl:
    """Lets in whom the rules, the credentials and the rates allow, over HTTP and WebSocket alike."""

    rules: Rules
    credentials: Credentials
    rates: Rates
    anonymous: Rates
    hands: Hands
    ledger: Ledger

    async def let_in(self, scope: Scope, request: Asked, *, needs_key: bool) -> Visitor:
        """Return who comes in; `request` has passed the rules.

        Raises:
            RefusedError: why nobody does.
        """
        address = address_of(scope.get("client"))
        if needs_key and request.authorizations:
            who = await self.credentials.holder(request.authorizations, address)
            account, rates = who.name, self.rates
        else:
            who, account, rates = NOBODY, f"address {address}", self.anonymous
        room = rates.take(account)
        if room.wait_ms > 0:
            raise refusals.too_often(room)
        if needs_key and who is NOBODY:
            raise refusals.unknown(self.credentials.challenge, shown=False)
        return Visitor(who, account, room)


class Gate:
    """ASGI: lets pass the HTTP requests that are let in."""

    def __init__(self, app: ASGIApp, access: AccessControl) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = asked(scope)
        try:
            self._access.rules.check(request)
            if (answer := preflight(scope)) is not None:
                return await answer(scope, receive, send)
            needs_key = scope["path"] not in self._access.rules.open_paths
            visitor = await self._access.let_in(scope, request, needs_key=needs_key)
            return await self._pass(visitor, scope, receive, send)
        except RefusedError as error:
            return await refusal(error)(scope, receive, send)

    async def _pass(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        hands, account = self._access.hands, visitor.account
        if not hands.take(Kind.REQUEST, account):
            raise refusals.too_many(Kind.REQUEST, hands.most[Kind.REQUEST])
        passage = Passage(visitor, hands, send)
        counted = nullcontext(RequestUsage()) if visitor.caller is NOBODY else self._access.ledger.counting(account)
        try:
            with counted as passage.usage, passage.work:
                request = RequestContext(caller=visitor.caller, usage=passage.usage)
                await self._app(with_request(scope, request), receive, passage.tell)
        finally:
            hands.leave(passage.place, account)
        if passage.crowded:
            raise refusals.too_many(Kind.STREAM, hands.most[Kind.STREAM])


@dataclass
class Passage:
    """One request that was let in, on the way back: its limits are told, and streams have places of their own.

    `work` is stopped where it begins a stream that there is no place for.
    """

    visitor: Visitor
    hands: Hands
    send: Send
    place: Kind = Kind.REQUEST
    usage: RequestUsage = field(default_factory=RequestUsage)
    crowded: bool = False
    work: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def tell(self, message: Message) -> None:
        """Send, with the limits on the answer."""
        if message["type"] == "http.response.start":
            headers: list[tuple[bytes, bytes]] = message.get("headers", [])
            if _is_stream(headers) and not self._is_placed():
                self.crowded = True
                self.work.cancel()
                await anyio.sleep_forever()
            if message["status"] >= _FAILED:
                self.usage.failed = True
            message["headers"] = [*headers, *self.visitor.room.headers]
        await self.send(message)

    def _is_placed(self) -> bool:
        """Move from the place of a request to that of a stream, if there is one."""
        if not self.hands.take(Kind.STREAM, self.visitor.account):
            return False
        self.hands.leave(self.place, self.visitor.account)
        self.place = Kind.STREAM
        return True


def _is_stream(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(_EVENTS) for name, value in headers)
