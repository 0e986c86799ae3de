"""Pusher protocol 7 as it stands on the wire: frames, names of channels, and the codes that sockets are closed with.

Nothing here reads a socket or a clock.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

MAX_DATA_BYTES: Final = 10_240
"""What the data of one event may have, as Pusher has it."""

MAX_FRAME_BYTES: Final = 16_384
"""What a client may send at once: it subscribes and answers pings, and no more."""

MAX_EVENT_CHARS: Final = 200
MAX_CHANNEL_CHARS: Final = 200
PROTOCOLS: Final = frozenset({"5", "6", "7"})
"""The versions that clients speak to whom data is a text of JSON; 7 has told them of the activity timeout since."""

PRIVATE: Final = "private-"
SESSION: Final = f"{PRIVATE}session-"
"""What the channel of a chat session begins with (001 §3.5)."""

ESTABLISHED: Final = "pusher:connection_established"
ERROR: Final = "pusher:error"
PING: Final = "pusher:ping"
PONG: Final = "pusher:pong"
SUBSCRIBE: Final = "pusher:subscribe"
UNSUBSCRIBE: Final = "pusher:unsubscribe"
SUBSCRIBED: Final = "pusher_internal:subscription_succeeded"
SUBSCRIPTION_ERROR: Final = "pusher:subscription_error"
CLIENT_EVENT: Final = "client-"
RESERVED: Final = ("pusher:", "pusher_internal:", CLIENT_EVENT)
"""What no server may trigger: these are the protocol's own, or clients'."""

_CHANNEL = re.compile(rf"[A-Za-z0-9_\-=@,.;]{{1,{MAX_CHANNEL_CHARS}}}")
_SOCKET_ID = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")


class Close(NamedTuple):
    """Why a socket is closed: 4000-4099 stay away, 4100-4199 come back later, 4200-4299 at once, 43xx stay away."""

    code: int
    message: str


UNKNOWN_APP: Final = Close(4001, "There is no app with this key.")
NO_PROTOCOL: Final = Close(4008, "The query names no protocol.")
UNKNOWN_PROTOCOL: Final = Close(4007, "This server speaks the protocols 5 to 7.")
OVER_CAPACITY: Final = Close(4100, "This server has as many connections as it may have.")
TOO_SLOW: Final = Close(4100, "This connection does not take what it is sent.")
GOING_AWAY: Final = Close(4200, "This server stops; connect again.")
TOO_MANY_GRANTS: Final = Close(4200, "This connection was given very many channels; connect again.")
NO_PONG: Final = Close(4201, "No pong came in time.")
TOO_MUCH: Final = Close(4301, "Too many messages, or one that is too large.")

NO_CLIENT_EVENTS: Final = Close(4301, "Clients trigger no events here.")
"""A frame that is refused; its socket stays open."""


class ClientFrame(Struct, frozen=True):
    """What a client sends; fields that are not known are passed over."""

    event: str
    data: Any = None
    channel: str = ""


class ChannelSubscription(Struct, frozen=True):
    """What a client wants to hear, and the signature that lets it."""

    channel: str
    auth: str = ""


_frames = msgspec.json.Decoder(ClientFrame)


def read_frame(text: str) -> ClientFrame | None:
    """Read what a client sends; None where it is no frame."""
    try:
        return _frames.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def read_subscription(data: Any) -> ChannelSubscription | None:
    """Read what stands in a frame that subscribes or unsubscribes, as an object or as a text of JSON."""
    try:
        if isinstance(data, str):
            return msgspec.json.decode(data, type=ChannelSubscription)
        return msgspec.convert(data, ChannelSubscription)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def frame(event: str, data: str, channel: str = "") -> str:
    """Write a frame; its `data` is a text of JSON in the JSON."""
    named = {"channel": channel} if channel else {}
    return msgspec.json.encode({"event": event, **named, "data": data}).decode()


def established(socket_id: str, activity_timeout_s: int) -> str:
    """Write the first frame that a client gets."""
    return frame(ESTABLISHED, _text({"socket_id": socket_id, "activity_timeout": activity_timeout_s}))


def error(code: int | None, message: str) -> str:
    """Write an error; its data is an object, as Pusher has it. Without a code it is no reason to leave."""
    return msgspec.json.encode({"event": ERROR, "data": {"code": code, "message": message}}).decode()


def subscribed(channel: str) -> str:
    """Write that a channel is heard from now on."""
    return frame(SUBSCRIBED, "{}", channel)


def subscription_refused(channel: str, status: int, message: str) -> str:
    """Write that a channel is not heard, or not any more."""
    return frame(SUBSCRIPTION_ERROR, _text({"type": "AuthError", "error": message, "status": status}), channel)


def is_channel(name: str) -> bool:
    """Return whether channels may be called so."""
    return _CHANNEL.fullmatch(name) is not None


def is_socket_id(text: str) -> bool:
    """Return whether this has the form of the id of a socket."""
    return _SOCKET_ID.fullmatch(text) is not None


def is_event(name: str) -> bool:
    """Return whether servers may trigger an event of this name."""
    return 0 < len(name) <= MAX_EVENT_CHARS and not name.startswith(RESERVED)


def _text(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
