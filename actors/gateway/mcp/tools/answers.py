"""The tools of the core toolset that answer from pages: a summary, an answer to a question, and data by a schema."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from mcp.types import ToolAnnotations
from msgspec import UNSET, structs

from actors.gateway import answers
from actors.gateway.answer_results import AnswerResult, ExtractResult, result_text
from actors.gateway.answers import AnswerRequest, ExtractRequest, SourcesRequest, SummarizeRequest
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer
from actors.gateway.request import RequestContext
from protocol.tools.web import WEB_TOOLS, PagesCall

BOUNDARY_BYTES = 8


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

ANSWER_TOOLS: tuple[BuiltinTool[Any], ...] = (
    _TOOL(
        WEB_TOOLS["summarize"],
        partial(_answer, SummarizeRequest),
        title="Summarize pages",
        answer=AnswerResult,
        plain=_PLAIN,
    ),
    _TOOL(
        WEB_TOOLS["answer"],
        partial(_answer, AnswerRequest),
        title="Answer from pages",
        answer=AnswerResult,
        plain=_PLAIN,
    ),
    _TOOL(
        WEB_TOOLS["extract"],
        partial(_answer, ExtractRequest),
        title="Extract data",
        answer=ExtractResult,
        plain=_PLAIN,
    ),
)
"""The tools."""
