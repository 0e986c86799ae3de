"""What one replica of the gateway has in hand that others on the bus address by its name."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import structlog
from msgspec import Struct

from actors.gateway.app_context import BusClient
from actors.gateway.event_feed import EventFeed
from actors.gateway.push.server import PushServer
from actors.gateway.request import Watchers
from protocol.collection_views import CollectionChanged
from protocol.faults import FaultError
from protocol.offers.results import OfferNews, Said
from protocol.policy import Approval
from protocol.replicas import CallCancelled, ClientReply
from protocol.subject_kinds import Event
from protocol.subjects import ANSWER_TEXT, EDGE_REPLY, OFFER_NEWS, OFFER_SAID, PROGRESS

if TYPE_CHECKING:
    from actors.gateway.mcp.offer_catalogue import Offers

log = structlog.stdlib.get_logger()

REPLY_LOST = "client_reply_lost"


class ReplicaState:
    """The state of one replica of the gateway: who waits in it for what, and which calls are in flight."""

    def __init__(self, replica: str) -> None:
        """Begin with nothing in hand."""
        self.replica = replica
        self.watchers = Watchers(replica)
        self.questions = PendingQuestions(replica)
        self.in_flight = InFlight()
        self.offers: Offers | None = None
        """What actors offer to clients of MCP, once there are any."""

        self.approval_news = EventFeed[Approval]()
        self.collection_news = EventFeed[CollectionChanged]()
        self.push: PushServer | None = None

    @property
    def events(self) -> tuple[tuple[Event[Any], Callable[[Any], Awaitable[None]]], ...]:
        """Return the events that concern whoever speaks MCP, each with its handler."""
        return (
            (PROGRESS, self.watchers.on_news),
            (ANSWER_TEXT, self.watchers.on_news),
            (OFFER_SAID, self.on_offer_said),
            (OFFER_NEWS, self.on_offer_news),
        )

    async def on_offer_news(self, news: OfferNews) -> None:
        """Take note of what has changed of what an actor brings to MCP."""
        if self.offers is not None:
            await self.offers.publish(news)

    async def on_offer_said(self, message: Said) -> None:
        """Pass on what an offering actor says of what it was asked from here."""
        if self.offers is not None:
            await self.offers.deliver(message)


@dataclass
class PendingQuestion:
    """A request to a client; `id` is that of its JSON-RPC request, `reply` the response as the client wrote it."""

    id: str
    caller: str
    replied: anyio.Event = field(default_factory=anyio.Event)
    reply: str = ""


class PendingQuestions(Struct, frozen=True):
    """The requests to clients of older versions whose responses one replica waits for.

    A question goes out on the stream of the call that it belongs to; the client's response is a request of its own, and
    may arrive at any replica. The id of a question names the replica that waits, and its other half cannot be guessed.
    """

    replica: str
    _pending: dict[str, PendingQuestion] = msgspec.field(default_factory=dict[str, PendingQuestion])

    @contextmanager
    def pending(self, caller: str) -> Generator[PendingQuestion]:
        """Keep a question pending while the block lasts, which this caller alone can answer."""
        name = secrets.token_urlsafe(_NAME_BYTES)
        question = self._pending[name] = PendingQuestion(f"{self.replica}.{name}", caller)
        try:
            yield question
        finally:
            del self._pending[name]

    def resolve(self, reply: ClientReply) -> bool:
        """Hand a reply to whoever waits for it, and return whether somebody did; the first reply counts."""
        question = self._pending.get(reply.question)
        if question is None or question.caller != reply.caller or question.replied.is_set():
            return False
        question.reply = reply.message
        question.replied.set()
        return True

    async def deliver(self, bus: BusClient, question_id: str, caller: str, message: str) -> bool:
        """Send a reply to the replica that waits for it, this one or another; False if that is no id of a question.

        Whether somebody still waits there is not returned: it is no business of whoever guesses ids.
        """
        match = _QUESTION_ID.fullmatch(question_id)
        if match is None:
            return False
        replica, question = match.groups()
        reply = ClientReply(question=question, caller=caller, message=message)
        if replica == self.replica:
            self.resolve(reply)
            return True
        try:
            await bus.call(EDGE_REPLY.at(replica=replica), reply)
        except FaultError as error:
            log.info(REPLY_LOST, code=error.fault.code)
        return True


class InFlight(Struct, frozen=True):
    """The calls of clients that one replica works on, which their clients may cancel at any replica.

    A client of an older version cancels by the id that it gave its request, and ids are counted anew by every client.
    So only a client that shows its own id can cancel, and only what came from its own caller under that id. What is
    open-ended has no end of its own.
    """

    _calls: dict[CallCancelled, set[anyio.CancelScope]] = msgspec.field(
        default_factory=dict[CallCancelled, set[anyio.CancelScope]]
    )
    _open_ended: set[anyio.CancelScope] = msgspec.field(default_factory=set[anyio.CancelScope])

    @contextmanager
    def cancellable(self, caller: str, client: str, request: str) -> Generator[anyio.CancelScope]:
        """Run the work in the block unless its client cancels it; without a client id it cannot be cancelled."""
        with anyio.CancelScope() as scope:
            if not client:
                yield scope
                return
            call = CallCancelled(caller=caller, client=client, request=request)
            scopes = self._calls.setdefault(call, set())
            scopes.add(scope)
            try:
                yield scope
            finally:
                scopes.discard(scope)
                if not scopes:
                    self._calls.pop(call, None)

    def cancel(self, call: CallCancelled) -> None:
        """Cancel this call, if it is in flight here."""
        for scope in self._calls.get(call, ()):
            scope.cancel()

    @contextmanager
    def open_ended(self) -> Generator[None]:
        """Run what is in the block until it is ended."""
        with anyio.CancelScope() as scope:
            self._open_ended.add(scope)
            try:
                yield
            finally:
                self._open_ended.discard(scope)

    def end_open_ended(self) -> None:
        """End whatever would go on for ever, so that nobody waits for it."""
        for scope in tuple(self._open_ended):
            scope.cancel()


_NAME_BYTES = 16
_QUESTION_ID = re.compile(r"([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})")
