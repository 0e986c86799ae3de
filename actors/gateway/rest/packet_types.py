"""The LLMCP packets that clients send and get: the tasks that they may name, and what each is told (003)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.gateway.answers import MAX_DOCUMENTS, SourceDocument
from actors.gateway.rest.browse import HOST
from protocol import subjects
from protocol.agent import TransformType
from protocol.answers import MAX_QUESTION_CHARS, MAX_SOURCES, Instructions, Question, SummaryStyle
from protocol.browse import BrowseOptions
from protocol.faults import Fault
from protocol.models import Provider
from protocol.packets import Assistant, Conversation, InReplyTo, Moment, Output, Protocol, Sender, ToolCall
from protocol.pages import Url
from protocol.sessions import DEFAULT_PROFILE, Profile
from protocol.texts import MAX_TITLE_CHARS

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


class SourcesArguments(Struct, frozen=True, kw_only=True):
    """What is answered from, beside the documents of the packet, and by which model."""

    url: Url | None = None
    urls: Annotated[tuple[Url, ...], Meta(max_length=MAX_SOURCES)] = ()
    options: BrowseOptions = BrowseOptions()
    provider: Provider | None = None
    model: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    local_only: bool = False
    max_cost_usd: Annotated[float, Meta(ge=0.0)] | None = None


class SummarizeArguments(SourcesArguments, frozen=True, kw_only=True):
    """How much is said."""

    style: SummaryStyle = SummaryStyle.CONCISE


class AnswerArguments(SourcesArguments, frozen=True, kw_only=True):
    """The question; without one it is what the user said."""

    question: Question | None = None


class ExtractArguments(SourcesArguments, frozen=True, kw_only=True):
    """The data that is wanted, as a JSON Schema; without instructions they are what the user said."""

    schema: dict[str, Any]
    instructions: Instructions | None = None


class SummarizeTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.SUMMARIZE.task):
    """Summarize pages and documents."""

    args: SummarizeArguments = SummarizeArguments()


class AnswerTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.ANSWER.task):
    """Answer a question from pages and documents."""

    args: AnswerArguments = AnswerArguments()


class ExtractTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.EXTRACT.task):
    """Find data in pages and documents."""

    args: ExtractArguments


class TransformArguments(Struct, frozen=True, kw_only=True):
    """What is to be made of the documents of the packet; `config` as `transform.list_types` has it."""

    type: TransformType
    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARS)] = ""
    config: dict[str, Any] = {}
    local_only: bool = False


class TransformTask(Struct, frozen=True, kw_only=True, tag_field="name", tag=subjects.MAKE_TEXT.task):
    """Make a text of documents, such as those of a collection."""

    args: TransformArguments


AnsweringTask = SummarizeTask | AnswerTask | ExtractTask | TransformTask
CallingTask = BrowseTask | PreviewTask | DomainTask | ListTask | HealthTask | DeleteTask | RefreshTask
Task = CallingTask | AnsweringTask


class UserWords(Struct, frozen=True, kw_only=True):
    """What the user said."""

    id: Id
    text: Annotated[str, Meta(max_length=MAX_QUESTION_CHARS)]


class TaskInput(Struct, frozen=True, kw_only=True):
    """What a request packet asks for."""

    task: Task
    user_message: UserWords | UnsetType = UNSET


class PacketContext(Struct, frozen=True, kw_only=True):
    """The evidence that comes with a request."""

    documents: Annotated[tuple[SourceDocument, ...], Meta(max_length=MAX_DOCUMENTS)] = ()


class RequestPacket(Struct, frozen=True, kw_only=True):
    """An LLMCP request packet; what it holds beside this is not looked at."""

    type: Literal["request"]
    protocol: Protocol
    id: Id
    created_at: Moment
    conversation: Talk
    sender: Sender
    input: TaskInput
    context: PacketContext = PacketContext()
    output: Output = Output()


class Talk(Struct, frozen=True, kw_only=True):
    """The piece of a user's work that a packet belongs to; the packets that it leads to keep it."""

    id: Id
    turn: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0


class ResponsePacket(Struct, frozen=True, kw_only=True):
    """An LLMCP response packet, with an answer for a reader (`assistant`), a `result` or an `error`.

    `details` of an answer are an addition to 003: who has given it, from what, and of data the values by their fields.
    """

    protocol: Protocol
    id: str
    created_at: datetime
    conversation: Conversation
    sender: Sender
    in_reply_to: InReplyTo
    type: Literal["response"] = "response"
    assistant: Assistant | UnsetType = UNSET
    result: Any | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    tool_calls: tuple[ToolCall, ...] | UnsetType = UNSET
    details: Any | UnsetType = UNSET
