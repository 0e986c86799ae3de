"""Questions to clients of the older era, whose replies may come in at any replica of the gateway.

A question goes out on the stream of the call that it belongs to; the client's reply is a request of its own. The id of
a question says which replica waits for it, and its other half cannot be guessed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import structlog

from actors.gateway.app_context import BusClient
from protocol.faults import FaultError
from protocol.replicas import ClientReply
from protocol.subjects import EDGE_REPLY

log = structlog.stdlib.get_logger()

REPLY_LOST = "client_reply_lost"

_NAME_BYTES = 16
_ID = re.compile(r"([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})")


@dataclass
class Question:
    """A question that is open; `id` is that of its JSON-RPC request, `reply` the answer as the client wrote it."""

    id: str
    caller: str
    replied: anyio.Event = field(default_factory=anyio.Event)
    reply: str = ""


@dataclass(frozen=True)
class Questions:
    """The open questions of one replica."""

    replica: str
    _open: dict[str, Question] = field(default_factory=dict[str, Question])

    @contextmanager
    def asked(self, caller: str) -> Generator[Question]:
        """Have a question open while the block lasts, which this caller alone can answer."""
        name = secrets.token_urlsafe(_NAME_BYTES)
        question = self._open[name] = Question(f"{self.replica}.{name}", caller)
        try:
            yield question
        finally:
            del self._open[name]

    def take(self, reply: ClientReply) -> bool:
        """Return a reply to whoever waits for it; tells whether somebody did. The first one counts."""
        question = self._open.get(reply.question)
        if question is None or question.caller != reply.caller or question.replied.is_set():
            return False
        question.reply = reply.message
        question.replied.set()
        return True

    async def deliver(self, bus: BusClient, to: str, caller: str, message: str) -> bool:
        """Return a reply to the replica that waits for it, this one or another; False if `to` is no id of a question.

        Whether somebody still waits there is not told: it is no business of whoever guesses ids.
        """
        found = _ID.fullmatch(to)
        if found is None:
            return False
        replica, question = found.groups()
        reply = ClientReply(question=question, caller=caller, message=message)
        if replica == self.replica:
            self.take(reply)
            return True
        try:
            await bus.call(EDGE_REPLY.at(replica=replica), reply)
        except FaultError as error:
            log.info(REPLY_LOST, code=error.fault.code)
        return True
