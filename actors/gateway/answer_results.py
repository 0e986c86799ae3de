"""Answers as clients get them: as data, as Markdown with a block of citations, and as text for a model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from actors.gateway.errors import to_error
from actors.gateway.translate import cut_text, framed, one_line
from actors.page_addresses import readable
from protocol.agent import MadeText
from protocol.answers import (
    LOCAL,
    Answered,
    ChatEvent,
    ChatToolResult,
    ConversationLog,
    DocumentDigest,
    Extracted,
    FieldFound,
    FieldOrigin,
    ModelRun,
    ServedBy,
    SourceRead,
)
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.confidence import Score
from protocol.packets import Assistant, Citation, Conversation, Locator, ToolCall
from protocol.render import CodeBlock, Doc, List, ListItem, Paragraph, Text, plain, to_markdown
from protocol.tiers import RenderTier

CITATIONS = "---CITATIONS---"
END_CITATIONS = "---END CITATIONS---"
"""The lines between which Markdown has its citations, one JSON object a line."""


class CitedQuote(Struct, frozen=True, kw_only=True, rename="camel"):
    """Words that stand in a source, and where."""

    doc_id: str | UnsetType = UNSET
    source_id: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    quote: str | UnsetType = UNSET
    locator: Locator | UnsetType = UNSET
    confidence: Score | UnsetType = UNSET


class ReadSource(Struct, frozen=True, kw_only=True, rename="camel"):
    """A source as it was read, by the id that citations name it by; or why it was not.

    Of a collection's source there is its id, and when it was captured (ms since the epoch).
    """

    doc_id: str
    url: str
    title: str = ""
    chars: int = 0
    confidence: Score | UnsetType = UNSET
    tier: RenderTier | UnsetType = UNSET
    error: StructuredError | UnsetType = UNSET
    source_id: str | UnsetType = UNSET
    captured_at: int | UnsetType = UNSET


class FoundField(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the value of a field comes from, or the reason why there is none."""

    confidence: Score
    origin: FieldOrigin | UnsetType = UNSET
    citation: CitedQuote | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class AnswerResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """An answer from the sources, and from nothing else.

    `supported`: whether they say what was asked; where they do not, the answer says so, and `collect` what to read
    next. Every citation stands in its source, word for word; `unsupported` are claims that have none. `toolCalls` are
    proposals of a model: nothing was executed.
    """

    supported: bool
    confidence: Score
    citations: tuple[CitedQuote, ...]
    sources: tuple[ReadSource, ...]
    served_by: ServedBy
    conversation: Conversation
    markdown: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    unsupported: tuple[str, ...] | UnsetType = UNSET
    collect: tuple[str, ...] | UnsetType = UNSET
    tool_calls: tuple[ToolCall, ...] | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class ExtractResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """Data that matches the schema, where null may stand for what is not there.

    `fields` tells of each value where it comes from, by its JSON Pointer (RFC 6901).
    """

    data: Any
    fields: dict[str, FoundField]
    confidence: Score
    sources: tuple[ReadSource, ...]
    served_by: ServedBy
    conversation: Conversation
    schema_version: str = SCHEMA_VERSION


class ConversationEvent(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What was asked or answered; `at` in ms since the epoch. Of documents there is a digest and a beginning alone."""

    id: str
    at: int
    turn: int
    role: Literal["user", "assistant"]
    task: str
    markdown: str
    citations: tuple[CitedQuote, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ChatToolResult, ...] = ()
    documents: tuple[DocumentDigest, ...] = ()
    served_by: ServedBy | None = None
    error: StructuredError | None = None


class ConversationView(Struct, frozen=True, kw_only=True, rename="camel"):
    """A conversation: what was said in it, and the calls of models that it took, each in its order."""

    id: str
    events: tuple[ConversationEvent, ...]
    model_runs: tuple[ModelRun, ...]
    schema_version: str = SCHEMA_VERSION


# -- as data -----------------------------------------------------------------------------------------------------------


def to_result(outcome: Answered | Extracted, talk: Conversation) -> AnswerResult | ExtractResult:
    """Return what the answerer answered as clients get it, with the conversation that it is a turn of."""
    return _answer(outcome, talk) if isinstance(outcome, Answered) else _data(outcome, talk)


def conversation_view(log: ConversationLog) -> ConversationView:
    """Return a conversation as clients get it."""
    return ConversationView(id=log.id, events=tuple(map(_event, log.events)), model_runs=log.model_runs)


def _answer(answered: Answered, talk: Conversation) -> AnswerResult:
    return AnswerResult(
        title=answered.assistant.title,
        markdown=markdown_of(answered.assistant),
        supported=answered.supported,
        confidence=answered.confidence,
        citations=tuple(map(_cited, answered.assistant.citations)),
        sources=tuple(map(_source, answered.sources)),
        served_by=answered.served_by,
        conversation=talk,
        unsupported=answered.unsupported or UNSET,
        collect=answered.collect or UNSET,
        tool_calls=answered.tool_calls or UNSET,
    )


def _data(extracted: Extracted, talk: Conversation) -> ExtractResult:
    return ExtractResult(
        data=extracted.data,
        fields={pointer: _field(origin) for pointer, origin in extracted.fields.items()},
        confidence=extracted.confidence,
        sources=tuple(map(_source, extracted.sources)),
        served_by=extracted.served_by,
        conversation=talk,
    )


def _cited(citation: Citation) -> CitedQuote:
    return CitedQuote(**structs.asdict(citation))


def _source(source: SourceRead) -> ReadSource:
    return ReadSource(
        doc_id=source.doc_id,
        url=readable(source.url),
        title=source.title,
        chars=source.chars,
        confidence=UNSET if source.confidence is None else source.confidence,
        tier=source.tier or UNSET,
        error=UNSET if source.error is None else to_error(source.error),
        source_id=source.source_id or UNSET,
        captured_at=UNSET if source.captured_at is None else source.captured_at,
    )


def _field(origin: FieldFound) -> FoundField:
    return FoundField(
        confidence=origin.confidence,
        origin=origin.origin or UNSET,
        citation=UNSET if origin.citation is None else _cited(origin.citation),
        reason=origin.reason or UNSET,
    )


def _event(event: ChatEvent) -> ConversationEvent:
    return ConversationEvent(
        id=event.id,
        at=event.at,
        turn=event.turn,
        role=event.role,
        task=event.task,
        markdown=event.markdown,
        citations=tuple(map(_cited, event.citations)),
        tool_calls=event.tool_calls,
        tool_results=event.tool_results,
        documents=event.documents,
        served_by=event.served_by,
        error=None if event.fault is None else to_error(event.fault),
    )


# -- as LLMCP has it (003) ---------------------------------------------------------------------------------------------


def markdown_of(assistant: Assistant) -> str:
    """Return the words of an answer, written from its tree where they do not come along."""
    if not isinstance(assistant.markdown, UnsetType):
        return assistant.markdown
    return "" if isinstance(assistant.render, UnsetType) else to_markdown(assistant.render)


def as_assistant(outcome: Answered | Extracted | MadeText) -> Assistant:
    """Return the body of a response packet: a tree, which of data is one block of JSON, and citations."""
    if isinstance(outcome, Extracted):
        tree = Doc(children=(CodeBlock(language="json", text=_json(outcome.data)),))
        return Assistant(render=tree, citations=_citations(outcome))
    assistant = outcome.assistant
    tree = plain(markdown_of(assistant)) if isinstance(assistant.render, UnsetType) else assistant.render
    tree = _with_next(tree, outcome) if isinstance(outcome, Answered) else tree
    return structs.replace(assistant, render=tree, markdown=UNSET)


def _with_next(tree: Doc, answered: Answered) -> Doc:
    """Add what to read next where the sources do not say it: a packet has no field for that (003 "Markdown output")."""
    collect = () if answered.supported else answered.collect
    items = tuple(ListItem(children=(Text(text=one),)) for one in collect)
    head = Paragraph(children=(Text(text="To read next:"),))
    return Doc(children=(*tree.children, head, List(ordered=False, items=items))) if items else tree


def as_markdown(outcome: Answered | Extracted | MadeText) -> str:
    """Write the same without an envelope, with the citations in a block at the end (003 "Markdown-only output")."""
    assistant = as_assistant(outcome) if isinstance(outcome, Extracted) else outcome.assistant
    following = to_markdown(_with_next(Doc(children=()), outcome)) if isinstance(outcome, Answered) else ""
    lines = [msgspec.json.encode(citation).decode() for citation in assistant.citations]
    block = ["", CITATIONS, *lines, END_CITATIONS] if lines else []
    words = "\n\n".join(filter(None, (markdown_of(assistant).strip("\n"), following)))
    return "\n".join([words, *block, ""])


def _citations(extracted: Extracted) -> tuple[Citation, ...]:
    citations = (one.citation for one in extracted.fields.values())
    return tuple(dict.fromkeys(citation for citation in citations if citation is not None))


def _json(data: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode()


# -- as text for a model -----------------------------------------------------------------------------------------------


def result_text(result: AnswerResult | ExtractResult, boundary: str) -> str:
    """Write an answer for a model: what is the web's stands in a frame, as it does of pages."""
    return _answer_text(result, boundary) if isinstance(result, AnswerResult) else _data_text(result, boundary)


def _answer_text(result: AnswerResult, boundary: str) -> str:
    support = "" if result.supported else " The sources do not seem to say what was asked."
    quotes = [f"[{number}] {_quoted(one)}" for number, one in enumerate(result.citations, 1)]
    unsupported = [f"- {one_line(claim)}" for claim in result.unsupported or ()]
    collect = [f"- {one_line(next_one)}" for next_one in result.collect or ()]
    inside = [
        cut_text((result.markdown or "").strip("\n"), MAX_WORDS_BYTES),
        *_listed("Citations, each word for word in its source:", quotes),
        *_listed("Claims that no source bears out:", unsupported),
        *_listed("To read next:", collect),
    ]
    lines = [_served(result.served_by, result.confidence) + support, *_unread(result.sources)]
    return "\n".join([*lines, framed("\n".join(inside), boundary), _go_on(result.conversation)])


def _data_text(result: ExtractResult, boundary: str) -> str:
    data = _json(result.data)
    missing = [
        f"- {one_line(pointer)}: {one_line(one.reason or 'not found')}"
        for pointer, one in result.fields.items()
        if one.origin is UNSET
    ]
    shown = data.encode()[:MAX_WORDS_BYTES].decode(errors="ignore")
    cut = (
        [] if shown == data else [f"This is a part: {len(shown):,} of {len(data):,} characters. Ask for less at once."]
    )
    inside = "\n".join([shown, *_listed("Without a value:", missing)])
    lines = [_served(result.served_by, result.confidence), *_unread(result.sources), *cut]
    return "\n".join([*lines, framed(inside, boundary), _go_on(result.conversation)])


def _quoted(citation: CitedQuote) -> str:
    where = citation.url or citation.doc_id or citation.source_id or ""
    return f'"{cut_text(one_line(citation.quote or ""), MAX_LINE_BYTES)}" {cut_text(one_line(where), MAX_LINE_BYTES)}'


def _listed(heading: str, lines: list[str]) -> list[str]:
    """Write lines below a heading, as many as there is room for."""
    if not lines:
        return []
    sizes = accumulate(len(line.encode()) + 1 for line in lines)
    shown = [line for line, size in zip(lines, sizes, strict=True) if size <= MAX_LIST_BYTES]
    left = len(lines) - len(shown)
    return ["", heading, *shown, *([f"({left} more)"] if left else [])]


def _served(served: ServedBy, confidence: float) -> str:
    sure = f"Confidence {confidence:.2f}."
    if served.provider == LOCAL:
        return " ".join(filter(None, ("Quoted from the sources.", one_line(served.why_local), sure)))
    return f"Answered by {served.provider} {one_line(served.model or '')} from the sources. {sure}"


def _unread(sources: Iterable[ReadSource]) -> list[str]:
    return [
        f"Not read: {one_line(one.url)}: {one_line(one.error.error)} [{one.error.code}]"
        for one in sources
        if not isinstance(one.error, UnsetType)
    ]


def _go_on(talk: Conversation) -> str:
    return f"To go on: conversation {talk.id}"


MAX_WORDS_BYTES = 10_000
MAX_LIST_BYTES = 4_000
MAX_LINE_BYTES = 500
"""What the words, each list and each quote may take of a text: with its frame and our own words that stays below 20 KB,
since of claims and of what to read next there are few."""
