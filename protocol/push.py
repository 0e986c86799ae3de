"""What gateways tell the clients that are connected to them: news of chat sessions, and what servers have triggered."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from protocol.acting.chats import ChatMessageAdded
from protocol.acting.interact import InteractData

PUSH: Final = "push-news"
"""The purpose, and the place, that this news is sealed for: nobody but those who tell and pass it on can read it."""

PUSH_APP: Final = "push-app"
"""The purpose that the credentials of the push server are derived for, which gateways alone have."""


class MessageTold(Struct, frozen=True, kw_only=True, tag="message"):
    """A message was added to a chat session."""

    message: ChatMessageAdded


class RoundTold(Struct, frozen=True, kw_only=True, tag="round"):
    """A round was answered; `data` has the places of values where its client gets the values themselves."""

    session: str
    caller: str
    data: InteractData


class PushEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event for those who have subscribed to a channel, but for the socket `without`; `data` is text of JSON.

    `caller` is whose channel it is: what is theirs ends with their key.
    """

    channel: str
    event: str
    data: str
    without: str = ""
    caller: str = ""


class EventsTriggered(Struct, frozen=True, kw_only=True, tag="triggered"):
    """A server that has the secret has triggered events, which are delivered in their order."""

    events: tuple[PushEvent, ...]


class ChannelAllowed(Struct, frozen=True, kw_only=True, tag="allowed"):
    """A caller was given the signature by which a socket subscribes to a channel."""

    socket: str
    channel: str
    caller: str


PushNews = MessageTold | RoundTold | EventsTriggered | ChannelAllowed
"""What every gateway hears."""


class SealedPush(Struct, frozen=True, kw_only=True):
    """PUSH_NEWS: news in JSON, sealed for PUSH."""

    sealed: bytes


class AskChannels(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """PUSH_CHANNELS: which channels somebody has subscribed to at this replica, by how their names begin."""

    prefix: str = ""


class OpenChannels(Struct, frozen=True, kw_only=True):
    """How many sockets have subscribed to each channel, sealed for PUSH: a mapping in JSON."""

    sealed: bytes
