"""The endpoints of 001: what to do next on a page that its client has, and the sessions of that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from actors.gateway import interact as rounds
from actors.gateway.access.caller import Scope
from actors.gateway.access.limits import RateLimits, too_often
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.interact import (
    BeginChat,
    ChatArchived,
    ChatBegun,
    ChatFound,
    ChatMessagesView,
    ChatPage,
    ChatView,
    ChatWasRenamed,
    RenamedChat,
    ResumedTask,
)
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import DomainRequest
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.sites import site_of
from protocol.acting.chats import DEFAULT_MESSAGES, MAX_TITLE_CHARS, MOST_MESSAGES
from protocol.acting.interact import ChatId, InteractData, InteractRequest, ShownPlan
from protocol.acting.tasks import MAX_GOAL_CHARS, TaskId
from protocol.faults import FaultError
from protocol.shapes import Worded

T = TypeVar("T")
Run = Callable[[AppContext, RequestContext, Any], Awaitable[Response]]
MAX_NUMBER = 2**53 - 1
"""The largest integer that every reader of JSON takes as it is (RFC 8259 §6)."""


class Wrapped(Struct, Generic[T], frozen=True, kw_only=True):
    """An answer in the envelope of 001."""

    success: Literal[True] = True
    data: T


class InteractAnswer(Struct, frozen=True, kw_only=True):
    """A round in the envelope of 001; what stands beside `data` does so for clients that look for it there (2.D)."""

    success: Literal[True] = True
    data: InteractData
    status: str | UnsetType = UNSET
    plan: ShownPlan | UnsetType = UNSET
    verification: dict[str, Any] | UnsetType = UNSET
    correction: dict[str, Any] | UnsetType = UNSET


class ChatPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session is meant."""

    id: ChatId


class ChatTaskPath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which task of which session is meant."""

    id: ChatId
    task_id: TaskId


class MessagesRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages are meant."""

    id: ChatId
    limit: Annotated[int, Meta(ge=1, le=MOST_MESSAGES, description="How many: the last ones.")] = DEFAULT_MESSAGES
    since: Annotated[
        str, Meta(pattern=rounds.TIME, description="Those after this time alone, in ISO 8601 or ms since the epoch.")
    ] = ""


class ChatsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions are listed."""

    limit: Annotated[int, Meta(ge=1, le=200, description="How many.")] = 50
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="Leave out so many.")] = 0


class RenameChat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a session is to be called."""

    title: Annotated[Worded, Meta(max_length=MAX_TITLE_CHARS)]


class ArchiveChat(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which session is to be archived."""

    session_id: ChatId


class ResumeWords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the user says to what a task has asked, or nothing where what stood in the way is gone."""

    words: Annotated[str, Meta(max_length=MAX_GOAL_CHARS)] = ""


def _limited(limits: Callable[[AppContext], RateLimits], run: Run) -> Run:
    async def limited(app: AppContext, request: RequestContext, arguments: Any) -> Response:
        state = limits(app).take(request.caller.name)
        if state.wait_ms > 0:
            raise too_often(state)
        return await run(app, request, arguments)

    return limited


async def _interact(app: AppContext, request: RequestContext, arguments: InteractRequest) -> Response:
    data = await rounds.interact(app, request, arguments)
    if not app.mirrored:
        return answer(InteractAnswer(data=data))
    mirrored = InteractAnswer(
        data=data, status=data.status, plan=data.plan, verification=data.verification, correction=data.correction
    )
    return answer(mirrored)


async def _by_domain(app: AppContext, request: RequestContext, arguments: DomainRequest) -> Response:
    page = await rounds.chat_page(app, request, 1, 0, _root(arguments.domain))
    return _wrapped(ChatFound(session=page.sessions[0] if page.sessions else None))


async def _latest(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    return answer(await rounds.latest_chat(app, request))


async def _rename(app: AppContext, request: RequestContext, arguments: Addressed[ChatPath, RenameChat]) -> Response:
    info = await rounds.change_chat(app, request, arguments.params.id, title=arguments.body.title)
    return _wrapped(
        ChatWasRenamed(session=RenamedChat(session_id=info.session, title=info.title, updated_at=info.updated_at))
    )


async def _messages(app: AppContext, request: RequestContext, arguments: MessagesRequest) -> Response:
    return answer(await rounds.chat_messages(app, request, arguments.id, arguments.limit, arguments.since))


async def _init(app: AppContext, request: RequestContext, arguments: BeginChat) -> Response:
    begun = await rounds.begin_chat(app, request, arguments)
    return _wrapped(ChatBegun(session_id=begun.session, created=begun.created))


async def _list(app: AppContext, request: RequestContext, arguments: ChatsRequest) -> Response:
    return _wrapped(await rounds.chat_page(app, request, arguments.limit, arguments.offset))


async def _archive(app: AppContext, request: RequestContext, arguments: ArchiveChat) -> Response:
    info = await rounds.change_chat(app, request, arguments.session_id, archive=True)
    return _wrapped(ChatArchived(session_id=info.session))


async def _resume(
    app: AppContext, request: RequestContext, arguments: Addressed[ChatTaskPath, ResumeWords]
) -> Response:
    where = arguments.params
    return _wrapped(await rounds.resume_task(app, request, where.id, where.task_id, arguments.body.words))


def _root(domain: str) -> str:
    """Return the root domain of a host; of what has none, itself."""
    try:
        return site_of(domain)
    except FaultError:
        return domain


def _wrapped(data: Struct) -> Response:
    return answer(Wrapped(data=data))


_CHAT: dict[str, Any] = {"id": "59adf5f0-cddb-42dd-a20d-658ac57278fd"}
_TASK: dict[str, Any] = {**_CHAT, "taskId": "e49abedb-f50c-45d2-bf81-62662b6a038e"}
_FAMILY: dict[str, Any] = {"scope": Scope.BROWSER, "tag": Tag.INTERACT}
_ERRORS = frozenset({500, 503, 504})


def _chats(run: Run) -> Run:
    return _limited(lambda app: app.chats, run)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/agent/interact",
        name="interact",
        summary="Tell what to do next on a page that the client has, or what more of it is needed.",
        about="Fields that are not known are passed over. Sent again unchanged, it is answered as before. "
        "`interact_per_minute` says how often it may be asked.",
        run=_limited(lambda app: app.interacts, _interact),
        body=InteractRequest,
        answer=InteractAnswer,
        errors=_ERRORS | {404, 409},
        example={
            "query": "Click the Search button",
            "url": "https://example.com/",
            "domMode": "semantic",
            "interactiveTree": [{"i": "6", "r": "btn", "n": "Search"}],
        },
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/session/latest",
        name="latestChat",
        summary="Return the session that was last gone on with.",
        run=_chats(_latest),
        answer=ChatView,
        errors=_ERRORS | {404},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/session/by-domain/{domain}",
        name="chatByDomain",
        summary="Return the session that was last gone on with at a domain, or null.",
        run=_chats(_by_domain),
        params=DomainRequest,
        answer=Wrapped[ChatFound],
        errors=_ERRORS,
        example={"domain": "example.com"},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/session/init",
        name="beginChat",
        summary="Begin a session under an id of the client's, if it was not.",
        about="Fields that are not known are passed over.",
        run=_chats(_init),
        body=BeginChat,
        answer=Wrapped[ChatBegun],
        errors=_ERRORS | {409},
        example={"sessionId": _CHAT["id"], "url": "https://example.com/"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/session",
        name="listChats",
        summary="List your sessions, the one that was last gone on with first; archived ones are left out.",
        run=_chats(_list),
        params=ChatsRequest,
        answer=Wrapped[ChatPage],
        errors=_ERRORS,
        example={"limit": 20, "offset": 0},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/session",
        name="archiveChat",
        summary="Archive a session.",
        run=_chats(_archive),
        body=ArchiveChat,
        answer=Wrapped[ChatArchived],
        errors=_ERRORS | {404},
        example={"sessionId": _CHAT["id"]},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/session/{id}/messages",
        name="chatMessages",
        summary="Return the last messages of a session; an unknown one has none.",
        run=_chats(_messages),
        params=MessagesRequest,
        answer=ChatMessagesView,
        errors=_ERRORS,
        example=_CHAT,
        **_FAMILY,
    ),
    Endpoint(
        method="PATCH",
        path="/api/session/{id}",
        name="renameChat",
        summary="Give a session another title.",
        run=_chats(_rename),
        params=ChatPath,
        body=RenameChat,
        answer=Wrapped[ChatWasRenamed],
        errors=_ERRORS | {404},
        example={"title": "Shopping"},
        where=_CHAT,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/session/{id}/task/{taskId}/resume",
        name="resumeTask",
        summary="Let a task go on that waits for its user.",
        run=_chats(_resume),
        params=ChatTaskPath,
        body=ResumeWords,
        optional=True,
        answer=Wrapped[ResumedTask],
        errors=_ERRORS | {404, 409},
        example={"words": "The first one."},
        where=_TASK,
        **_FAMILY,
    ),
)
