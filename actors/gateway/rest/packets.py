"""The endpoint that takes LLMCP packets: a request in, the response out, for the tasks that a client may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import http_status
from actors.gateway.http import HttpStatusError, answer, headers_of
from actors.gateway.pages import advised, with_login
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import HOST
from actors.gateway.rest.routing import Endpoint, Tag
from bus.context import conversation, new_id
from protocol import subjects
from protocol.browse import BrowseOptions
from protocol.domains import AskDomain
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import PROTOCOL_NAME, PROTOCOL_VERSION, Conversation, InReplyTo, Moment, Protocol, Role, Sender
from protocol.pages import Browsed, BrowsePage, Url
from protocol.sessions import DEFAULT_PROFILE, ListSessions, NamedSession, Profile
from protocol.subjects import Call

SENDER = Sender(role=Role.AGENT, actor="gateway")

MAX_ID_CHARS = 200
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARS)]


class PageArguments(Struct, frozen=True, kw_only=True):
    """The page that is meant, and how it is to be read; with `obey_robots`, if the site lets programs have it."""

    url: Url
    options: BrowseOptions = BrowseOptions()
    obey_robots: bool = False


class BrowseTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.BROWSE.task):
    """Read a page."""

    args: PageArguments


class PreviewTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.PREVIEW.task):
    """Return what reading a page would take."""

    args: PageArguments


class DomainArguments(Struct, frozen=True, kw_only=True):
    """The domain that is meant."""

    domain: Annotated[str, Meta(min_length=1, max_length=253, pattern=HOST)]


class LoginArguments(DomainArguments, frozen=True, kw_only=True):
    """The saved login that is meant."""

    profile: Profile = DEFAULT_PROFILE


class LoginsArguments(Struct, frozen=True, kw_only=True):
    """The saved logins that are meant: those of one profile, or all."""

    profile: Profile | None = None


class DomainTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.DOMAIN.task):
    """Return what is known of a domain."""

    args: DomainArguments


class ListTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.SESSION_LIST.task):
    """List the saved logins."""

    args: LoginsArguments


class HealthTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.SESSION_HEALTH.task):
    """Return how a saved login stands."""

    args: LoginArguments


class DeleteTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.SESSION_DELETE.task):
    """Forget a saved login."""

    args: LoginArguments


class RefreshTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.SESSION_REFRESH.task):
    """Renew a saved login."""

    args: LoginArguments


Task = BrowseTask | PreviewTask | DomainTask | ListTask | HealthTask | DeleteTask | RefreshTask


class TaskInput(Struct, frozen=True, kw_only=True):
    """What a request packet asks for."""

    task: Task


class RequestPacket(Struct, frozen=True, kw_only=True):
    """An LLMCP request packet; what it holds beside this is not looked at."""

    type: Literal["request"]
    protocol: Protocol
    id: Id
    created_at: Moment
    conversation: Talk
    sender: Sender
    input: TaskInput


class Talk(Struct, frozen=True, kw_only=True):
    """The piece of a user's work that a packet belongs to; the packets that it leads to keep it."""

    id: Id
    turn: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0


class ResponsePacket(Struct, frozen=True, kw_only=True):
    """An LLMCP response packet, with a `result` or an `error`."""

    protocol: Protocol
    id: str
    created_at: datetime
    conversation: Conversation
    sender: Sender
    in_reply_to: InReplyTo
    type: Literal["response"] = "response"
    result: Any | UnsetType = UNSET
    error: Fault | UnsetType = UNSET


@dataclass(frozen=True)
class Permitted:
    """A call that a client may make by packet: what scope it needs, and how its arguments become those of the call."""

    call: Call[Any, Any]
    scope: Scope
    args: Callable[[Any, str], Any]
    timeout_ms: Callable[[Any], int | None] = lambda arguments: None  # noqa: ARG005 - the call's own


def _page(arguments: PageArguments, _caller: str = "") -> BrowsePage:
    return BrowsePage(url=arguments.url, options=arguments.options, obey_robots=arguments.obey_robots)


def _domain(arguments: DomainArguments, _caller: str) -> AskDomain:
    return AskDomain(domain=arguments.domain)


def _login(arguments: LoginArguments, caller: str) -> NamedSession:
    return NamedSession(domain=arguments.domain, profile=arguments.profile, caller=caller)


def _logins(arguments: LoginsArguments, caller: str) -> ListSessions:
    return ListSessions(profile=arguments.profile, caller=caller)


def _latency(arguments: PageArguments) -> int:
    return arguments.options.max_latency_ms


PERMITTED: Mapping[type[Struct], Permitted] = MappingProxyType(
    {
        BrowseTask: Permitted(subjects.BROWSE, Scope.BROWSE, _page, _latency),
        PreviewTask: Permitted(subjects.PREVIEW, Scope.BROWSE, _page),
        DomainTask: Permitted(subjects.DOMAIN, Scope.BROWSE, _domain),
        ListTask: Permitted(subjects.SESSION_LIST, Scope.SESSIONS, _logins),
        HealthTask: Permitted(subjects.SESSION_HEALTH, Scope.SESSIONS, _login),
        DeleteTask: Permitted(subjects.SESSION_DELETE, Scope.SESSIONS, _login),
        RefreshTask: Permitted(subjects.SESSION_REFRESH, Scope.SESSIONS, _login),
    }
)
"""What may be asked by packet: nothing that only actors say to each other, and nothing that carries a login."""


async def _answer(app: AppContext, request: RequestContext, packet: RequestPacket) -> Response:
    """Do the task in the conversation of the packet."""
    with conversation(Conversation(id=packet.conversation.id, turn=packet.conversation.turn)):
        try:
            result = await _call(app, request, packet.input.task)
        except FaultError as error:
            status = error.status if isinstance(error, HttpStatusError) else http_status(error.fault)
            if error.fault.code is Code.AUTH_MISSING_SESSION and isinstance(packet.input.task.args, LoginArguments):
                status = HTTPStatus.NOT_FOUND
            return answer(_response(packet, error=error.fault), status, headers_of(error, status))
        return answer(_response(packet, result=result))


async def _call(app: AppContext, request: RequestContext, task: Task) -> Any:
    permitted, arguments = PERMITTED[type(task)], task.args
    request.caller.require(permitted.scope)
    page = _page(arguments) if isinstance(arguments, PageArguments) else None
    try:
        if page is not None:
            page = await with_login(app, request, page)
        result = await app.bus.call(
            permitted.call,
            page or permitted.args(arguments, request.caller.name),
            timeout_ms=permitted.timeout_ms(arguments),
            wait_ms=app.grace_ms,
        )
    except FaultError as error:
        if page is None:
            raise
        raise FaultError(await advised(app, request, error.fault, page)) from None
    if isinstance(result, Browsed):
        request.usage.page_read(result.page.tier, result.pages)
    return result


def _response(packet: RequestPacket, result: Any = UNSET, error: Fault | UnsetType = UNSET) -> ResponsePacket:
    return ResponsePacket(
        protocol=Protocol(name=PROTOCOL_NAME, version=PROTOCOL_VERSION),
        id=new_id(),
        created_at=datetime.now(UTC),
        conversation=Conversation(id=packet.conversation.id, turn=packet.conversation.turn),
        sender=SENDER,
        in_reply_to=InReplyTo(request_id=packet.id),
        result=result,
        error=error,
    )


EXAMPLE = {
    "protocol": {"name": PROTOCOL_NAME, "version": PROTOCOL_VERSION},
    "type": "request",
    "id": "a1f0c3d2",
    "created_at": "2026-01-01T12:00:00Z",
    "conversation": {"id": "loom-1", "turn": 0},
    "sender": {"role": "agent"},
    "input": {"task": {"name": subjects.PREVIEW.task, "args": {"url": "https://example.com/"}}},
}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/llmcp",
        name="llmcp",
        summary="Take an LLMCP request packet, and answer with the response packet.",
        about="For the tasks " + ", ".join(f"`{one.call.task}`" for one in PERMITTED.values()) + ". The key needs the "
        "scope of the task, as everywhere. A task that fails is answered with a packet that holds its `error`, "
        "in the status that it stands for; what is no packet, with an error as everywhere.",
        run=_answer,
        body=RequestPacket,
        answer=ResponsePacket,
        failure=ResponsePacket,
        errors=frozenset(http_status(fault(code)) for code in Code),
        scope=Scope.OPERATE,
        own_scopes=True,
        tag=Tag.PACKETS,
        example=EXAMPLE,
    ),
)
