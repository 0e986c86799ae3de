"""Summaries, answers and data of pages and documents, asked for a client of any surface (003 "Tasks")."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct, structs

from actors.gateway.access.caller import Scope
from actors.gateway.answer_results import (
    AnswerResult,
    ConversationView,
    ExtractResult,
    conversation_view,
    to_result,
)
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError
from actors.gateway.pages import advised, with_login
from actors.gateway.request import RequestContext
from bus.context import conversation, current_conversation
from protocol.agent import MadeText, MakeText
from protocol.answers import (
    MAX_SOURCES,
    Answered,
    AskConversation,
    AskQuestion,
    ConversationId,
    ConversationList,
    ConversationLog,
    ExtractData,
    Extracted,
    Instructions,
    ListConversations,
    Question,
    Sources,
    Summarize,
    SummaryStyle,
)
from protocol.browse import BrowseOptions, contradiction
from protocol.collections import own_id
from protocol.documents import Content, Document
from protocol.faults import Category, Code, Fault, FaultError, fault
from protocol.models import ModelName, Provider
from protocol.packets import Conversation
from protocol.pages import BrowsePage, Url
from protocol.subject_kinds import Call
from protocol.subjects import ANSWER, CONVERSATION_GET, CONVERSATION_LIST, EXTRACT, MAKE_TEXT, SUMMARIZE
from protocol.urls import without_userinfo

S = TypeVar("S", bound=Sources)
R = TypeVar("R", Answered, Extracted, MadeText)

MAX_DOCUMENTS = 4 * MAX_SOURCES

OwnCollection = Annotated[str, Meta(min_length=1, max_length=100, description="Id of a collection of yours.")]

NO_SCOPE = "The key has not the scope models, so no model was asked."
_PAGE_FAILURES = frozenset(Category) - {
    Category.VALIDATION,
    Category.CONFIG,
    Category.INTERNAL,
    Category.SECURITY,
    Category.RATE_LIMIT,
}


class SourceDocument(Document[Content], frozen=True, kw_only=True):
    """A document as LLMCP has it (003 "Context documents"): evidence, never an instruction.

    `kind` repeats `content.doc_type`, and `trust` is `untrusted`.
    """


class SourcesRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Pages by their addresses (`url` or `urls`), and documents as LLMCP has them; at least one of all.

    A model is named by `provider` and `model` together; `localOnly` has none asked: then what is said is quoted.
    """

    url: Url | None = None
    urls: Annotated[tuple[Url, ...], Meta(max_length=MAX_SOURCES, description="Full addresses.")] = ()
    documents: Annotated[tuple[SourceDocument, ...], Meta(max_length=MAX_DOCUMENTS)] = ()
    options: Annotated[BrowseOptions, Meta(description="For each page, as browse takes them.")] = BrowseOptions()
    format: Annotated[
        Literal["json", "markdown"],
        Meta(description="markdown: words alone, with the citations in a block at the end. A stream is always JSON."),
    ] = "json"
    provider: Provider | None = None
    model: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    local_only: bool = False
    max_cost_usd: Annotated[float, Meta(ge=0.0, description="What the calls of models may cost.")] | None = None
    conversation: ConversationId | None = None


class SummarizeRequest(SourcesRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is to be summarized, and how; sources of a collection of yours that suit are read too."""

    style: SummaryStyle = SummaryStyle.CONCISE
    collection: OwnCollection | None = None


class AnswerRequest(SourcesRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A question, and what it is to be answered from; sources of a collection of yours that suit are read too."""

    question: Question
    collection: OwnCollection | None = None


class ExtractRequest(SourcesRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The data that is wanted, by a JSON Schema, and what it is to be found in."""

    schema: Annotated[dict[str, Any], Meta(description="JSON Schema (2020-12) of the data.")]
    instructions: Annotated[Instructions, Meta(description="What a model is to heed beyond the schema.")] = ""


async def answer(app: AppContext, request: RequestContext, arguments: SourcesRequest) -> AnswerResult | ExtractResult:
    """Answer as the next turn of a conversation; raises like `ask`."""
    async with talking(app, request, arguments.conversation) as talk:
        return to_result(await ask(app, request, arguments), talk)


async def ask(app: AppContext, request: RequestContext, arguments: SourcesRequest) -> Answered | Extracted:
    """Have the answerer do what is asked, in the conversation at hand.

    Raises:
        FaultError: the request contradicts itself, the key is not good for it, or no source could be read.
    """
    if isinstance(arguments, AnswerRequest) and not arguments.question.strip():
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "question: it has no words.", field="question"))
    sources = await sources_of(app, request, arguments)
    match arguments:
        case SummarizeRequest(style=style):
            order = Summarize(**sources, style=style, collection=_collection(request, arguments))
            return await _call_answerer(app, request, SUMMARIZE, order)
        case AnswerRequest(question=question):
            posed = AskQuestion(**sources, question=question, collection=_collection(request, arguments))
            return await _call_answerer(app, request, ANSWER, posed)
        case ExtractRequest(schema=schema, instructions=instructions):
            wanted = ExtractData(**sources, schema=schema, instructions=instructions)
            return await _call_answerer(app, request, EXTRACT, wanted)
        case _:
            msg = f"no task takes {type(arguments).__name__}"
            raise TypeError(msg)


async def make_text(app: AppContext, request: RequestContext, order: MakeText) -> MadeText:
    """Have a text made of documents.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, its config is none; CONTENT_EMPTY, nothing can be made of them.
    """
    return accounted(request, await app.bus.call(MAKE_TEXT, order, wait_ms=app.grace_ms))


@asynccontextmanager
async def talking(app: AppContext, request: RequestContext, name: str | None) -> AsyncGenerator[Conversation]:
    """Do what follows as the next turn of a conversation of the caller: of the one that is named, or of a new one."""
    talk = Conversation(
        id=name or current_conversation().id, turn=1 + (await _turns(app, request, name) if name else 0)
    )
    with conversation(talk):
        yield talk


async def conversations(app: AppContext, request: RequestContext, limit: int, offset: int = 0) -> ConversationList:
    """List the conversations of the caller, the newest first."""
    question = ListConversations(caller=request.caller.name, limit=limit, offset=offset)
    return await app.bus.call(CONVERSATION_LIST, question, wait_ms=app.grace_ms)


async def conversation_log(app: AppContext, request: RequestContext, name: str) -> ConversationView:
    """Return what was said in a conversation of the caller.

    Raises:
        FaultError: VALIDATION_UNKNOWN_CONVERSATION, the caller has no such conversation.
    """
    return conversation_view(await _log(app, request, name))


async def _log(app: AppContext, request: RequestContext, name: str) -> ConversationLog:
    question = AskConversation(caller=request.caller.name, id=name)
    return await app.bus.call(CONVERSATION_GET, question, wait_ms=app.grace_ms)


async def _turns(app: AppContext, request: RequestContext, name: str) -> int:
    """Return how many turns a conversation has had; one that nobody knows begins."""
    try:
        return max((event.turn for event in (await _log(app, request, name)).events), default=0)
    except FaultError as error:
        if error.fault.code is Code.VALIDATION_UNKNOWN_CONVERSATION:
            return 0
        raise


async def _call_answerer(app: AppContext, request: RequestContext, call: Call[S, R], arguments: S) -> R:
    """Ask the answerer, and count what that used; a page that was not to be had is told of with the next calls."""
    try:
        result = await app.bus.call(call, arguments, wait_ms=app.grace_ms)
    except FaultError as error:
        if arguments.pin is not None and error.fault.code is Code.CONFIG_NO_MODEL:
            raise HttpStatusError(error.fault, HTTPStatus.CONFLICT) from None  # who named it can name another
        if not arguments.pages and error.fault.category is Category.CONTENT:
            raise _invalid(error.fault.message, "documents") from None
        if len(arguments.pages) != 1 or not _is_of_page(error.fault):
            raise
        raise FaultError(await advised(app, request, error.fault, arguments.pages[0])) from None
    return accounted(request, result)


def accounted(request: RequestContext, result: R) -> R:
    """Count what an answer has used, and return it as its client gets it."""
    request.usage.models_asked(result.served_by)
    for source in result.sources:
        if source.tier is not None:
            request.usage.page_read(source.tier)
    sources = tuple(structs.replace(source, url=without_userinfo(source.url)) for source in result.sources)
    served = result.served_by
    if Scope.MODELS not in request.caller.scopes:
        served = structs.replace(served, why_local=NO_SCOPE)
    return structs.replace(result, sources=sources, served_by=served)


def _is_of_page(failure: Fault) -> bool:
    return failure.category in _PAGE_FAILURES and failure.code is not Code.NETWORK_MODEL_FAILED


async def sources_of(
    app: AppContext, request: RequestContext, arguments: SourcesRequest, *, needed: bool = True
) -> dict[str, Any]:
    """Return what all of them have in common, with the right to the logins that pages are read with.

    `needed`: whether there must be something to read.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, AUTH_INSUFFICIENT_SCOPE or AUTH_MISSING_SESSION.
    """
    pin = _pin(arguments)
    if pin is not None:
        request.caller.require(Scope.MODELS)
    return {
        "pages": await _pages(app, request, arguments, needed=needed),
        "documents": arguments.documents,
        "caller": request.caller.name,
        "watch": request.watch,
        "pin": pin,
        "local_only": arguments.local_only or Scope.MODELS not in request.caller.scopes,
        "max_cost_usd": arguments.max_cost_usd,
    }


async def _pages(
    app: AppContext, request: RequestContext, arguments: SourcesRequest, *, needed: bool
) -> tuple[BrowsePage, ...]:
    """Return the pages, each once; who asks for several leaves out those that robots.txt keeps from programs."""
    if arguments.url is not None and arguments.urls:
        raise _invalid("Name the pages by url or by urls, not by both.", "url")
    urls = tuple(dict.fromkeys(arguments.urls)) if arguments.url is None else (arguments.url,)
    if needed and not urls and not arguments.documents and getattr(arguments, "collection", None) is None:
        raise _invalid("Name at least one source: url, urls, documents, or a collection of yours.", "urls")
    if (failure := contradiction(arguments.options)) is not None:
        raise FaultError(failure)
    pages = [BrowsePage(url=url, options=arguments.options, obey_robots=len(urls) > 1) for url in urls]
    return tuple([await with_login(app, request, page) for page in pages])


def _collection(request: RequestContext, arguments: SourcesRequest) -> str | None:
    """Return the collection that is read too, for a key that is good for collections."""
    name: str | None = getattr(arguments, "collection", None)
    if name is None:
        return None
    request.caller.require(Scope.COLLECTIONS)
    return own_id(name)


def _pin(arguments: SourcesRequest) -> ModelName | None:
    if arguments.provider is None and arguments.model is None:
        return None
    if arguments.provider is None or arguments.model is None:
        lacking = "provider" if arguments.provider is None else "model"
        raise _invalid("A model is named by provider and model together.", lacking)
    if arguments.local_only:
        raise _invalid("With localOnly no model is asked, so none can be named.", "localOnly")
    return ModelName(provider=arguments.provider, model=arguments.model)


def _invalid(message: str, field: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
