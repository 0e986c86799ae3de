"""Summaries, answers and data of pages and documents, each with citations that stand in them (003 "Tasks")."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.browse import SCHEMA_VERSION
from protocol.confidence import Score
from protocol.documents import Content, Document
from protocol.faults import Fault
from protocol.models import ModelName, RouteReason, TokenUsage
from protocol.packets import Assistant, Citation, ToolCall
from protocol.pages import BrowsePage
from protocol.policy import Reason, ToolStatus, Verb
from protocol.replicas import Watch
from protocol.tiers import RenderTier

MAX_SOURCES: Final = 20
"""Pages and documents of one request."""

MAX_QUESTION_CHARS: Final = 4_000

LOCAL: Final = "local"
"""The provider that needs no key: it quotes what stands in the sources, and says no more."""

ConversationId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9_.:-]+$(?!\n)",
        description="Conversation to go on with, as an answer named it.",
    ),
]
Question = Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]
Instructions = Annotated[str, Meta(max_length=MAX_QUESTION_CHARS)]


class Sources(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a request is about: pages that are to be read, and documents that come with it.

    `collection` is one of the caller's, whose sources that suit best are read too.
    `caller` is who pays, `watch` who is told how far that is and what is written (ANSWER_TEXT). `pin` names the model,
    `local_only` has none asked.
    """

    pages: Annotated[tuple[BrowsePage, ...], Meta(max_length=MAX_SOURCES)] = ()
    documents: Annotated[tuple[Document[Content], ...], Meta(max_length=4 * MAX_SOURCES)] = ()
    collection: str | None = None
    caller: str = ""
    watch: Watch | None = None
    pin: ModelName | None = None
    local_only: bool = False
    max_cost_usd: float | None = None


class SummaryStyle(StrEnum):
    """How much a summary says."""

    CONCISE = "concise"
    DETAILED = "detailed"
    BULLETS = "bullets"


class Summarize(Sources, frozen=True, kw_only=True, omit_defaults=True):
    """SUMMARIZE: say what stands in the sources."""

    style: SummaryStyle = SummaryStyle.CONCISE


class AskQuestion(Sources, frozen=True, kw_only=True, omit_defaults=True):
    """ANSWER: answer a question from the sources, and from nothing else."""

    question: Annotated[str, Meta(min_length=1, max_length=MAX_QUESTION_CHARS)]


class ExtractData(Sources, frozen=True, kw_only=True, omit_defaults=True):
    """EXTRACT: find the data that a JSON Schema describes; `instructions` say what a model is to heed beyond it."""

    schema: dict[str, Any]
    instructions: Annotated[str, Meta(max_length=MAX_QUESTION_CHARS)] = ""


class AnswerText(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """ANSWER_TEXT: what was written further of an answer, before its citations were checked; see ModelText."""

    token: str
    index: int
    text: str
    restarted: bool = False


class SourceRead(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A source as it was read: the id that citations name it by, how sure its reading is, or why it was not read.

    `tier` read it, where it is a page. `source_id` and when it was captured (ms since the epoch) where it is of a
    collection.
    """

    doc_id: str
    url: str
    title: str = ""
    tier: RenderTier | None = None
    confidence: Score | None = None
    chars: int = 0
    error: Fault | None = None
    source_id: str = ""
    captured_at: int | None = None


class ServedBy(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Who has answered: `provider` is `local` where no model was asked; `why_local` says why.

    `cost_usd` is None where no price is known; several calls are added up.
    """

    provider: str
    model: str | None = None
    requested: ModelName | None = None
    reason: RouteReason | None = None
    why_local: str = ""
    calls: int = 0
    usage: TokenUsage = TokenUsage()
    cost_usd: float | None = None


class Answered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to SUMMARIZE and ANSWER.

    `supported`: whether the sources say what was asked; where they do not, `assistant` says so, and `collect` what to
    read next. Each citation stands in the source that it names, word for word. `unsupported` are claims that lost
    theirs. `tool_calls` are proposals: nothing was executed.
    """

    assistant: Assistant
    supported: bool
    sources: tuple[SourceRead, ...]
    served_by: ServedBy
    confidence: Score
    unsupported: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


class FieldOrigin(StrEnum):
    """By what means a value was found."""

    STRUCTURED_DATA = "structured_data"
    PAGE_FIELD = "page_field"
    TABLE = "table"
    RECORD = "record"
    KEY_VALUE = "key_value"
    TEXT = "text"
    MODEL = "model"


class FieldFound(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the value of a field comes from, or why there is none."""

    confidence: Score = 0.0
    origin: FieldOrigin | None = None
    citation: Citation | None = None
    reason: str = ""


class Extracted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to EXTRACT: `data` matches the schema where null may stand for what is not there.

    `fields` names each leaf of `data` by its JSON Pointer (RFC 6901).
    """

    data: Any
    fields: dict[str, FieldFound]
    sources: tuple[SourceRead, ...]
    served_by: ServedBy
    confidence: Score


ChatId = Annotated[str, Meta(pattern=r"^chat_[A-Za-z0-9_-]{16,86}$(?!\n)")]


class ChatToolResult(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What has come of a proposed call (003 "tool results"): by the id that the gate knows it by.

    Before anything has come of it, `status` is None. `approval` is what it waits for.
    """

    call_id: str
    status: ToolStatus | None = None
    by: Literal["model", "rule"] = "model"
    decision: Verb | None = None
    reason_code: Reason | None = None
    approval: str = ""


class ChatEvent(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A line of CONVERSATIONS: what was asked or answered (003 "Durable history"); `at` in ms since the epoch.

    Of documents there is a digest and a beginning alone. `collection` is the one that the question was about, if any.
    `tool_results` tell of each of `tool_calls` what has come of it, in the same order.
    """

    id: ChatId
    at: int
    conversation: str
    turn: Annotated[int, Meta(ge=0, le=2**53)]
    caller: str
    role: Literal["user", "assistant"]
    task: str
    markdown: str
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ChatToolResult, ...] = ()
    documents: tuple[DocumentDigest, ...] = ()
    served_by: ServedBy | None = None
    fault: Fault | None = None
    collection: str | None = None


def conversation_topic(caller: str, conversation: str) -> str:
    """Name where the lines of a conversation are: by a hash, since clients choose its id."""
    return blake2b(f"{caller} {conversation}".encode(errors="replace"), digest_size=16).hexdigest()


class DocumentDigest(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What is remembered of a document: where it is from, the SHA-256 of its Markdown, and its beginning, redacted."""

    doc_id: str
    url: str
    digest: str
    chars: int
    preview: str = ""


class ListConversations(Struct, frozen=True, kw_only=True):
    """CONVERSATION_LIST: the conversations of a caller, the newest first."""

    caller: str
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    offset: Annotated[int, Meta(ge=0)] = 0


class ConversationInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A conversation as it is listed, by what was asked first in it; times in ms since the epoch."""

    id: str
    started_at: int
    updated_at: int
    turns: int
    task: str
    preview: str


class ConversationList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The conversations of a caller, the newest first, and how many there are."""

    conversations: tuple[ConversationInfo, ...]
    total: int
    schema_version: str = SCHEMA_VERSION


class AskConversation(Struct, frozen=True, kw_only=True):
    """CONVERSATION_GET: one conversation of a caller."""

    caller: str
    id: str


class ModelRun(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A try of a call of a model within a conversation (003 `llm_runs`): payloads are previews, redacted.

    `verified`: whether a check has found the answer to be true, where one was made.
    """

    call_id: str
    at: int
    tool: str
    provider: str
    model: str
    success: bool
    latency_ms: int
    usage: TokenUsage = TokenUsage()
    cost_usd: float | None = None
    error: str | UnsetType = UNSET
    verified: bool | UnsetType = UNSET
    request_preview: str = ""
    response_preview: str = ""


class ConversationLog(Struct, frozen=True, kw_only=True, rename="camel"):
    """A conversation: what was said in it, and the calls of models that it took, each in its order."""

    id: str
    events: tuple[ChatEvent, ...]
    model_runs: tuple[ModelRun, ...]
    schema_version: str = SCHEMA_VERSION
