"""Who hears what at this replica: its sockets of push, and the channels that they have subscribed to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from actors.gateway.push.frames import (
    GOING_AWAY,
    PRIVATE,
    Close,
    frame,
    is_channel,
    subscribed,
    subscription_refused,
)
from actors.gateway.push.signatures import PushApp
from protocol.push import PushEvent

MAX_CHANNELS: Final = 100
"""Channels that one socket may hear: a client has one for each tab that it works in."""

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
class _Heard:
    """What one socket hears: `allowed` says to whom the signature of a channel was given, where that is known."""

    listener: FrameReceiver
    channels: set[str] = field(default_factory=set[str])
    allowed: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Channels:
    """The sockets of one replica, and what each of them hears.

    `has_ended` says of a caller whether their key is good no more: their channels are over then. `closing`: this
    replica is about to stop.
    """

    has_ended: Callable[[str], bool] = lambda _: False
    closing: bool = field(default=False, init=False)
    _sockets: dict[str, _Heard] = field(default_factory=dict[str, _Heard], init=False, repr=False)
    _channels: dict[str, dict[str, _Heard]] = field(
        default_factory=dict[str, dict[str, _Heard]], init=False, repr=False
    )

    @property
    def sockets(self) -> int:
        """How many sockets are open."""
        return len(self._sockets)

    @contextmanager
    def connected(self, listener: FrameReceiver) -> Generator[None]:
        """Have a socket take part while the block lasts."""
        self._sockets[listener.id] = heard = _Heard(listener)
        try:
            yield
        finally:
            for channel in tuple(heard.channels):
                self._leave(heard, channel)
            del self._sockets[listener.id]

    def subscribe(self, listener: FrameReceiver, app: PushApp, channel: str, auth: str) -> None:
        """Have a socket hear a channel, or tell it why not."""
        heard = self._sockets[listener.id]
        complaint = self._complaint(heard, app, channel, auth)
        if complaint is not None:
            listener.send(subscription_refused(channel, *complaint))
            return
        heard.channels.add(channel)
        self._channels.setdefault(channel, {})[listener.id] = heard
        listener.send(subscribed(channel))

    def unsubscribe(self, listener: FrameReceiver, channel: str) -> None:
        """Have a socket hear a channel no more."""
        self._leave(self._sockets[listener.id], channel)

    def allow(self, socket_id: str, channel: str, caller: str) -> None:
        """Note to whom the signature for a channel was given; it may come before the subscription or after it."""
        heard = self._sockets.get(socket_id)
        if heard is not None and (channel in heard.allowed or len(heard.allowed) < 2 * MAX_CHANNELS):
            heard.allowed[channel] = caller

    def deliver(self, event: PushEvent) -> None:
        """Queue an event for everybody who hears its channel."""
        if event.caller and self.has_ended(event.caller):
            self._over(event.channel)
            return
        subscribers = self._channels.get(event.channel)
        if not subscribers:
            return
        text = frame(event.event, event.data, event.channel)
        for socket_id, heard in tuple(subscribers.items()):
            if socket_id != event.without:
                heard.listener.send(text)

    def drop_ended(self) -> None:
        """End the channels of those whose keys have ended."""
        callers = {caller for heard in self._sockets.values() for caller in heard.allowed.values()}
        ended = {caller for caller in callers if self.has_ended(caller)}
        for heard in tuple(self._sockets.values()) if ended else ():
            for channel in [name for name, caller in heard.allowed.items() if caller in ended]:
                self._refuse(heard, channel)

    def open_channels(self, prefix: str = "") -> Counter[str]:
        """Count the sockets that hear each channel whose name begins so."""
        counts = {name: len(heard) for name, heard in self._channels.items() if name.startswith(prefix)}
        return Counter(counts)

    def end(self) -> None:
        """Close every socket, and those that come yet: clients connect again, to what does not stop."""
        self.closing = True
        for heard in tuple(self._sockets.values()):
            heard.listener.end(GOING_AWAY)

    def _complaint(self, heard: _Heard, app: PushApp, channel: str, auth: str) -> tuple[int, str] | None:
        if not is_channel(channel) or not channel.startswith(PRIVATE):
            return 403, f"There are channels whose names begin with {PRIVATE} only."
        if not app.allows(heard.listener.id, channel, auth):
            return 401, _REFUSED
        if self.has_ended(heard.allowed.get(channel, "")):
            return 401, _ENDED
        if len(heard.channels) >= MAX_CHANNELS and channel not in heard.channels:
            return 403, f"A connection hears {MAX_CHANNELS} channels at most."
        return None

    def _over(self, channel: str) -> None:
        for heard in tuple(self._channels.get(channel, {}).values()):
            self._refuse(heard, channel)

    def _refuse(self, heard: _Heard, channel: str) -> None:
        if channel in heard.channels:
            heard.listener.send(subscription_refused(channel, 401, _ENDED))
        self._leave(heard, channel)

    def _leave(self, heard: _Heard, channel: str) -> None:
        heard.channels.discard(channel)
        heard.allowed.pop(channel, None)
        subscribers = self._channels.get(channel, {})
        subscribers.pop(heard.listener.id, None)
        if not subscribers:
            self._channels.pop(channel, None)
