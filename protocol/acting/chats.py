"""Chat sessions of 001, one for each tab of a client, with their messages: what is asked of them, and their lines."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from protocol.acting.interact import ChatId

MAX_TITLE_CHARS: Final = 500
MAX_TASK_CHARS: Final = 200
"""What of a task stands in the title of a session."""

MOST_MESSAGES: Final = 200
DEFAULT_MESSAGES: Final = 50


class ChatStatus(StrEnum):
    """How a chat session stands."""

    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    ARCHIVED = "archived"


class _ChatLine(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """A line about a chat session; `at` in ms since the epoch."""

    session: str
    caller: str
    at: int


class ChatOpened(_ChatLine, frozen=True, kw_only=True, omit_defaults=True, tag="chat_opened"):
    """It was begun: the first line of each."""

    url: str = ""
    domain: str = ""
    title: str = ""
    tab_id: int | None = None


class ChatMoved(_ChatLine, frozen=True, kw_only=True, omit_defaults=True, tag="chat_moved"):
    """Its tab is somewhere else; where it was begun is kept."""

    url: str
    domain: str
    tab_id: int | None = None


class ChatRenamed(_ChatLine, frozen=True, kw_only=True, tag="chat_renamed"):
    """Its user has given it another title."""

    title: str


class ChatStatusChanged(_ChatLine, frozen=True, kw_only=True, tag="chat_status"):
    """It stands otherwise."""

    status: ChatStatus


class ChatMessageAdded(_ChatLine, frozen=True, kw_only=True, omit_defaults=True, tag="chat_message"):
    """Something was said in it; the numbers of messages begin at 0. `task` is the task that it is of.

    `summary` is what the page was then, in short.
    """

    message: str
    number: int
    role: Literal["user", "assistant", "system"]
    content: str
    task: str = ""
    status: str = ""
    action: str = ""
    action_payload: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    summary: str = ""
    metadata: dict[str, Any] | None = None


class ChatMessageJudged(_ChatLine, frozen=True, kw_only=True, omit_defaults=True, tag="chat_judged"):
    """What came of the action of a message."""

    message: str
    status: Literal["success", "failure", "pending"]
    error: dict[str, Any] | None = None


class RoundNoted(_ChatLine, frozen=True, kw_only=True, omit_defaults=True, tag="round"):
    """A round of a client, by a digest of it: the ids that it was given, and which parts of its page were asked for.

    Whoever sends the same again gets the same ids, and is not asked for the same part again: `requested` is all that
    was asked for, `latest` what was asked for in answer to the request with this `digest`, so many `times`.
    """

    task: str = ""
    requested: tuple[str, ...] = ()
    latest: tuple[str, ...] = ()
    digest: str = ""
    times: int = 0


ChatLine = ChatOpened | ChatMoved | ChatRenamed | ChatStatusChanged | ChatMessageAdded | ChatMessageJudged | RoundNoted
"""A line about a chat session, in TASKS."""


def chat_topic(session: str) -> str:
    """Return the topic of the lines of a chat session."""
    return f"chat.{session}"


def round_topic(digest: str) -> str:
    """Return the topic of the notes about a round of a client."""
    return f"round.{digest}"


class OpenChat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """CHAT_OPEN: begin a chat session under this id, if nobody has; `domain` counts where there is no `url`."""

    session: ChatId
    caller: str
    url: str = ""
    domain: str = ""
    title: str = ""
    tab_id: int | None = None
    query: str = ""


class ChatIsOpen(Struct, frozen=True, kw_only=True):
    """The answer to CHAT_OPEN; `created` whether it was begun just now."""

    session: str
    created: bool


class ChangeChat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """CHAT_CHANGE: give a chat session another title, or archive it."""

    session: ChatId
    caller: str
    title: Annotated[str, Meta(min_length=1, max_length=MAX_TITLE_CHARS)] | None = None
    archive: bool = False


class ListChats(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """CHAT_LIST: the chat sessions of a caller, the one that was last gone on with first; archived ones at need alone.

    `domain` and `status` narrow it down; `session` asks for one by its id.
    """

    caller: str
    domain: str = ""
    status: ChatStatus | None = None
    session: str = ""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0)] = 0


class ChatInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chat session; times in ms since the epoch."""

    session: str
    title: str
    domain: str
    url: str
    status: ChatStatus
    renamed: bool = False
    tab_id: int | None = None
    initial_url: str = ""
    initial_domain: str = ""
    messages: int = 0
    created_at: int = 0
    updated_at: int = 0


class ChatList(Struct, frozen=True, kw_only=True):
    """Chat sessions, and how many there are in all."""

    sessions: tuple[ChatInfo, ...]
    total: int


class AskMessages(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """CHAT_MESSAGES: the last messages of a chat session, those after `since` (ms since the epoch) alone."""

    session: str
    caller: str
    limit: Annotated[int, Meta(ge=1, le=MOST_MESSAGES)] = DEFAULT_MESSAGES
    since: int = 0


class ChatMessages(Struct, frozen=True, kw_only=True):
    """Messages in their order; `exists`: whether there is such a session of the caller's."""

    messages: tuple[ChatMessageAdded, ...]
    total: int
    exists: bool
