"""The LLMCP packet, the one envelope of all that travels on the bus, and its citations (003 "Protocol envelope")."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.confidence import Score
from protocol.documents import Content, Document, NonEmpty
from protocol.faults import Fault
from protocol.render import Doc


class Locator(Struct, frozen=True, kw_only=True):
    """A hint where in the source the evidence stands."""

    type: Literal["text_fragment", "section_heading"]
    value: str


class Citation(Struct, frozen=True, kw_only=True):
    """Evidence for a claim: `doc_id` of a page, or `source_id` of a collection's source, or both."""

    source_id: str | UnsetType = UNSET
    doc_id: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    quote: str | UnsetType = UNSET
    locator: Locator | UnsetType = UNSET
    confidence: Score | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse a citation that cites nothing."""
        if not self.source_id and not self.doc_id:
            msg = "a citation names a doc_id or a source_id"
            raise ValueError(msg)


PROTOCOL_NAME: Final = "laika.llmcp"
PROTOCOL_VERSION: Final = 1

A = TypeVar("A")
R = TypeVar("R")

Moment = Annotated[datetime, Meta(tz=True)]
"""A time with its offset; we write UTC (003 "Required fields")."""


class Protocol(Struct, frozen=True, kw_only=True):
    """Which protocol, and which version of it."""

    name: Literal["laika.llmcp"]
    version: Literal[1]


class Conversation(Struct, frozen=True, kw_only=True):
    """The piece of a user's work that a packet belongs to; `turn` grows within it."""

    id: NonEmpty
    turn: Annotated[int, Meta(ge=0)] = 0


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    AGENT = "agent"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Sender(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who sent a packet; `actor` names the replica (an addition to the seed)."""

    role: Role
    actor: str = ""


class UserMessage(Struct, frozen=True, kw_only=True):
    """What the user said."""

    id: NonEmpty
    text: str


class Task(Struct, Generic[A], frozen=True, kw_only=True):
    """What is to be done, with its arguments."""

    name: NonEmpty
    args: A


class Input(Struct, Generic[A], frozen=True, kw_only=True):
    """What a request asks for."""

    task: Task[A]
    user_message: UserMessage | UnsetType = UNSET


class Context(Struct, frozen=True, kw_only=True):
    """The evidence that comes with a request."""

    documents: tuple[Document[Content], ...] = ()


class Output(Struct, frozen=True, kw_only=True):
    """The form of the answer; `markdown` has no envelope and no tool calls."""

    format: Literal["json", "markdown"] = "json"


class Request(Struct, Generic[A], frozen=True, kw_only=True, tag_field="type", tag="request"):
    """A packet that asks, or, when nobody answers it, tells. Ids are UUIDs when we write them."""

    protocol: Protocol
    id: NonEmpty
    created_at: Moment
    conversation: Conversation
    sender: Sender
    input: Input[A]
    context: Context | UnsetType = UNSET
    output: Output | UnsetType = UNSET


class ToolCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal of a model, exactly name and arguments; the policy gate decides (003 "Tool call schema")."""

    name: NonEmpty
    arguments: dict[str, Any]


class Assistant(Struct, frozen=True, kw_only=True):
    """An answer for a person or a model. We write `render`; `markdown` is read when it is all there is."""

    title: str | UnsetType = UNSET
    render: Doc | UnsetType = UNSET
    markdown: str | UnsetType = UNSET
    citations: tuple[Citation, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an answer without words."""
        if self.render is UNSET and self.markdown is UNSET:
            msg = "an assistant's answer has render (or, leniently, markdown)"
            raise ValueError(msg)


class InReplyTo(Struct, frozen=True, kw_only=True):
    """The request that a response answers."""

    request_id: NonEmpty


class Response(Struct, Generic[R], frozen=True, kw_only=True, tag_field="type", tag="response"):
    """A packet that answers with exactly one of `assistant`, `result` (an actor's typed answer) and `error`."""

    protocol: Protocol
    id: NonEmpty
    created_at: Moment
    conversation: Conversation
    sender: Sender
    in_reply_to: InReplyTo
    assistant: Assistant | UnsetType = UNSET
    result: R | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    tool_calls: tuple[ToolCall, ...] = ()

    def __post_init__(self) -> None:
        """Hold the rule of the three bodies."""
        if [self.assistant, self.result, self.error].count(UNSET) != 2:  # noqa: PLR2004 - three bodies, one of them filled
            msg = "a response has exactly one of assistant, result and error"
            raise ValueError(msg)
