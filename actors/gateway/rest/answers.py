"""The endpoints that answer from pages and documents: summaries, answers to questions, and data by a schema."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from actors.gateway import answers
from actors.gateway.answer_results import AnswerResult, ExtractResult, as_markdown, to_result
from actors.gateway.answers import AnswerRequest, ExtractRequest, SourcesRequest, SummarizeRequest
from actors.gateway.app_context import AppContext
from actors.gateway.http import MARKDOWN, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import PAGE_ERRORS, VARY
from actors.gateway.rest.routing import Endpoint, Tag
from actors.gateway.rest.streaming import EventStream


async def _answer(app: AppContext, request: RequestContext, arguments: SourcesRequest) -> Response:
    async with answers.talking(app, request, arguments.conversation) as talk:
        outcome = await answers.ask(app, request, arguments)
    if arguments.format == "markdown":
        return Response(as_markdown(outcome), headers=VARY, media_type=MARKDOWN)
    return answer(to_result(outcome, talk), headers=VARY)


async def _answer_events(app: AppContext, request: RequestContext, arguments: SourcesRequest) -> Response:
    return EventStream(app, request, lambda watched: answers.answer(app, watched, arguments))


_STREAM = (
    "Server-sent events, for a client that accepts `text/event-stream`: `started` at once, `progress` while pages are "
    "read, `text` with what a model writes as it writes it, `{index, text}`, before its citations were checked; "
    "`restarted` where another model begins again, and what came before is void; then one `result` with what the JSON "
    "answer would be, or one `error`. What counts is the result. Whoever closes the stream ends the work."
)
_ABOUT = (
    "From up to 20 pages and 80 documents, and from nothing else. Every citation stands in its source, word for word. "
    "Without a provider, with `localOnly`, and for a key without the scope `models`, no model is asked: then the words "
    "of the sources are quoted, and `servedBy.whyLocal` says why. `conversation` of an answer goes on with it."
)
_FAMILY: dict[str, Any] = {
    "method": "POST",
    "run": _answer,
    "events": _answer_events,
    "stream": _STREAM,
    "also": MARKDOWN,
    "errors": PAGE_ERRORS | {404, 409},
    "tag": Tag.ANSWERS,
    "mends": True,
}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/summarize",
        name="summarize",
        summary="Summarize pages and documents, with citations.",
        about=_ABOUT,
        body=SummarizeRequest,
        answer=AnswerResult,
        example={"url": "https://example.com/", "style": "bullets"},
        **_FAMILY,
    ),
    Endpoint(
        path="/api/answer",
        name="answer",
        summary="Answer a question from pages and documents, with citations.",
        about=f"{_ABOUT} Where they do not say what was asked, `supported` is false and `collect` says what to read.",
        body=AnswerRequest,
        answer=AnswerResult,
        example={"urls": ["https://example.com/"], "question": "What may the domain be used for?"},
        **_FAMILY,
    ),
    Endpoint(
        path="/api/extract",
        name="extract",
        summary="Find the data that a JSON Schema describes, in pages and documents.",
        about=f"{_ABOUT} What is not there is null, and its field says why.",
        body=ExtractRequest,
        answer=ExtractResult,
        example={
            "url": "https://example.com/",
            "schema": {"type": "object", "properties": {"owner": {"type": "string"}}},
        },
        **_FAMILY,
    ),
)
