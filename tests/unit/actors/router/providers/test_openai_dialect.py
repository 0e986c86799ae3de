"""The client of OpenAI's dialect, asked over real sockets."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from actors.router.provider import ModelCompletion, ModelRequest, ProviderClient, ProviderCredentials, ProviderError
from actors.router.providers.table import PROVIDERS
from protocol.models import (
    CallErrorKind,
    ImagePart,
    ModelMessage,
    OutputSchema,
    Provider,
    TextPart,
    TokenUsage,
    ToolDefinition,
    ToolResultPart,
    ToolUsePart,
)
from tests.support.models import (
    EVENTS_HEAD,
    Reply,
    ScriptedServer,
    document,
    event_bytes,
    events,
    raw,
    response,
    scripted,
    silence_after,
)

KEY = "sk-planted-0f3a"
USER = ModelMessage(role="user", parts=(TextPart(text="What is the capital of France?"),))
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def piece(text: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Write a chunk of OpenAI's."""
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "served-1", "choices": [choice]}


USAGE: dict[str, Any] = {
    "model": "served-1",
    "choices": [],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}},
}


@asynccontextmanager
async def asking(
    *replies: Reply, provider: Provider = Provider.OPENAI
) -> AsyncGenerator[tuple[ProviderClient, ScriptedServer]]:
    """Yield a client of a server that gives these replies."""
    async with scripted(*replies) as server:
        client = PROVIDERS[provider].make(ProviderCredentials(api_key=KEY, base_url=server.base_url), {server.host})
        with anyio.fail_after(90):
            yield client, server
        await client.aclose()


async def failed(reply: Reply, request: ModelRequest | None = None) -> ProviderError:
    """Return what a reply raises."""
    async with asking(reply) as (client, _):
        with pytest.raises(ProviderError) as caught:
            await client.answer(request or ModelRequest(model="gpt-4o", messages=(USER,)))
    return caught.value


async def test_an_answer_is_streamed_and_put_together() -> None:
    written: list[str] = []

    async def write(text: str) -> None:
        written.append(text)

    reply = events(piece(role="assistant"), piece("Par"), piece("is."), piece(finish="stop"), USAGE)
    async with asking(reply) as (client, _):
        answer = await client.answer(ModelRequest(model="gpt-4o", messages=(USER,)), write)

    assert written == ["Par", "is."]
    assert answer == ModelCompletion(
        text="Paris.", finish="stop", usage=TokenUsage(input=12, output=3, cache_read=8), model="served-1"
    )


async def test_a_request_is_written_as_the_protocol_has_it() -> None:
    messages = (
        ModelMessage(role="system", parts=(TextPart(text="Be brief."),)),
        ModelMessage(
            role="user", parts=(TextPart(text="What is this?"), ImagePart(media_type="image/png", data=b"png"))
        ),
        ModelMessage(role="assistant", parts=(ToolUsePart(id="c1", name="look", arguments={"at": "it"}),)),
        ModelMessage(role="tool", parts=(ToolResultPart(id="c1", text="a cat"),)),
    )
    tool = ToolDefinition(name="look", description="Look.", parameters={"type": "object"})
    request = ModelRequest(
        model="gpt-4o",
        messages=messages,
        tools=(tool,),
        output=OutputSchema(name="found", schema=SCHEMA),
        means="native",
        max_tokens=64,
        temperature=0.2,
    )

    async with asking(events(piece("{}", "stop"))) as (client, server):
        await client.answer(request)

    (asked,) = server.asked
    assert (asked.path, asked.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert asked.body == {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at":"it"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "found", "schema": SCHEMA, "strict": True},
        },
        "max_completion_tokens": 64,
        "temperature": 0.2,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_azure_is_asked_by_its_v1_surface_with_its_own_header() -> None:
    async with asking(events(piece("Hi", "stop")), provider=Provider.AZURE) as (client, server):
        await client.answer(ModelRequest(model="deployed", messages=(USER,)))

    assert server.asked[0].headers["api-key"] == KEY
    assert "authorization" not in server.asked[0].headers


async def test_calls_of_tools_are_put_together_from_their_pieces() -> None:
    begin = [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}]
    more = [{"index": 0, "function": {"arguments": '{"at":'}}]
    rest = [
        {"index": 0, "function": {"arguments": '"it"}'}},
        {"index": 1, "id": "c2", "function": {"name": "wait", "arguments": "{}"}},
    ]
    pieces = [piece(tool_calls=calls) for calls in (begin, more, rest)]
    async with asking(events(*pieces, piece(finish="tool_calls"))) as (client, _):
        answer = await client.answer(ModelRequest(model="gpt-4o", messages=(USER,)))

    assert (answer.finish, answer.tool_calls) == (
        "tool_calls",
        (ToolUsePart(id="c1", name="look", arguments={"at": "it"}), ToolUsePart(id="c2", name="wait", arguments={})),
    )


async def test_a_server_that_does_not_stream_is_understood() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}}
    message = {"role": "assistant", "content": "Paris.", "tool_calls": [call]}
    whole = {"model": "served-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    async with asking(document(whole)) as (client, _):
        answer = await client.answer(ModelRequest(model="gpt-4o", messages=(USER,)))

    assert answer == ModelCompletion(
        text="Paris.",
        finish="tool_calls",
        usage=TokenUsage(),
        model="served-1",
        tool_calls=(ToolUsePart(id="c1", name="look", arguments={"at": "it"}),),
    )


LOUD = {"error": {"message": f"Incorrect API key provided: {KEY}. What is the capital", "type": "x", "code": None}}


@pytest.mark.parametrize(
    ("reply", "kind", "after_ms"),
    [
        (document(LOUD, 401), CallErrorKind.AUTH, None),
        (document(LOUD, 402), CallErrorKind.QUOTA, None),
        (document(LOUD, 404), CallErrorKind.UNSUPPORTED, None),
        (document(LOUD, 429, retry_after="7"), CallErrorKind.RATE_LIMIT, 7_000),
        (document(LOUD, 429, retry_after_ms="250"), CallErrorKind.RATE_LIMIT, 250),
        (document(LOUD, 429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), CallErrorKind.RATE_LIMIT, 0),
        (document(LOUD, 429, retry_after="soon"), CallErrorKind.RATE_LIMIT, None),
        (document({"error": {"code": "insufficient_quota"}}, 429), CallErrorKind.QUOTA, None),
        (document({"error": {"code": "content_filter"}}, 400), CallErrorKind.REFUSED, None),
        (document(LOUD, 500), CallErrorKind.OVERLOADED, None),
        (document(LOUD, 503, retry_after="2"), CallErrorKind.OVERLOADED, 2_000),
        (response(502, b"<h1>Bad Gateway", "text/html"), CallErrorKind.OVERLOADED, None),
        (response(302, b"", location="http://169.254.169.254/"), CallErrorKind.NETWORK, None),
        (document({"error": {"code": 429, "message": KEY}}), CallErrorKind.RATE_LIMIT, None),
        (document({"error": "model not loaded"}), CallErrorKind.OVERLOADED, None),
        (events(piece("Par"), {"error": {"type": "overloaded_error"}}), CallErrorKind.OVERLOADED, None),
        (events(piece("Par"), done=False), CallErrorKind.NETWORK, None),
        (raw(EVENTS_HEAD, b'data: {"choices": [{"delta": {"conte'), CallErrorKind.NETWORK, None),
        (events("<html>"), CallErrorKind.NETWORK, None),
        (response(200, b"<h1>Log in to this network", "text/html"), CallErrorKind.NETWORK, None),
        (response(200, b"{", "application/json"), CallErrorKind.NETWORK, None),
        (raw(b"SSH-2.0-OpenSSH_9.9\r\n"), CallErrorKind.NETWORK, None),
        (raw(), CallErrorKind.NETWORK, None),
        (
            events(
                piece(tool_calls=[{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}}]),
                piece(finish="stop"),
            ),
            CallErrorKind.MALFORMED,
            None,
        ),
    ],
)
async def test_a_failure_has_its_kind_and_no_word_of_the_providers(
    reply: Reply, kind: CallErrorKind, after_ms: int | None
) -> None:
    error = await failed(reply)

    assert (error.kind, error.retry_after_ms) == (kind, after_ms)
    assert KEY not in repr(error)
    assert "capital" not in str(error)
    assert error.__cause__ is None


async def test_a_silent_provider_is_left() -> None:
    async with asking(silence_after(EVENTS_HEAD)) as (client, server):
        with pytest.raises(ProviderError) as caught:
            await client.answer(ModelRequest(model="gpt-4o", messages=(USER,), first_token_ms=100))
        await server.left.wait()

    assert caught.value.kind is CallErrorKind.TIMEOUT


async def test_who_cancels_leaves_the_provider() -> None:
    begun = anyio.Event()

    async def write(text: str) -> None:
        begun.set()

    async with asking(silence_after(EVENTS_HEAD, *event_bytes([piece("Par")]))) as (client, server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.answer, ModelRequest(model="gpt-4o", messages=(USER,)), write)
            await begun.wait()
            tasks.cancel_scope.cancel()
        await server.left.wait()
