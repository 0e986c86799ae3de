"""The endpoint that takes LLMCP packets: a request in, the response out, for the tasks that a client may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.answer_results import as_assistant, as_markdown
from actors.gateway.answers import (
    AnswerRequest,
    ExtractRequest,
    SourcesRequest,
    SummarizeRequest,
    ask,
    make_text,
)
from actors.gateway.app_context import AppContext
from actors.gateway.errors import http_status
from actors.gateway.http import MARKDOWN, HttpStatusError, answer, headers_of, of_field
from actors.gateway.pages import advised, with_login
from actors.gateway.request import RequestContext
from actors.gateway.rest.packet_types import (
    AnsweringTask,
    AnswerTask,
    BrowseTask,
    CallingTask,
    DeleteTask,
    DomainArguments,
    DomainTask,
    ExtractTask,
    HealthTask,
    ListTask,
    LoginArguments,
    LoginsArguments,
    PageArguments,
    PreviewTask,
    RefreshTask,
    RequestPacket,
    ResponsePacket,
    SummarizeTask,
    TransformTask,
)
from actors.gateway.rest.routing import Endpoint, Tag
from bus.context import conversation, new_id
from protocol import subjects
from protocol.agent import MadeText, MakeText
from protocol.answers import Answered, Extracted
from protocol.domains import AskDomain
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import PROTOCOL_NAME, PROTOCOL_VERSION, Conversation, InReplyTo, Protocol, Role, Sender
from protocol.pages import Browsed, BrowsePage
from protocol.sessions import ListSessions, NamedSession
from protocol.subject_kinds import Call


class Permitted(Struct, frozen=True):
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

ANSWERING = (subjects.SUMMARIZE, subjects.ANSWER, subjects.EXTRACT, subjects.MAKE_TEXT)
"""What is answered for a reader."""

TASKS = tuple(one.task for one in (*(permitted.call for permitted in PERMITTED.values()), *ANSWERING))
"""The names of all tasks that a client may give."""

_IN_PACKET = frozenset({"assistant", "tool_calls"})
_PARTS = ("input.", "context.")
_QUESTION = "input.user_message.text"


async def _answer(app: AppContext, request: RequestContext, packet: RequestPacket) -> Response:
    """Do the task in the conversation of the packet."""
    with conversation(Conversation(id=packet.conversation.id, turn=packet.conversation.turn)):
        task = packet.input.task
        try:
            if isinstance(task, AnsweringTask):
                return await _answered(app, request, packet, task)
            result = await _call(app, request, task)
        except FaultError as raised:
            error = _of_packet(raised)
            status = error.status if isinstance(error, HttpStatusError) else http_status(error.fault)
            if error.fault.code is Code.AUTH_MISSING_SESSION and isinstance(task.args, LoginArguments):
                status = HTTPStatus.NOT_FOUND
            return answer(_response(packet, error=error.fault), status, headers_of(error, status))
        return answer(_response(packet, result=result))


def _of_packet(error: FaultError) -> FaultError:
    """Return the error of a task with the path of its field in the packet."""
    field = error.fault.field
    if field is None or field.startswith(_PARTS):
        return error
    return of_field(error, f"context.{field}" if field.startswith("documents") else f"input.task.args.{field}")


async def _answered(app: AppContext, request: RequestContext, packet: RequestPacket, task: AnsweringTask) -> Response:
    """Answer from pages and documents: by a packet, or without an envelope where Markdown is wanted."""
    request.caller.require(Scope.BROWSE)
    if isinstance(task, TransformTask):
        outcome: Answered | Extracted | MadeText = await make_text(app, request, _text_of(request, packet, task))
    else:
        outcome = await ask(app, request, _sources_of(packet, task))
    if packet.output.format == "markdown":
        return Response(as_markdown(outcome), media_type=MARKDOWN)
    details = {name: value for name, value in msgspec.to_builtins(outcome).items() if name not in _IN_PACKET}
    calls = outcome.tool_calls if isinstance(outcome, Answered) else ()
    packed = _response(packet, Role.ASSISTANT)
    return answer(structs.replace(packed, assistant=as_assistant(outcome), tool_calls=calls, details=details))


def _text_of(request: RequestContext, packet: RequestPacket, task: TransformTask) -> MakeText:
    """Return the text that a task asks for, of the documents of its packet.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: there are none.
    """
    if not packet.context.documents:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "There is no document.", field="context.documents"))
    given, caller = task.args, request.caller
    return MakeText(
        type=given.type,
        documents=packet.context.documents,
        caller=caller.name,
        title=given.title,
        config=given.config,
        local_only=given.local_only or Scope.MODELS not in caller.scopes,
    )


def _sources_of(packet: RequestPacket, task: SummarizeTask | AnswerTask | ExtractTask) -> SourcesRequest:
    """Return the request that a task is, with the documents of its packet and the words of the user.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: a question without words.
    """
    given: dict[str, Any] = structs.asdict(task.args) | {"documents": packet.context.documents}
    user_text = "" if isinstance(packet.input.user_message, UnsetType) else packet.input.user_message.text
    match task:
        case SummarizeTask():
            return SummarizeRequest(**given)
        case AnswerTask():
            question = given.pop("question") or user_text
            if not question:
                raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "There is no question.", field=_QUESTION))
            return AnswerRequest(**given, question=question)
        case ExtractTask():
            instructions = given.pop("instructions")
            return ExtractRequest(**given, instructions=user_text if instructions is None else instructions)


async def _call(app: AppContext, request: RequestContext, task: CallingTask) -> Any:
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


def _response(
    packet: RequestPacket, role: Role = Role.AGENT, *, result: Any = UNSET, error: Fault | UnsetType = UNSET
) -> ResponsePacket:
    return ResponsePacket(
        protocol=Protocol(name=PROTOCOL_NAME, version=PROTOCOL_VERSION),
        id=new_id(),
        created_at=datetime.now(UTC),
        conversation=Conversation(id=packet.conversation.id, turn=packet.conversation.turn),
        sender=Sender(role=role, actor="gateway"),
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
        about="For the tasks " + ", ".join(f"`{task}`" for task in TASKS) + ". The key needs the scope of the task, as "
        "everywhere. What answers from pages and documents takes those of `context` too, and is answered with an "
        "`assistant`, or with `output.format` `markdown` without an envelope. A task that fails is answered with a "
        "packet that holds its `error`, in the status that it stands for; what is no packet, with an error as "
        "everywhere.",
        run=_answer,
        body=RequestPacket,
        answer=ResponsePacket,
        also=MARKDOWN,
        failure=ResponsePacket,
        errors=frozenset(http_status(fault(code)) for code in Code),
        scope=Scope.OPERATE,
        own_scopes=True,
        tag=Tag.PACKETS,
        example=EXAMPLE,
    ),
)
