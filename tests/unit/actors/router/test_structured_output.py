"""Data by schema: the means that are tried, what is checked, and what is remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import UNSET

from actors.router.provider import Capabilities, ModelCompletion, ModelRequest, ProviderError, Write
from actors.router.structured_output import (
    InvalidSchemaError,
    LearnedCapabilities,
    ModelPort,
    StructuredAnswer,
    answer,
    json_in,
)
from protocol.models import (
    CallErrorKind,
    ModelMessage,
    ModelName,
    OutputSchema,
    Provider,
    TextPart,
    TokenUsage,
    ToolDefinition,
    ToolUsePart,
)

SCHEMA = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}
NAME = ModelName(provider=Provider.OPENAI_COMPATIBLE, model="small")
USAGE = TokenUsage(input=10, output=2)
REQUEST = ModelRequest(
    model="small",
    messages=(ModelMessage(role="user", parts=(TextPart(text="When?"),)),),
    output=OutputSchema(name="found", schema=SCHEMA),
)


def text(said: str) -> ModelCompletion:
    """Make an answer of words."""
    return ModelCompletion(text=said, finish="stop", usage=USAGE, model="small")


def call(name: str = "found", **arguments: Any) -> ModelCompletion:
    """Make an answer that calls a tool."""
    use = ToolUsePart(id="c1", name=name, arguments=arguments)
    return ModelCompletion(text="", finish="tool_calls", usage=USAGE, model="small", tool_calls=(use,))


UNSUPPORTED = ProviderError(CallErrorKind.UNSUPPORTED, "no", status=400)


@dataclass
class FakeModel:
    """A provider that gives these answers, one after the other."""

    answers: list[ModelCompletion | ProviderError]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        self.requests.append(request)
        given = self.answers.pop(0)
        if isinstance(given, ProviderError):
            raise given
        return given

    async def aclose(self) -> None:
        return None

    @property
    def means(self) -> list[str | None]:
        return [request.means for request in self.requests]


async def ask(
    *answers: ModelCompletion | ProviderError,
    learned: LearnedCapabilities | None = None,
    request: ModelRequest = REQUEST,
    **capabilities: bool,
) -> tuple[StructuredAnswer | ProviderError, FakeModel]:
    """Ask a model that gives these answers; return what comes of it, and the model."""
    model = FakeModel(list(answers))
    port = ModelPort(
        client=model, name=NAME, capabilities=Capabilities(**capabilities), learned=learned or LearnedCapabilities()
    )
    try:
        return await answer(port, request), model
    except ProviderError as error:
        return error, model


async def test_native_output_is_enough_where_it_matches() -> None:
    result, model = await ask(text('{"year": 1889}'))

    assert result == StructuredAnswer(completion=text('{"year": 1889}'), data={"year": 1889}, means="native")
    assert model.means == ["native"]


async def test_a_server_that_ignores_the_schema_is_asked_otherwise_and_not_so_again() -> None:
    learned = LearnedCapabilities()

    first, one = await ask(text("In 1889."), call(year=1889), learned=learned)
    second, two = await ask(call(year=1889), learned=learned)

    assert isinstance(first, StructuredAnswer)
    assert (first.data, first.means, first.completion.usage) == ({"year": 1889}, "tool", TokenUsage(input=20, output=4))
    assert one.means == ["native", "tool"]
    assert isinstance(second, StructuredAnswer)
    assert two.means == ["tool"]


async def test_a_provider_that_takes_neither_is_asked_by_words_and_corrected_once() -> None:
    learned = LearnedCapabilities()

    result, model = await ask(UNSUPPORTED, UNSUPPORTED, text('{"year": "x"}'), text('{"year": 1889}'), learned=learned)

    assert isinstance(result, StructuredAnswer)
    assert (result.data, result.means) == ({"year": 1889}, "prompt")
    assert model.means == ["native", "tool", "prompt", "prompt"]
    *_, said, complaint = model.requests[-1].messages
    assert said == ModelMessage(role="assistant", parts=(TextPart(text='{"year": "x"}'),))
    assert "$.year: 'x' is not of type 'integer'" in complaint.parts[0].text  # type: ignore[union-attr] # words
    assert learned.left(NAME, Capabilities()) == ["prompt"]


async def test_what_never_matches_is_an_error_with_all_that_was_used() -> None:
    wrong = text('{"year": "x"}')

    result, model = await ask(wrong, call(year="x"), wrong, wrong)

    assert isinstance(result, ProviderError)
    assert (result.kind, result.usage) == (CallErrorKind.SCHEMA, TokenUsage(input=40, output=8))
    assert model.means == ["native", "tool", "prompt", "prompt"]


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(CallErrorKind.RATE_LIMIT, "later", status=429),
        ProviderError(CallErrorKind.UNSUPPORTED, "no such model", status=404),
    ],
)
async def test_another_way_is_not_tried_where_it_would_not_help(error: ProviderError) -> None:
    learned = LearnedCapabilities()

    result, model = await ask(error, learned=learned)

    assert result is error
    assert model.means == ["native"]
    assert learned.left(NAME, Capabilities()) == ["native", "tool", "prompt"]


async def test_nothing_is_learned_of_a_request_that_no_means_makes_acceptable() -> None:
    learned = LearnedCapabilities()

    result, _ = await ask(UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, learned=learned)

    assert isinstance(result, ProviderError)
    assert learned.left(NAME, Capabilities()) == ["native", "tool", "prompt"]


async def test_a_call_of_one_of_the_requests_tools_is_an_answer_without_data() -> None:
    tool = ToolDefinition(name="look", description="Look.", parameters={"type": "object"})
    request = ModelRequest(model="small", messages=REQUEST.messages, output=REQUEST.output, tools=(tool,))

    result, _ = await ask(call("look", at="it"), request=request)

    assert result == StructuredAnswer(completion=call("look", at="it"), data=UNSET, means="native")


@pytest.mark.parametrize(
    "schema", [{"type": "no-such-type"}, {"$ref": "http://127.0.0.1:1/s.json"}, {"properties": {"a": {"$ref": "x"}}}]
)
async def test_what_is_no_schema_or_leads_elsewhere_is_not_asked_for(schema: dict[str, Any]) -> None:
    request = ModelRequest(model="small", messages=REQUEST.messages, output=OutputSchema(name="found", schema=schema))

    with pytest.raises(InvalidSchemaError):
        await ask(request=request)


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('<think>{"a": 2}</think>Here: {"a": 1}. Bye.', {"a": 1}),
        ("<think>{}", UNSET),
        ("In 1889.", UNSET),
        ('{"a": 1', UNSET),
    ],
)
def test_json_is_found_in_what_a_model_says(said: str, data: object) -> None:
    assert json_in(said) == data
