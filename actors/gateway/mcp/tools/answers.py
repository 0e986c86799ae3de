"""The tools of the core toolset that answer from pages: a summary, an answer to a question, and data by a schema."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any

from mcp.types import ToolAnnotations
from msgspec import UNSET, Meta, Struct, structs

from actors.gateway import answers
from actors.gateway.answer_results import AnswerResult, ExtractResult, result_text
from actors.gateway.answers import AnswerRequest, ConversationId, ExtractRequest, SourcesRequest, SummarizeRequest
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer
from actors.gateway.mcp.tool_schemas import BRIEFLY
from actors.gateway.request import RequestContext
from protocol.answers import MAX_SOURCES, SummaryStyle
from protocol.browse import BrowseOptions
from protocol.pages import Url

BOUNDARY_BYTES = 8


class PagesCall(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The pages to answer from, and how they are read."""

    urls: Annotated[tuple[Url, ...], Meta(min_length=1, max_length=MAX_SOURCES)]
    options: Annotated[BrowseOptions, Meta(description="As browse takes them.", extra_json_schema={BRIEFLY: True})] = (
        BrowseOptions()
    )
    local_only: bool = False
    conversation: ConversationId | None = None


class SummarizePages(PagesCall, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """What is to be summarized, and how."""

    style: SummaryStyle = SummaryStyle.CONCISE


class AskPages(PagesCall, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A question, and what it is to be answered from."""

    question: answers.Question


class ExtractFromPages(PagesCall, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The data that is wanted, and what it is to be found in."""

    schema: Annotated[dict[str, Any], Meta(description="JSON Schema.")]
    instructions: answers.Instructions = ""


async def _answer(
    kind: type[SourcesRequest], app: AppContext, request: RequestContext, arguments: PagesCall
) -> ToolAnswer:
    result = await answers.answer(app, request, kind(**structs.asdict(arguments)))
    return ToolAnswer(result_text(result, secrets.token_hex(BOUNDARY_BYTES)), _without_words(result))


def _without_words(result: AnswerResult | ExtractResult) -> AnswerResult | ExtractResult:
    """Leave out of the data the words that stand in the text."""
    return structs.replace(result, markdown=UNSET) if isinstance(result, AnswerResult) else result


_TOOL = partial(BuiltinTool[Any], words_in_text=True, annotations=ToolAnnotations(read_only_hint=True))
"""What all of them have in common."""

_PLAIN = frozenset({"conversation", "options"})

ANSWER_TOOLS: Mapping[str, BuiltinTool[Any]] = MappingProxyType(
    {
        "summarize": _TOOL(
            title="Summarize pages",
            description="Summarize pages, with verbatim quotes.",
            arguments=SummarizePages,
            run=partial(_answer, SummarizeRequest),
            answer=AnswerResult,
            plain=_PLAIN,
        ),
        "answer": _TOOL(
            title="Answer from pages",
            description="Answer a question from pages alone, with verbatim quotes, or say that they do not tell.",
            arguments=AskPages,
            run=partial(_answer, AnswerRequest),
            answer=AnswerResult,
            plain=_PLAIN,
        ),
        "extract": _TOOL(
            title="Extract data",
            description="Find data in pages, each value with its quote; null is what is not there.",
            arguments=ExtractFromPages,
            run=partial(_answer, ExtractRequest),
            answer=ExtractResult,
            plain=_PLAIN,
        ),
    }
)
"""The tools, by name."""
