"""The tables of chat sessions and their messages, as the lines of TASKS say (001 §2, §3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.projection.database import Database, Write
from actors.projection.projection import TableUpdate
from bus.seal import Seal, UnsealError
from bus.stores import JournalLine
from protocol.acting.chat_fold import ChatState, chat_after
from protocol.acting.chats import (
    AskMessages,
    ChatLine,
    ChatList,
    ChatMessageAdded,
    ChatMessageJudged,
    ChatMessages,
    ListChats,
    RoundNoted,
)
from protocol.acting.tasks import TaskLine
from protocol.codec import MalformedError, decoder, encode
from protocol.faults import Code, FaultError, fault
from protocol.subjects import TASKS

S = TypeVar("S", bound=Struct)

_WANTED = (
    "SELECT chat_sessions.id, content FROM json_each(?) AS wanted JOIN chat_sessions ON chat_sessions.id = wanted.value"
)
_CHAT = "INSERT OR REPLACE INTO chat_sessions VALUES (?, ?, ?, ?, ?, ?, ?)"
_MESSAGE = "INSERT OR IGNORE INTO chat_messages VALUES (?, ?, ?, ?, ?, ?, ?, NULL)"
_JUDGED = "UPDATE chat_messages SET judged = ? WHERE session = ? AND message = ? AND line < ?"

_OF_CALLER = (
    "FROM chat_sessions WHERE caller = ? AND (? = '' OR domain = ?) AND (? = '' OR id = ?) "
    "AND CASE WHEN ? = '' THEN ? != '' OR status != 'archived' ELSE status = ? END"
)
_NEWEST = f"SELECT id, content {_OF_CALLER} ORDER BY updated_at DESC, line DESC LIMIT ? OFFSET ?"
_TOTAL = f"SELECT count(*) {_OF_CALLER}"
_OWNER = "SELECT id, content FROM chat_sessions WHERE id = ? AND caller = ?"
_SAID = (
    "SELECT number, content, judged FROM chat_messages WHERE session = ? AND caller = ? AND at > ? "
    "ORDER BY number DESC LIMIT ?"
)


class ChatSessionTables(Struct, frozen=True):
    """The chat sessions and their messages; the lines of tasks beside them are passed over."""

    database: Database
    seal: Seal
    clear: ClassVar[tuple[str, ...]] = ("DELETE FROM chat_sessions", "DELETE FROM chat_messages")
    prune: ClassVar[tuple[str, ...]] = (
        "DELETE FROM chat_sessions WHERE line < ?",
        "DELETE FROM chat_messages WHERE line < ?",
    )

    async def update(self, lines: Sequence[JournalLine[TaskLine | ChatLine]]) -> TableUpdate:
        """Return the rows of the sessions that some lines are of, those of their messages, and what came of these."""
        chats = [(one.sequence, one.value) for one in lines if isinstance(one.value, ChatLine)]
        fresh = [(sequence, line) for sequence, line in chats if not isinstance(line, RoundNoted)]
        states, last = await self._known(sorted({line.session for _, line in fresh})), dict[str, int]()
        for sequence, line in fresh:
            if (state := chat_after(states.get(line.session), line)) is not None:
                states[line.session], last[line.session] = state, sequence
        added = [self._message(sequence, line) for sequence, line in fresh if isinstance(line, ChatMessageAdded)]
        judged = [self._judged(sequence, line) for sequence, line in fresh if isinstance(line, ChatMessageJudged)]
        writes: list[Write] = [
            (_CHAT, [self._row(sequence, states[name]) for name, sequence in last.items()]),
            (_MESSAGE, added),
            (_JUDGED, judged),
        ]
        return TableUpdate(writes, list(last))

    async def _known(self, ids: Sequence[str]) -> dict[str, ChatState]:
        rows = await self.database.read(_WANTED, (msgspec.json.encode(ids).decode(),)) if ids else []
        return {name: _opened(self.database, self.seal, ChatState, content, name) for name, content in rows}

    def _row(self, sequence: int, state: ChatState) -> tuple[Any, ...]:
        info = state.info
        content = self.seal.seal(encode(state), _place(info.session))
        return (info.session, sequence, state.caller, info.domain, info.status.value, info.updated_at, content)

    def _message(self, sequence: int, line: ChatMessageAdded) -> tuple[Any, ...]:
        content = self.seal.seal(encode(line), _place(f"{line.session} {line.number}"))
        return (line.session, line.number, sequence, line.caller, line.message, line.at, content)

    def _judged(self, sequence: int, line: ChatMessageJudged) -> tuple[Any, ...]:
        content = self.seal.seal(encode(line), _place(f"{line.session} {line.message}"))
        return (content, line.session, line.message, sequence)


class ChatSessionQueries(Struct, frozen=True):
    """The queries to the tables; each is answered to the caller whose sessions they are."""

    database: Database
    seal: Seal

    async def page(self, request: ListChats) -> ChatList:
        """Return the sessions of a caller, the one that was last gone on with first.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, where the file was sealed with another key; it is being replaced.
        """
        status = request.status.value if request.status is not None else ""
        domain, name = request.domain, request.session
        narrowed = (request.caller, domain, domain, name, name, status, name, status)
        rows = await self.database.read(_NEWEST, (*narrowed, request.limit, request.offset))
        ((total,),) = await self.database.read(_TOTAL, narrowed)
        return ChatList(sessions=tuple(self._state(*row).info for row in rows), total=int(total))

    async def messages(self, request: AskMessages) -> ChatMessages:
        """Return the last messages of a session in their order; none where there is no such session of the caller's.

        Raises:
            FaultError: as `page` does.
        """
        rows = await self.database.read(_OWNER, (request.session, request.caller))
        if not rows:
            return ChatMessages(messages=(), total=0, exists=False)
        info = self._state(*rows[0]).info
        rows = await self.database.read(_SAID, (request.session, request.caller, request.since, request.limit))
        messages = tuple(self._message(request.session, *row) for row in reversed(rows))
        return ChatMessages(messages=messages, total=info.messages, exists=True)

    def _state(self, name: str, content: bytes) -> ChatState:
        return _opened(self.database, self.seal, ChatState, content, name)

    def _message(self, session: str, number: int, content: bytes, judged: bytes | None) -> ChatMessageAdded:
        message = _opened(self.database, self.seal, ChatMessageAdded, content, f"{session} {number}")
        if judged is None:
            return message
        result = _opened(self.database, self.seal, ChatMessageJudged, judged, f"{session} {message.message}")
        return replace(message, status=result.status, error=result.error or message.error)


def _opened(database: Database, seal: Seal, kind: type[S], content: bytes, name: str) -> S:
    try:
        opened: S = decoder(kind).decode(seal.unseal(content, _place(name)))
    except (UnsealError, MalformedError):
        database.broken = True
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None
    return opened


def _place(name: str) -> str:
    return f"{TASKS.name} {name}"
