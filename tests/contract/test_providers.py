"""What every provider promises the router, held against servers that speak its dialect over real sockets."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import msgspec
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
from tests.requirements import requirement
from tests.support.model_dialects import SERVED, answer_of, error_of, stream_of
from tests.support.models import Reply, ScriptedServer, raw, response, scripted, silence_after

pytestmark = pytest.mark.full

KEY = "planted-key-91c2"
SECRET = "planted-secret-4471"
WORDS = "What is the capital of France?"
MODELS = {
    Provider.ANTHROPIC: "claude-opus-4-6",
    Provider.GOOGLE: "gemini-2.5-pro",
    Provider.BEDROCK: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
DEFAULT = (Provider.OPENAI, Provider.ANTHROPIC, Provider.GOOGLE, Provider.BEDROCK)
"""One of each dialect; the others differ from OpenAI in a header, a field or an address."""

every = pytest.mark.parametrize(
    "provider",
    [pytest.param(one, marks=() if one in DEFAULT else pytest.mark.full) for one in Provider],
)


def request(provider: Provider, text: str = WORDS, first_token_ms: int = 20_000) -> ModelRequest:
    """Ask for something."""
    message = ModelMessage(role="user", parts=(TextPart(text=text),))
    return ModelRequest(model=MODELS.get(provider, "some"), messages=(message,), first_token_ms=first_token_ms)


@asynccontextmanager
async def asking(provider: Provider, *replies: Reply) -> AsyncGenerator[tuple[ProviderClient, ScriptedServer]]:
    """Yield a client of a server that gives these replies."""
    async with scripted(*replies) as server:
        credentials = ProviderCredentials(
            api_key=KEY,
            base_url=f"http://{server.host}",
            resource_name="weft",
            region="eu-central-1",
            access_key_id=KEY,
            secret_access_key=SECRET,
        )
        client = PROVIDERS[provider].make(credentials, {server.host})
        with anyio.fail_after(90):
            yield client, server
        await client.aclose()


async def failure_of(provider: Provider, reply: Reply) -> ProviderError:
    """Return what a reply raises."""
    async with asking(provider, reply) as (client, server):
        with pytest.raises(ProviderError) as caught:
            await client.answer(request(provider))
        assert len(server.asked) == 1  # nobody but the router decides what is tried again
    return caught.value


@pytest.mark.slow  # imports what the three borrow
@requirement("004.providers")
@every
async def test_it_answers_as_the_model_writes(provider: Provider) -> None:
    written: list[str] = []

    async def write(text: str) -> None:
        written.append(text)

    async with asking(provider, answer_of(provider, "Par", "is.")) as (client, _):
        answer = await client.answer(request(provider), write)

    served = MODELS[provider] if provider is Provider.BEDROCK else SERVED  # Bedrock does not say
    usage = TokenUsage(input=12, output=3, cache_read=8)
    assert "".join(written) == "Paris."
    assert len(written) >= 2
    assert answer == ModelCompletion(text="Paris.", finish="stop", usage=usage, model=served)


@every
async def test_it_proposes_calls_of_tools(provider: Provider) -> None:
    tool = ToolDefinition(name="look", description="Look.", parameters={"type": "object", "properties": {}})
    async with asking(provider, answer_of(provider, "Let me see.", call=("look", {"at": "it"}))) as (client, server):
        answer = await client.answer(
            ModelRequest(model=MODELS.get(provider, "some"), messages=request(provider).messages, tools=(tool,))
        )

    assert (answer.finish, answer.tool_calls) == (
        "tool_calls",
        (ToolUsePart(id="c1", name="look", arguments={"at": "it"}),),
    )
    assert '"name":"look"' in msgspec.json.encode(server.asked[0].body).decode()


@every
async def test_it_passes_on_a_conversation_with_pictures_as_bytes_and_results_of_tools(provider: Provider) -> None:
    picture = b"\x89PNG\r\n\x1a\n-not-really"
    messages = (
        ModelMessage(role="system", parts=(TextPart(text="Be brief."),)),
        ModelMessage(role="user", parts=(TextPart(text="And this?"), ImagePart(media_type="image/png", data=picture))),
        ModelMessage(role="assistant", parts=(ToolUsePart(id="c1", name="look", arguments={"at": "it"}),)),
        ModelMessage(role="tool", parts=(ToolResultPart(id="c1", text="a black cat"),)),
    )
    tool = ToolDefinition(name="look", description="Look.", parameters={"type": "object", "properties": {}})
    asked = ModelRequest(model=MODELS.get(provider, "some"), messages=messages, tools=(tool,), max_tokens=77)

    async with asking(provider, answer_of(provider, "A cat.")) as (client, server):
        answer = await client.answer(asked)

    sent = msgspec.json.encode(server.asked[0].body).decode()
    assert answer.text == "A cat."
    for words in ("Be brief.", "And this?", "a black cat", "77", base64.b64encode(picture).decode().rstrip("=")):
        assert words in sent


@every
@pytest.mark.parametrize("means", ["native", "tool"])
async def test_it_hands_the_schema_to_the_provider(provider: Provider, means: str) -> None:
    schema = {
        "type": "object",
        "properties": {"capital": {"type": "string"}},
        "required": ["capital"],
        "additionalProperties": False,
    }
    asked = ModelRequest(
        model=MODELS.get(provider, "some"),
        messages=request(provider).messages,
        output=OutputSchema(name="found", schema=schema),
        means="native" if means == "native" else "tool",
    )
    call = ("found", {"capital": "Paris"})
    reply = answer_of(provider, '{"capital": "Paris"}') if means == "native" else answer_of(provider, call=call)

    async with asking(provider, reply) as (client, server):
        answer = await client.answer(asked)

    sent = msgspec.json.encode(server.asked[0].body).decode()
    assert "capital" in sent.replace(WORDS, "")
    if means == "native":
        assert answer.text == '{"capital": "Paris"}'
    else:
        assert [(call.name, call.arguments) for call in answer.tool_calls] == [("found", {"capital": "Paris"})]


FAILURES = {
    "auth": (partial(error_of, status=401), "authentication_error", CallErrorKind.AUTH),
    "rate": (partial(error_of, status=429, retry_after="7"), "rate_limit_error", CallErrorKind.RATE_LIMIT),
    "server": (partial(error_of, status=500), "api_error", CallErrorKind.OVERLOADED),
    "unavailable": (partial(error_of, status=503), "overloaded_error", CallErrorKind.OVERLOADED),
    "rejected": (partial(error_of, status=400), "invalid_request_error", CallErrorKind.UNSUPPORTED),
    "no model": (partial(error_of, status=404), "not_found_error", CallErrorKind.UNSUPPORTED),
}
AWS_WORDS = {
    "auth": "UnrecognizedClientException",
    "rate": "ThrottlingException",
    "server": "InternalServerException",
    "unavailable": "ServiceUnavailableException",
    "rejected": "ValidationException",
    "no model": "ResourceNotFoundException",
}


@every
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one == "rate" else pytest.mark.full) for one in FAILURES]
)
async def test_a_failure_has_its_kind_and_no_word_of_the_providers(provider: Provider, name: str) -> None:
    make, word, kind = FAILURES[name]
    word = AWS_WORDS[name] if provider is Provider.BEDROCK else word
    error = await failure_of(provider, make(provider, word=word, said=f"{KEY} {SECRET} {WORDS}"))

    assert error.kind is kind
    assert error.retry_after_ms == (7_000 if name == "rate" else None)
    assert not any(secret in f"{error!r} {error.__cause__!r}" for secret in (KEY, SECRET, "capital"))


@every
async def test_a_stream_that_breaks_off_is_no_answer(provider: Provider) -> None:
    whole = stream_of(provider, ["Par", "is."])

    error = await failure_of(provider, raw(*whole[:3], whole[3][:20]))

    assert error.kind is CallErrorKind.NETWORK


@every
async def test_what_is_no_answer_of_the_protocol_is_none(provider: Provider) -> None:
    error = await failure_of(provider, response(200, b"<h1>Log in to this network</h1>", "text/html"))

    assert error.kind is CallErrorKind.NETWORK


@every
async def test_a_private_address_that_nobody_has_named_is_not_connected_to(provider: Provider) -> None:
    async with scripted(answer_of(provider, "Paris.")) as server:
        credentials = ProviderCredentials(
            api_key=KEY, region="eu-central-1", base_url=f"http://localhost:{server.port}"
        )
        client = PROVIDERS[provider].make(credentials, ())
        with anyio.fail_after(90), pytest.raises(ProviderError) as caught:
            await client.answer(request(provider))
        await client.aclose()

    assert caught.value.kind is CallErrorKind.NETWORK
    assert "model_hosts" in str(caught.value)
    assert server.asked == []


@every
async def test_a_silent_provider_is_left(provider: Provider) -> None:
    async with asking(provider, silence_after()) as (client, server):
        with pytest.raises(ProviderError) as caught:
            await client.answer(request(provider, first_token_ms=300))
        if provider is not Provider.BEDROCK:  # boto3 connects by a thread that only a response can end
            await server.left.wait()

    assert caught.value.kind is CallErrorKind.TIMEOUT


@every
async def test_who_cancels_leaves_the_provider(provider: Provider) -> None:
    begun = anyio.Event()

    async def write(text: str) -> None:
        begun.set()

    whole = stream_of(provider, ["Par", "is."])
    begin = next(number for number, piece in enumerate(whole, start=1) if b"Par" in piece)
    async with asking(provider, silence_after(*whole[:begin])) as (client, server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.answer, request(provider), write)
            await begun.wait()
            tasks.cancel_scope.cancel()
        await server.left.wait()
