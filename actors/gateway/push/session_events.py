"""What clients are told of chat sessions: the events of 001 §3.5, none larger than Pusher takes.

Nothing here reads a clock or a socket.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from actors.gateway.chat_views import ChatMessageView, message_view
from actors.gateway.push.frames import MAX_DATA_BYTES, SESSION
from bus.seal import Seal, UnsealError
from protocol.acting.chats import ChatMessageAdded
from protocol.codec import MalformedError, decoder
from protocol.push import PUSH, ChannelAllowed, EventsTriggered, MessageTold, PushEvent, PushNews, RoundTold, SealedPush

NEW_MESSAGE: Final = "new_message"
INTERACT_RESPONSE: Final = "interact_response"

_SHORT_CHARS: Final = 1_000
"""What is left of a text in an event that would be too large."""


class NewMessage(Struct, frozen=True, kw_only=True, rename="camel"):
    """`new_message`: a message as it is read from a session, or its summary, which says so in its metadata."""

    type: Literal["new_message"] = NEW_MESSAGE
    session_id: str
    message: ChatMessageView


class InteractResponse(Struct, frozen=True, kw_only=True, rename="camel"):
    """`interact_response`: a round was answered."""

    type: Literal["interact_response"] = INTERACT_RESPONSE
    session_id: str
    task_id: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    thought: str | UnsetType = UNSET
    status: str
    current_step_index: int | UnsetType = UNSET
    verification: dict[str, Any] | UnsetType = UNSET
    correction: dict[str, Any] | UnsetType = UNSET


def unsealed_news(seal: Seal | None, sealed: SealedPush) -> PushNews | None:
    """Open news; None where this replica has no key to it, or nobody who has one has sealed it."""
    if seal is None:
        return None
    try:
        news: PushNews = decoder(PushNews).decode(seal.unseal(sealed.sealed, PUSH))
    except (UnsealError, MalformedError):
        return None
    return news


def events_of(news: PushNews) -> tuple[PushEvent, ...]:
    """Return the events that news come to."""
    match news:
        case MessageTold(message=message):
            return (_event(message.session, message.caller, NEW_MESSAGE, message_data(message)),)
        case RoundTold():
            return (_event(news.session, news.caller, INTERACT_RESPONSE, round_data(news)),)
        case EventsTriggered(events=events):
            return events
        case ChannelAllowed():
            return ()


def message_data(message: ChatMessageAdded) -> str:
    """Write the data of `new_message`; of one that would be too large, its id and the beginning."""
    whole = message_view(message)
    task: dict[str, Any] = {"taskId": message.task} if message.task else {}
    short = ChatMessageView(
        message_id=whole.message_id,
        role=whole.role,
        content=whole.content[:_SHORT_CHARS],
        timestamp=whole.timestamp,
        sequence_number=whole.sequence_number,
        status=whole.status,
        metadata=task | {"truncated": True},
    )
    event = NewMessage(session_id=message.session, message=whole)
    return _fitting(event, replace(event, message=short))


def round_data(answered: RoundTold) -> str:
    """Write the data of `interact_response`; of one that would be too large, what fits."""
    data = answered.data
    whole = InteractResponse(
        session_id=answered.session,
        task_id=data.task_id,
        action=data.action,
        thought=data.thought,
        status=data.status,
        current_step_index=data.current_step,
        verification=data.verification,
        correction=data.correction,
    )
    thought = UNSET if whole.thought is UNSET else whole.thought[:_SHORT_CHARS]
    action = UNSET if whole.action is UNSET or len(whole.action) > _SHORT_CHARS else whole.action
    return _fitting(whole, replace(whole, thought=thought, action=action, verification=UNSET))


def _event(session: str, caller: str, event: str, data: str) -> PushEvent:
    return PushEvent(channel=SESSION + session, event=event, data=data, caller=caller)


def _fitting(whole: Struct, short: Struct) -> str:
    written = msgspec.json.encode(whole)
    return (written if len(written) <= MAX_DATA_BYTES else msgspec.json.encode(short)).decode()
