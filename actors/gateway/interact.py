"""Rounds of clients that have a page of their own, and the sessions in which they were talked about (001 §1-3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.chat_views import ChatMessageView, iso, message_view
from actors.gateway.http import HttpStatusError
from actors.gateway.request import RequestContext
from protocol import subjects
from protocol.acting.act import ResumeTask
from protocol.acting.chats import (
    DEFAULT_MESSAGES,
    MAX_TITLE_CHARS,
    MOST_MESSAGES,
    AskMessages,
    ChangeChat,
    ChatInfo,
    ChatIsOpen,
    ChatMessages,
    ChatStatus,
    ListChats,
    OpenChat,
)
from protocol.acting.interact import ChatId, ClientTab, Interact, InteractData, InteractRequest
from protocol.acting.tasks import ActingStatus, AskTask, TaskId, TaskState
from protocol.faults import Code, FaultError, fault

MAX_URL_CHARS = 8_192
NOT_WAITING = "This task waits for nobody: go on with it by the next round."
TIME = (
    r"^(?:[0-9]{1,13}|[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]"
    r":[0-5][0-9](?:[.][0-9]{1,6})?(?:Z|[ +-](?:0[0-9]|1[0-3]):[0-5][0-9])?)?$(?!\n)"
)
"""A time as clients write it: ISO 8601, or ms since the epoch."""


class ChatView(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session as 001 has it; times in ISO 8601."""

    session_id: str
    title: str
    domain: str
    url: str
    status: ChatStatus
    is_renamed: bool
    message_count: int
    created_at: str
    updated_at: str
    tab_id: int | None = None
    metadata: dict[str, str] = {}


class RenamedChat(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a session is called now; `updated_at` in ms since the epoch."""

    session_id: str
    title: str
    updated_at: int
    is_renamed: bool = True


class ChatFound(Struct, frozen=True, kw_only=True):
    """The session of a domain, if there is one."""

    session: ChatView | None


class ChatWasRenamed(Struct, frozen=True, kw_only=True):
    """The session that was renamed."""

    session: RenamedChat


class ChatPage(Struct, frozen=True, kw_only=True):
    """Sessions, and how many there are in all."""

    sessions: tuple[ChatView, ...]
    total: int
    limit: int
    offset: int


class ChatBegun(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session, and whether it was begun just now."""

    session_id: str
    created: bool


class ChatArchived(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session that was archived."""

    session_id: str
    status: ChatStatus = ChatStatus.ARCHIVED


class ChatMessagesView(Struct, frozen=True, kw_only=True, rename="camel"):
    """Messages of a session; none where there is no such session of the caller's."""

    session_id: str
    messages: tuple[ChatMessageView, ...]
    total: int
    session_exists: bool


class ResumedTask(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a task stands that goes on."""

    task_id: str
    session_id: str
    status: str


class BeginChat(Struct, frozen=True, kw_only=True, rename="camel"):
    """A session to be begun under an id of the client's; fields that are not known are passed over."""

    session_id: ChatId
    url: Annotated[str, Meta(max_length=MAX_URL_CHARS)] = ""
    domain: Annotated[str, Meta(max_length=255)] = ""
    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARS)] = ""
    tab_id: ClientTab | None = None
    initial_query: Annotated[str, Meta(max_length=10_000)] = ""


async def interact(app: AppContext, request: RequestContext, arguments: InteractRequest) -> InteractData:
    """Return what a client is to do next on its page.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST; what INTERACT fails with.
    """
    check_artefacts(arguments)
    caller = request.caller
    round_ = Interact(
        request=arguments,
        caller=caller.name,
        scopes=tuple(sorted(caller.scopes)),
        local=caller.local,
        local_only=Scope.MODELS not in caller.scopes,
    )
    return await app.bus.call(subjects.INTERACT, round_, wait_ms=app.grace_ms)


def check_artefacts(arguments: InteractRequest) -> None:
    """Hold a request to having the parts of its page that its mode needs; an empty tree is one (2.B).

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, with the field that is missing.
    """
    if arguments.url is None:
        return
    has_tree = arguments.tree is not None or arguments.semantic_nodes is not None
    has_skeleton = bool(arguments.skeleton_dom or arguments.dom)
    if arguments.dom_mode == "full" and not arguments.dom:
        raise _missing("dom", "domMode full needs it")
    if arguments.dom_mode in {"skeleton", "hybrid"} and not has_skeleton:
        raise _missing("skeletonDom", f"domMode {arguments.dom_mode} needs it, or dom to take it from")
    if not has_tree and not has_skeleton and arguments.interactive_tree_hash is None:
        raise _missing("interactiveTree", "a request with a url needs the tree of its page; an empty one will do")


async def begin_chat(app: AppContext, request: RequestContext, arguments: BeginChat) -> ChatIsOpen:
    """Begin a session, if nobody has.

    Raises:
        FaultError: it is somebody else's, or archived.
    """
    opening = OpenChat(
        session=arguments.session_id,
        caller=request.caller.name,
        url=arguments.url,
        domain=arguments.domain,
        title=arguments.title,
        tab_id=arguments.tab_id,
        query=arguments.initial_query,
    )
    return await app.bus.call(subjects.CHAT_OPEN, opening, wait_ms=app.grace_ms)


async def change_chat(
    app: AppContext, request: RequestContext, session: str, *, title: str | None = None, archive: bool = False
) -> ChatInfo:
    """Rename or archive a session.

    Raises:
        FaultError: there is none of the caller's.
    """
    change = ChangeChat(session=session, caller=request.caller.name, title=title, archive=archive)
    return await app.bus.call(subjects.CHAT_CHANGE, change, wait_ms=app.grace_ms)


async def chat_page(app: AppContext, request: RequestContext, limit: int, offset: int, domain: str = "") -> ChatPage:
    """Return the sessions of a caller that are not archived, the one that was last gone on with first."""
    listing = ListChats(caller=request.caller.name, limit=limit, offset=offset, domain=domain)
    listed = await app.bus.call(subjects.CHAT_LIST, listing, wait_ms=app.grace_ms)
    return ChatPage(sessions=tuple(map(chat_view, listed.sessions)), total=listed.total, limit=limit, offset=offset)


async def latest_chat(app: AppContext, request: RequestContext) -> ChatView:
    """Return the session that was last gone on with.

    Raises:
        FaultError: VALIDATION_UNKNOWN_CHAT, there is none.
    """
    page = await chat_page(app, request, 1, 0)
    if not page.sessions:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_CHAT))
    return page.sessions[0]


async def chat_messages(
    app: AppContext, request: RequestContext, session: str, limit: int = DEFAULT_MESSAGES, since: str = ""
) -> ChatMessagesView:
    """Return the last messages of a session, those after a time alone."""
    caller, after = request.caller.name, read_time(since)
    arguments = AskMessages(session=session, caller=caller, limit=min(limit, MOST_MESSAGES), since=after)
    listed: ChatMessages = await app.bus.call(subjects.CHAT_MESSAGES, arguments, wait_ms=app.grace_ms)
    return ChatMessagesView(
        session_id=session,
        messages=tuple(map(message_view, listed.messages)),
        total=listed.total,
        session_exists=listed.exists,
    )


async def resume_task(app: AppContext, request: RequestContext, session: str, task: TaskId, words: str) -> ResumedTask:
    """Let a task of a session go on that waits for its user.

    Raises:
        FaultError: VALIDATION_UNKNOWN_TASK; it does not wait.
    """
    caller = request.caller.name
    state: TaskState = await app.bus.call(subjects.TASK_GET, AskTask(task=task, caller=caller), wait_ms=app.grace_ms)
    if state.session != session:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_TASK, field="taskId"))
    if state.status is not ActingStatus.NEEDS_USER_INPUT:
        raise HttpStatusError(fault(Code.VALIDATION_INVALID_REQUEST, NOT_WAITING, field="taskId"), 409)
    resuming = ResumeTask(task=task, caller=caller, words=words)
    state = await app.bus.call(subjects.TASK_RESUME, resuming, wait_ms=app.grace_ms)
    return ResumedTask(task_id=state.task_id, session_id=session, status=state.status.value)


def chat_view(info: ChatInfo) -> ChatView:
    """Return a session as 001 has it."""
    return ChatView(
        session_id=info.session,
        title=info.title or info.initial_domain,
        domain=info.domain,
        url=info.url,
        status=info.status,
        is_renamed=info.renamed,
        message_count=info.messages,
        created_at=iso(info.created_at),
        updated_at=iso(info.updated_at),
        tab_id=info.tab_id,
        metadata={"initialUrl": info.initial_url, "initialDomain": info.initial_domain},
    )


def read_time(given: str) -> int:
    """Return a time that has the form of `TIME` in ms since the epoch; 0 for none, and for a day that no month has."""
    if not given or given.isdecimal():
        return int(given or 0)
    try:
        read = datetime.fromisoformat(given.replace(" ", "+"))
    except ValueError:
        return 0
    return max(int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1_000), 0)


def _missing(field: str, complaint: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {complaint}", field=field))
