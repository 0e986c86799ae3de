"""Messages of chat sessions as clients of 001 get them, whether they ask for them or are told (001 §3.3, §3.5)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from protocol.acting.chats import ChatMessageAdded


class ChatMessageView(Struct, frozen=True, kw_only=True, rename="camel"):
    """A message as 001 has it (§3.3); `timestamp` in ISO 8601."""

    message_id: str
    role: Literal["user", "assistant", "system"]
    content: str
    timestamp: str
    sequence_number: int
    status: str | UnsetType = UNSET
    action_string: str | UnsetType = UNSET
    action_payload: dict[str, Any] | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET
    dom_summary: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


def message_view(message: ChatMessageAdded) -> ChatMessageView:
    """Return a message as 001 has it, over REST and over push alike."""
    metadata = dict(message.metadata or {}) | ({"taskId": message.task} if message.task else {})
    return ChatMessageView(
        message_id=message.message,
        role=message.role,
        content=message.content,
        timestamp=iso(message.at),
        sequence_number=message.number,
        status=message.status or UNSET,
        action_string=message.action or UNSET,
        action_payload=message.action_payload or UNSET,
        error=message.error or UNSET,
        dom_summary=message.summary or UNSET,
        metadata=metadata or UNSET,
    )


def iso(at_ms: int) -> str:
    """Return a time as 001 has it, such as 2026-01-30T10:00:00.000Z."""
    written = datetime.fromtimestamp(at_ms / 1_000, UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")
