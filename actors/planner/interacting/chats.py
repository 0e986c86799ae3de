"""Writes chat sessions and their messages down, each line only by who has read the last one (001 §2, §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, Literal
from uuid import UUID, uuid5

from msgspec import Struct
from msgspec.structs import replace

from actors import redact
from actors.sites import site_of
from bus.clock import now_ms
from bus.stores import JournalLog
from protocol.acting.chat_fold import ChatState, chat_after, chat_title
from protocol.acting.chats import (
    ChangeChat,
    ChatInfo,
    ChatIsOpen,
    ChatLine,
    ChatMessageAdded,
    ChatMessageJudged,
    ChatMoved,
    ChatOpened,
    ChatRenamed,
    ChatStatus,
    ChatStatusChanged,
    OpenChat,
    chat_topic,
)
from protocol.acting.tasks import TaskLine
from protocol.faults import Code, FaultError, fault

MOST_TRIES: Final = 20
"""How often a line is tried that others were faster with."""

MAX_CHARS: Final = 10_000
"""What is kept of a message."""

NAMES: Final = UUID("6f2b6c1e-51d2-4f0c-9b3a-3a1f0d6f7c55")
"""The space in which the ids of messages are names, so that the same message has the same id whoever writes it."""

Decide = Callable[[ChatState | None], Sequence[ChatLine]]
"""What is to be written, from how the session stands; asked again where somebody else was faster."""

OnMessage = Callable[[ChatMessageAdded], Awaitable[None]]


async def _nobody(_message: ChatMessageAdded) -> None:
    """Pass a message on to nobody."""


class SaidByUser(Struct, frozen=True, kw_only=True):
    """What a round of a client says for its session: the user's words, where its tab is, and what came of the last one.

    `failure` is why, in the client's words. `domain` counts where there is no `url`; `summary` is the page in short.
    """

    session: str
    caller: str
    task: str
    words: str
    url: str = ""
    domain: str = ""
    summary: str = ""
    tab_id: int | None = None
    result: Literal["success", "failure", "pending"] | None = None
    failure: dict[str, Any] | None = None


class SaidByAssistant(Struct, frozen=True, kw_only=True):
    """What a round answers, for its session: `name` is the same whenever the same round is answered."""

    session: str
    caller: str
    task: str
    name: str
    words: str
    action: str = ""
    payload: dict[str, Any] | None = None
    summary: str = ""
    ended: str = ""


class ChatLog(Struct, frozen=True):
    """The chat sessions in the journal of tasks; `on_message` hears of each message that was added."""

    journal: JournalLog[TaskLine | ChatLine]
    clock: Callable[[], int] = now_ms
    on_message: OnMessage = _nobody

    async def open(self, request: OpenChat) -> ChatIsOpen:
        """Begin a chat session, if nobody has.

        Raises:
            FaultError: AUTH_INSUFFICIENT_SCOPE, it is somebody else's; VALIDATION_CHAT_ARCHIVED.
        """
        created = False

        def decide(state: ChatState | None) -> Sequence[ChatLine]:
            nonlocal created
            created = state is None
            if state is not None and own(state, request.caller).info.status is ChatStatus.ARCHIVED:
                raise FaultError(fault(Code.VALIDATION_CHAT_ARCHIVED, field="sessionId"))
            return () if state is not None else (self._opened(request),)

        await self._write(request.session, decide)
        return ChatIsOpen(session=request.session, created=created)

    async def change(self, request: ChangeChat) -> ChatInfo:
        """Rename or archive a chat session, and return how it stands.

        Raises:
            FaultError: VALIDATION_UNKNOWN_CHAT; AUTH_INSUFFICIENT_SCOPE, it is somebody else's.
        """

        def decide(state: ChatState | None) -> Sequence[ChatLine]:
            if state is None:
                raise FaultError(fault(Code.VALIDATION_UNKNOWN_CHAT, field="sessionId"))
            info = own(state, request.caller).info
            common: dict[str, Any] = {"session": request.session, "caller": request.caller, "at": self.clock()}
            lines: list[ChatLine] = []
            if request.title is not None and (info.title, info.renamed) != (request.title, True):
                lines.append(ChatRenamed(title=request.title, **common))
            if request.archive and info.status is not ChatStatus.ARCHIVED:
                lines.append(ChatStatusChanged(status=ChatStatus.ARCHIVED, **common))
            return lines

        state = await self._write(request.session, decide)
        if state is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_CHAT, field="sessionId"))
        return shown(state)

    async def usable(self, session: str, caller: str) -> str:
        """Return the id under which a caller goes on with a session: another one, where it is archived.

        Raises:
            FaultError: AUTH_INSUFFICIENT_SCOPE, it is somebody else's.
        """
        while True:
            state, _ = await self._read(session)
            if state is None or own(state, caller).info.status is not ChatStatus.ARCHIVED:
                return session
            session = str(uuid5(UUID(session), "after"))

    async def ask(self, message: SaidByUser) -> ChatState | None:
        """Write what a round says: once, however often it comes.

        Raises:
            FaultError: AUTH_INSUFFICIENT_SCOPE, the session is somebody else's.
        """
        kept = redact.text(message.words[:MAX_CHARS])
        common: dict[str, Any] = {"session": message.session, "caller": message.caller, "at": self.clock()}

        def decide(state: ChatState | None) -> Sequence[ChatLine]:
            lines: list[ChatLine] = []
            if state is None:
                opening = OpenChat(
                    session=message.session,
                    caller=message.caller,
                    url=message.url,
                    domain=message.domain,
                    tab_id=message.tab_id,
                )
                lines.append(self._opened(opening))
            elif own(state, message.caller).info.url != (url := redact.url(message.url)) and url:
                lines.append(ChatMoved(url=url, domain=root_domain(message.url), tab_id=message.tab_id, **common))
            if state is not None and state.pending and message.result in {"success", "failure"}:
                judged = ChatMessageJudged(
                    message=state.pending, status=message.result, error=message.failure, **common
                )
                lines.append(judged)
            if state is None or state.query != (kept, message.task):
                lines += self._request(state, message, kept)
            return lines

        return await self._write(message.session, decide)

    async def answer(self, message: SaidByAssistant) -> bool:
        """Write what a round answers, and return whether that was not written yet: once, however often it is answered.

        Raises:
            FaultError: AUTH_INSUFFICIENT_SCOPE, the session is somebody else's.
        """
        name = str(uuid5(NAMES, f"{message.session} {message.task} {message.name}"))
        common: dict[str, Any] = {"session": message.session, "caller": message.caller, "at": self.clock()}
        is_new = False

        def decide(state: ChatState | None) -> Sequence[ChatLine]:
            nonlocal is_new
            lines: list[ChatLine] = []
            is_new = state is None or name not in own(state, message.caller).recent
            if is_new:
                added = ChatMessageAdded(
                    message=name,
                    number=0 if state is None else state.info.messages,
                    role="assistant",
                    content=redact.text(message.words[:MAX_CHARS]),
                    task=message.task,
                    status="success" if message.ended else "pending",
                    action=message.action,
                    action_payload=message.payload,
                    summary=message.summary,
                    **common,
                )
                lines.append(added)
            if message.ended and (state is None or state.info.status.value != message.ended):
                lines.append(ChatStatusChanged(status=ChatStatus(message.ended), **common))
            return lines

        await self._write(message.session, decide)
        return is_new

    def _opened(self, request: OpenChat) -> ChatOpened:
        domain = root_domain(request.url or request.domain)
        title = request.title.strip() or (chat_title(domain, redact.text(request.query)) if request.query else "")
        return ChatOpened(
            session=request.session,
            caller=request.caller,
            at=self.clock(),
            url=redact.url(request.url) if request.url else "",
            domain=domain,
            title=title,
            tab_id=request.tab_id,
        )

    def _request(self, state: ChatState | None, message: SaidByUser, kept: str) -> list[ChatLine]:
        number = state.info.messages if state is not None else 0
        common: dict[str, Any] = {"session": message.session, "caller": message.caller, "at": self.clock()}
        name = str(uuid5(NAMES, f"{message.session} {number} user"))
        added = ChatMessageAdded(
            message=name,
            number=number,
            role="user",
            content=kept,
            task=message.task,
            summary=message.summary,
            **common,
        )
        if state is None or state.info.status is ChatStatus.ACTIVE:
            return [added]
        return [ChatStatusChanged(status=ChatStatus.ACTIVE, **common), added]

    async def _write(self, session: str, decide: Decide) -> ChatState | None:
        """Write what is decided, each line behind the last one read; return how the session stands then."""
        for _ in range(MOST_TRIES):
            state, last = await self._read(session)
            lines = decide(state)
            try:
                for line in lines:
                    last = await self.journal.append(chat_topic(session), line, last=last)
                    state = chat_after(state, line)
                    if isinstance(line, ChatMessageAdded):
                        await self.on_message(line)
            except ValueError:
                continue
            return state
        raise FaultError(fault(Code.INTERNAL_BUSY))

    async def _read(self, session: str) -> tuple[ChatState | None, int]:
        state, last = None, 0
        async with aclosing(self.journal.read(chat_topic(session))) as lines:
            async for line in lines:
                last = line.sequence
                if isinstance(line.value, ChatLine):
                    state = chat_after(state, line.value)
        return state, last


def own(state: ChatState, caller: str) -> ChatState:
    """Return a session of a caller.

    Raises:
        FaultError: AUTH_INSUFFICIENT_SCOPE, it is somebody else's (001: 403).
    """
    if state.caller == caller:
        return state
    raise FaultError(fault(Code.AUTH_INSUFFICIENT_SCOPE, "This chat session is somebody else's.", field="sessionId"))


def shown(state: ChatState) -> ChatInfo:
    """Return a session as it is shown: one without a title has the name of where it was begun."""
    return replace(state.info, title=state.info.title or state.info.initial_domain)


def root_domain(url: str) -> str:
    """Return the root domain of an address, such as example.co.uk, localhost or 127.0.0.1; "" where it has none."""
    try:
        return site_of(url) if url else ""
    except FaultError:
        return ""
