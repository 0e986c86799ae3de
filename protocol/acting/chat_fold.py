"""What the lines of a chat session come to: the one fold that whoever writes them and whoever answers share."""

from __future__ import annotations

from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from protocol.acting.chats import (
    MAX_TASK_CHARS,
    MAX_TITLE_CHARS,
    ChatInfo,
    ChatLine,
    ChatMessageAdded,
    ChatMessageJudged,
    ChatMoved,
    ChatOpened,
    ChatRenamed,
    ChatStatus,
    ChatStatusChanged,
    RoundNoted,
)


class ChatState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chat session of a caller as it stands.

    `query` is the user's last words and the task that they are of, `pending` the message whose action is to be judged,
    and `recent` the ids of its last messages.
    """

    caller: str
    info: ChatInfo
    query: tuple[str, str] = ("", "")
    pending: str = ""
    recent: tuple[str, ...] = ()


RECENT: Final = 8
"""How many messages a repeated round may be behind and still be known."""


def chat_after(state: ChatState | None, line: ChatLine) -> ChatState | None:
    """Return how a chat session stands after a line; the lines before its first one may have expired."""
    if isinstance(line, RoundNoted):
        return state
    known = state or _begun(line)
    match line:
        case ChatOpened():
            changed = known
        case ChatMoved():
            tab = known.info.tab_id if line.tab_id is None else line.tab_id
            begun = {} if known.info.initial_url else {"initial_url": line.url, "initial_domain": line.domain}
            changed = _with(known, url=line.url, domain=line.domain, tab_id=tab, **begun)
        case ChatRenamed():
            changed = _with(known, title=line.title, renamed=True)
        case ChatStatusChanged():
            changed = _with(known, status=line.status)
        case ChatMessageAdded():
            changed = _with_message(known, line)
        case ChatMessageJudged():
            changed = replace(known, pending="")
        case _:
            assert_never(line)
    return _with(changed, updated_at=max(changed.info.updated_at, line.at))


def chat_title(domain: str, task: str) -> str:
    """Return the title of a chat session: its domain, and the beginning of what is wanted there (001 §2)."""
    words = " ".join(task.split())[:MAX_TASK_CHARS]
    return f"{domain}: {words}"[:MAX_TITLE_CHARS] if domain and words else words or domain


def _begun(line: ChatLine) -> ChatState:
    url, domain = (line.url, line.domain) if isinstance(line, ChatOpened | ChatMoved) else ("", "")
    info = ChatInfo(
        session=line.session,
        title=line.title if isinstance(line, ChatOpened) else "",
        domain=domain,
        url=url,
        status=ChatStatus.ACTIVE,
        tab_id=line.tab_id if isinstance(line, ChatOpened | ChatMoved) else None,
        initial_url=url,
        initial_domain=domain,
        created_at=line.at,
        updated_at=line.at,
    )
    return ChatState(caller=line.caller, info=info)


def _with_message(state: ChatState, line: ChatMessageAdded) -> ChatState:
    info = replace(state.info, messages=max(state.info.messages, line.number + 1))
    recent = (*state.recent, line.message)[-RECENT:]
    if line.role == "user":
        title = info.title or chat_title(info.initial_domain, line.content)
        return replace(state, info=replace(info, title=title), query=(line.content, line.task), recent=recent)
    pending = line.message if line.role == "assistant" and line.status == "pending" else state.pending
    return replace(state, info=info, pending=pending, recent=recent)


def _with(state: ChatState, **changes: object) -> ChatState:
    return replace(state, info=replace(state.info, **changes))
