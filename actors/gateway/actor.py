"""The actor that speaks with the outside."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec
import structlog
from anyio import to_thread

from actors.actor import Actor, handles, subscribes
from actors.gateway.access.limits import connection_limits
from actors.gateway.edge import edge
from actors.gateway.mcp import HANDLES
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.push.credentials import check_push
from actors.gateway.push.server import no_push
from actors.gateway.rest import endpoints, routing
from actors.gateway.server import serving
from actors.settings import Settings
from protocol import subjects
from protocol.acting.act import TASK_VALUES
from protocol.answers import AnswerText
from protocol.browsers.operations import TYPING
from protocol.collection_views import CollectionChanged
from protocol.offers.results import OfferNews, Said
from protocol.policy import Approval
from protocol.push import PUSH, PUSH_APP, AskChannels, OpenChannels, SealedPush
from protocol.replicas import CallCancelled, ClientReply, Progress, ReplyTaken
from protocol.runs.requests import INPUTS as RUN_INPUTS
from protocol.sessions import PASS, SAVING
from protocol.subject_kinds import Bucket, Objects, Subject

log = structlog.stdlib.get_logger()

LISTENING = "gateway_listening"

_BACKLOG = 1_024


@dataclass
class Gateway(Actor):
    """Speaks MCP and REST with the outside: translates, and owns no rule.

    `listener` is a socket that listens already; without one the gateway opens the address of the settings. `origins`
    says where each of those comes from.
    """

    name: ClassVar[str] = "gateway"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.BROWSE,
        subjects.PREVIEW,
        subjects.DOMAIN,
        subjects.PATTERN_LIST,
        subjects.PATTERN_SHOW,
        subjects.PATTERN_VERIFY,
        subjects.PATTERN_FORGET,
        subjects.PATTERN_EXPORT,
        subjects.PATTERN_IMPORT,
        subjects.PATTERN_FEEDBACK,
        subjects.API_CALL,
        subjects.SESSION_SAVE,
        subjects.SESSION_LIST,
        subjects.SESSION_HEALTH,
        subjects.SESSION_DELETE,
        subjects.SESSION_REFRESH,
        subjects.SESSION_SHARE,
        subjects.RUN_TEMPLATES,
        subjects.RUN_CREATE,
        subjects.RUN_CANCEL,
        subjects.RUN_GET,
        subjects.RUN_LIST,
        subjects.RUN_FOLLOW,
        subjects.ARTIFACT_READ,
        subjects.SUMMARIZE,
        subjects.ANSWER,
        subjects.EXTRACT,
        subjects.MAKE_TEXT,
        subjects.AGENT,
        subjects.AGENT_PLAN,
        subjects.CONVERSATION_LIST,
        subjects.CONVERSATION_GET,
        subjects.RECORDING_LIST,
        subjects.RECORDING_GET,
        subjects.VISIT_LIST,
        subjects.VISIT_GET,
        subjects.ROUTES,
        subjects.ROUTE,
        subjects.ROUTE_CONFIG,
        subjects.ROUTE_SET,
        subjects.ROUTE_UNSET,
        subjects.ROUTE_METRICS,
        subjects.ROUTE_AUDIT,
        subjects.PROVIDERS,
        subjects.PROVIDER_TEST,
        subjects.BROWSER,
        subjects.BROWSERS,
        subjects.POLICY_CALL,
        subjects.POLICY_DECIDE,
        subjects.APPROVAL_LIST,
        subjects.APPROVAL_GET,
        subjects.APPROVAL_ANSWER,
        subjects.COLLECTION_LIST,
        subjects.COLLECTION_GET,
        subjects.COLLECTION_IMPORT,
        subjects.SOURCE_GET,
        subjects.TEXT_LIST,
        subjects.TEXT_GET,
        subjects.INTERACT,
        subjects.ACT,
        subjects.FLOW_RECORD,
        subjects.FLOW_KEEP,
        subjects.FLOW_GET,
        subjects.FLOW_LIST,
        subjects.FLOW_FORGET,
        subjects.TASK_GET,
        subjects.TASK_RESUME,
        subjects.CHAT_OPEN,
        subjects.CHAT_CHANGE,
        subjects.CHAT_LIST,
        subjects.CHAT_MESSAGES,
        subjects.DELIVERY_LIST,
        subjects.DELIVERY_GET,
        subjects.DELIVERY_RESEND,
        subjects.DELIVERY_DROP,
        subjects.OFFERED,
        subjects.EDGE_REPLY,
        subjects.CALL_CANCELLED,
        subjects.PUSH_CHANNELS,
        subjects.PUSH_NEWS,
    )
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.KEYS, subjects.KEY_ENDS, subjects.USAGE, subjects.OFFERS)
    stores: ClassVar[tuple[Objects, ...]] = (subjects.CAPTURES, subjects.VISIT_SCREENSHOTS)
    purposes: ClassVar[tuple[str, ...]] = (SAVING, PASS, RUN_INPUTS, TYPING, HANDLES, TASK_VALUES, PUSH, PUSH_APP)
    """What is handed in is sealed before it travels, and what clients carry for us before it leaves; from the last one
    the credentials of push are derived."""

    listener: socket.socket | None = None
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    state: ReplicaState = field(init=False)

    def __post_init__(self) -> None:
        """Be known to the other actors by the name of the replica."""
        self.state = ReplicaState(self.bus.replica)

    @classmethod
    def warm(cls) -> None:
        """Make the decoders of what REST takes, and the patterns of its paths."""
        routing.warm(endpoints.ENDPOINTS)

    @classmethod
    def check(cls, settings: Settings) -> None:
        """See to it that the credentials of push are all there.

        Raises:
            FaultError: CONFIG_INVALID.
        """
        check_push(settings)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None, None]:
        """Serve HTTP while the block lasts, then finish what is in hand within `drain_ms`."""
        listener = self.listener if self.listener is not None else await to_thread.run_sync(_listen, self.settings)
        host, port = listener.getsockname()[:2]
        settings = msgspec.structs.replace(self.settings, port=port)
        async with (
            edge(self.bus, settings, self.bus.version, self.state, self.origins) as (app, abandon),
            serving(app, listener, settings.drain_ms, abandon, connection_limits(settings)),
        ):
            log.info(LISTENING, host=host, port=port)
            try:
                yield
            finally:
                self.state.in_flight.end_open_ended()
                if self.state.push is not None:
                    self.state.push.channels.end()

    @subscribes(subjects.PROGRESS, at_once=1)
    async def on_progress(self, progress: Progress) -> None:
        """Pass on how far work is that somebody waits for here."""
        await self.state.watchers.on_news(progress)

    @subscribes(subjects.ANSWER_TEXT, at_once=1)
    async def on_answer_text(self, text: AnswerText) -> None:
        """Pass on what was written further of an answer that somebody waits for here."""
        await self.state.watchers.on_news(text)

    @subscribes(subjects.OFFER_NEWS, at_once=1)
    async def on_offer_news(self, news: OfferNews) -> None:
        """Take note of what has changed of what an actor brings to MCP."""
        await self.state.on_offer_news(news)

    @subscribes(subjects.OFFER_SAID, at_once=1)
    async def on_offer_said(self, message: Said) -> None:
        """Pass on what an offering actor says of what it was asked from here."""
        await self.state.on_offer_said(message)

    @subscribes(subjects.APPROVAL_NEWS, at_once=1)
    async def on_approval_news(self, approval: Approval) -> None:
        """Pass on what waits, or was answered, to the clients who follow approvals here."""
        await self.state.approval_news.publish(approval)

    @subscribes(subjects.COLLECTION_CHANGED, at_once=1)
    async def on_collection_changed(self, change: CollectionChanged) -> None:
        """Pass on what has changed of a collection to the clients who follow it here."""
        await self.state.collection_news.publish(change)

    @subscribes(subjects.PUSH_NEWS, at_once=1)
    async def on_push_news(self, sealed: SealedPush) -> None:
        """Deliver news to the clients who are connected here."""
        if self.state.push is not None:
            self.state.push.deliver(sealed)

    @subscribes(subjects.PUSH_NEWS, at_once=1, shared=True)
    async def on_shared_push_news(self, sealed: SealedPush) -> None:
        """Post news to another server of push, as the one replica that does."""
        if self.state.push is not None:
            self.state.push.post(sealed)

    @handles(subjects.PUSH_CHANNELS, at_once=16)
    async def on_channels(self, request: AskChannels) -> OpenChannels:
        """Return which channels are heard here.

        Raises:
            FaultError: there is no push.
        """
        if self.state.push is None:
            raise no_push()
        return self.state.push.own_channels(request.prefix)

    @handles(subjects.EDGE_REPLY, at_once=64)
    async def on_client_reply(self, reply: ClientReply) -> ReplyTaken:
        """Take the reply of a client that came in at another replica."""
        return ReplyTaken(taken=self.state.questions.resolve(reply))

    @subscribes(subjects.CALL_CANCELLED, at_once=1)
    async def on_call_cancelled(self, call: CallCancelled) -> None:
        """Stop what a client wants no more, if it is done here."""
        self.state.in_flight.cancel(call)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
