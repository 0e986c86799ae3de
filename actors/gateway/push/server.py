"""Push as the gateway has it: the server that it is itself, or another one that it tells what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

import anyio
import msgspec
import structlog
from msgspec import Struct

from actors.gateway.access.rules import base_url
from actors.gateway.push.channels import Channels
from actors.gateway.push.credentials import push_app
from actors.gateway.push.session_events import events_of, unsealed_news
from actors.gateway.push.signatures import PushApp
from actors.gateway.push.sockets import PushSockets
from actors.settings import Settings
from bus import Directory, Publisher, Requester
from bus.seal import Seal, UnsealError
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.push import (
    PUSH,
    AskChannels,
    ChannelAllowed,
    EventsTriggered,
    OpenChannels,
    PushEvent,
    PushNews,
    SealedPush,
)
from protocol.subjects import PUSH_CHANNELS, PUSH_NEWS

if TYPE_CHECKING:
    from actors.gateway.push.external import ExternalPush

log = structlog.stdlib.get_logger()

CHANNELS_NOT_HEARD: Final = "push_channels_not_heard"

GATEWAY: Final = "gateway"
LOOK_MS: Final = 200
"""How long replicas get to tell that they live."""

KEYS_EVERY_S: Final = 1.0
"""Between two looks for keys that have ended."""

_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class PushBus(Requester, Publisher, Directory, Protocol):
    """What push needs of the bus."""

    replica: str

    @property
    def seal(self) -> Seal | None:
        """What seals the news, for a gateway that was given the key."""
        ...

    async def flush(self) -> None:
        """Wait until what was published comes before what others publish from here on; raises FaultError."""
        ...


class PushAddress(Struct, frozen=True, kw_only=True):
    """Where a client connects to, by the names that clients of Pusher have for it."""

    enabled: bool
    key: str = ""
    host: str = ""
    port: int = 0
    path: str = ""
    tls: bool = False


@dataclass
class PushServer:
    """Push at one replica; `app` is None where there is none, `poster` is there where another server has the sockets.

    It takes news as soon as it is made, and passes it on while `running`.
    """

    bus: PushBus
    app: PushApp | None
    address: PushAddress
    channels: Channels
    sockets: PushSockets
    poster: ExternalPush | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether clients are connected to this gateway."""
        return self.app is not None and self.poster is None

    async def publish(self, events: tuple[PushEvent, ...]) -> None:
        """Have every gateway deliver events.

        Raises:
            FaultError: the bus is broken.
        """
        await self._publish_news(EventsTriggered(events=events))
        await self.bus.flush()  # whoever triggers the next one at another gateway has it delivered after these

    async def allow(self, socket_id: str, channel: str, caller: str) -> str:
        """Return what lets a socket of a caller subscribe to a channel, which ends with the caller's key.

        Raises:
            FaultError: there is no push, or the bus is broken.
        """
        if self.app is None:
            raise no_push()
        if self.is_embedded:
            await self._publish_news(ChannelAllowed(socket=socket_id, channel=channel, caller=caller))
        return self.app.channel_auth(socket_id, channel)

    def deliver(self, sealed: SealedPush) -> None:
        """Pass news on to the sockets of this replica."""
        if not self.channels.sockets:
            return
        news = unsealed_news(self.bus.seal, sealed)
        if isinstance(news, ChannelAllowed):
            self.channels.grant(news.socket, news.channel, news.caller)
        elif news is not None:
            for event in events_of(news):
                self.channels.deliver(event)

    def post(self, sealed: SealedPush) -> None:
        """Pass news on to another server, which one replica of all does."""
        if self.poster is None:
            return
        news = unsealed_news(self.bus.seal, sealed)
        if news is not None:
            self.poster.publish([one for one in events_of(news) if not self.channels.has_ended(one.caller)])

    def own_channels(self, prefix: str) -> OpenChannels:
        """Return the channels that are heard at this replica.

        Raises:
            FaultError: there is no push.
        """
        if self.bus.seal is None:
            raise no_push()
        counts = dict(self.channels.open_channels(prefix))
        return OpenChannels(sealed=self.bus.seal.seal(msgspec.json.encode(counts), PUSH))

    async def open_channels(self, prefix: str = "") -> Counter[str]:
        """Count the sockets that hear each channel, at all replicas that answer."""
        live = await self.bus.replicas(LOOK_MS)
        counts = self.channels.open_channels(prefix)

        async def ask(replica: str) -> None:
            try:
                answer = await self.bus.call(PUSH_CHANNELS.at(replica=replica), AskChannels(prefix=prefix))
                seal = self.bus.seal
                opened = b"{}" if seal is None else seal.unseal(answer.sealed, PUSH)
                counts.update(msgspec.json.decode(opened, type=dict[str, int]))
            except (FaultError, UnsealError) as error:
                log.warning(CHANNELS_NOT_HEARD, error=type(error).__name__)

        async with anyio.create_task_group() as tasks:
            for one in live:
                if one.actor == GATEWAY and one.replica != self.bus.replica:
                    tasks.start_soon(ask, one.replica)
        return counts

    async def follow_keys(self) -> None:
        """End the channels of those whose keys end, until this is cancelled."""
        while True:
            await anyio.sleep(KEYS_EVERY_S)
            self.channels.drop_ended()

    async def _publish_news(self, news: PushNews) -> None:
        if self.bus.seal is None:
            raise no_push()
        await self.bus.tell(PUSH_NEWS, SealedPush(sealed=self.bus.seal.seal(encode(news), PUSH)))


@asynccontextmanager
async def pushing(bus: PushBus, settings: Settings, has_ended: Callable[[str], bool]) -> AsyncGenerator[PushServer]:
    """Open push as the settings have it; within the block it works."""
    channels = Channels(has_ended)
    app = push_app(settings, bus.seal)
    sockets = PushSockets(
        app=None if settings.push_url else app,
        channels=channels,
        most=settings.push_sockets,
        activity_timeout_s=settings.push_activity_timeout_s,
    )
    server = PushServer(bus, app, push_address(settings, app), channels, sockets)
    async with AsyncExitStack() as opened:
        if app is not None and settings.push_url:
            from actors.gateway.push.external import posting  # noqa: PLC0415 - costs 60 ms, and most have no such server

            server.poster = await opened.enter_async_context(posting(app, settings))
        tasks = await opened.enter_async_context(anyio.create_task_group())
        tasks.start_soon(server.follow_keys)
        try:
            yield server
        finally:
            tasks.cancel_scope.cancel()


def push_address(settings: Settings, app: PushApp | None) -> PushAddress:
    """Return where clients connect to."""
    if app is None:
        return PushAddress(enabled=False)
    parts = urlsplit(settings.push_client_url or settings.push_url or base_url(settings))
    return PushAddress(
        enabled=True,
        key=app.key,
        host=parts.hostname or "",
        port=parts.port or _PORTS[parts.scheme],
        path=parts.path.rstrip("/"),
        tls=parts.scheme in {"https", "wss"},
    )


def no_push() -> FaultError:
    """Make the error for what there is no push for."""
    return FaultError(fault(Code.INTERNAL_UNAVAILABLE, "There is no push here: ask for the messages instead."))
