"""The sockets of push at this replica, and the channels that each of them has subscribed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from actors.gateway.push.frames import (
    GOING_AWAY,
    PRIVATE,
    TOO_MANY_GRANTS,
    Close,
    frame,
    is_channel,
    subscribed,
    subscription_refused,
)
from actors.gateway.push.signatures import PushApp
from protocol.push import PushEvent

MAX_CHANNELS: Final = 100
"""Channels that one socket may subscribe to: a client has one for each tab that it works in."""

MAX_GRANTS: Final = 2 * MAX_CHANNELS
"""Channels that one socket may have signatures for, over all its life."""

_REFUSED: Final = "The connection is unauthorized."
_ENDED: Final = "The key of this channel has ended."


class FrameReceiver(Protocol):
    """A socket that frames are sent to."""

    id: str

    def send(self, text: str) -> None:
        """Queue a frame; a socket that is too far behind is closed."""
        ...

    def end(self, close: Close) -> None:
        """Close the socket, and say why."""
        ...


@dataclass(eq=False)
class _Subscriber:
    """One socket, and its channels.

    `grants` says to which caller each signature was given, as far as that is known. A signature is good as long as its
    socket, so a grant outlives the subscription: nobody subscribes by it again once the key has ended.
    """

    receiver: FrameReceiver
    channels: set[str] = field(default_factory=set[str])
    grants: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Channels:
    """The sockets of one replica, and the channels of each.

    `has_ended` says of a caller whether their key is good no more: their channels are over then. `closing`: this
    replica is about to stop.
    """

    has_ended: Callable[[str], bool] = lambda _: False
    closing: bool = field(default=False, init=False)
    _sockets: dict[str, _Subscriber] = field(default_factory=dict[str, _Subscriber], init=False, repr=False)
    _channels: dict[str, dict[str, _Subscriber]] = field(
        default_factory=dict[str, dict[str, _Subscriber]], init=False, repr=False
    )

    @property
    def sockets(self) -> int:
        """How many sockets are open."""
        return len(self._sockets)

    @contextmanager
    def connected(self, receiver: FrameReceiver) -> Generator[None]:
        """Have a socket take part while the block lasts."""
        self._sockets[receiver.id] = subscriber = _Subscriber(receiver)
        try:
            yield
        finally:
            for channel in tuple(subscriber.channels):
                self._remove(subscriber, channel)
            del self._sockets[receiver.id]

    def subscribe(self, receiver: FrameReceiver, app: PushApp, channel: str, auth: str) -> None:
        """Subscribe a socket to a channel, or tell it why not."""
        subscriber = self._sockets[receiver.id]
        refusal = self._refusal(subscriber, app, channel, auth)
        if refusal is not None:
            receiver.send(subscription_refused(channel, *refusal))
            return
        subscriber.channels.add(channel)
        self._channels.setdefault(channel, {})[receiver.id] = subscriber
        receiver.send(subscribed(channel))

    def unsubscribe(self, receiver: FrameReceiver, channel: str) -> None:
        """Unsubscribe a socket from a channel."""
        self._remove(self._sockets[receiver.id], channel)

    def grant(self, socket_id: str, channel: str, caller: str) -> None:
        """Note to whom the signature for a channel was given; it may come before the subscription or after it."""
        subscriber = self._sockets.get(socket_id)
        if subscriber is None:
            return
        subscriber.grants[channel] = caller
        if len(subscriber.grants) > MAX_GRANTS:
            subscriber.receiver.end(TOO_MANY_GRANTS)

    def deliver(self, event: PushEvent) -> None:
        """Queue an event for all subscribers of its channel."""
        subscribers = tuple(self._channels.get(event.channel, {}).values())
        if not subscribers:
            return
        if event.caller and self.has_ended(event.caller):
            for subscriber in subscribers:
                self._end(subscriber, event.channel)
            return
        text = frame(event.event, event.data, event.channel)
        for subscriber in subscribers:
            if subscriber.receiver.id != event.without:
                subscriber.receiver.send(text)

    def drop_ended(self) -> None:
        """End the channels of those whose keys have ended."""
        callers = {caller for subscriber in self._sockets.values() for caller in subscriber.grants.values()}
        ended = {caller for caller in callers if self.has_ended(caller)}
        for subscriber in tuple(self._sockets.values()) if ended else ():
            for channel in [name for name in subscriber.channels if subscriber.grants.get(name) in ended]:
                self._end(subscriber, channel)

    def open_channels(self, prefix: str = "") -> Counter[str]:
        """Count the subscribers of each channel whose name begins so."""
        counts = {name: len(those) for name, those in self._channels.items() if name.startswith(prefix)}
        return Counter(counts)

    def end(self) -> None:
        """Close every socket, and those that come yet: clients connect again, to what does not stop."""
        self.closing = True
        for subscriber in tuple(self._sockets.values()):
            subscriber.receiver.end(GOING_AWAY)

    def _refusal(self, subscriber: _Subscriber, app: PushApp, channel: str, auth: str) -> tuple[int, str] | None:
        if not is_channel(channel) or not channel.startswith(PRIVATE):
            return 403, f"There are channels whose names begin with {PRIVATE} only."
        if not app.allows(subscriber.receiver.id, channel, auth):
            return 401, _REFUSED
        if self.has_ended(subscriber.grants.get(channel, "")):
            return 401, _ENDED
        if len(subscriber.channels) >= MAX_CHANNELS and channel not in subscriber.channels:
            return 403, f"A connection has {MAX_CHANNELS} channels at most."
        return None

    def _end(self, subscriber: _Subscriber, channel: str) -> None:
        subscriber.receiver.send(subscription_refused(channel, 401, _ENDED))
        self._remove(subscriber, channel)

    def _remove(self, subscriber: _Subscriber, channel: str) -> None:
        subscriber.channels.discard(channel)
        subscribers = self._channels.get(channel, {})
        subscribers.pop(subscriber.receiver.id, None)
        if not subscribers:
            self._channels.pop(channel, None)
