"""The words of OpenAI's chat completions: requests as they are written, and answers as they are put together."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from actors.router.provider import ModelCompletion, ModelRequest
from protocol.models import (
    ImagePart,
    ModelMessage,
    OutputSchema,
    TextPart,
    TokenUsage,
    ToolDefinition,
    ToolResultPart,
    ToolUsePart,
)

MAX_TOKENS: Final = 1_000_000_000
"""More than any request takes."""

Finish = Literal["stop", "length", "tool_calls", "refused"]

_FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}

# -- what is asked -----------------------------------------------------------------------------------------------------


def body_of(request: ModelRequest, max_tokens_field: str) -> dict[str, Any]:
    """Write a request; the answer is always streamed, so that the first word and a silence can be told apart."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [one for message in request.messages for one in _messages(message)],
        max_tokens_field: request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    tools = [_tool(tool) for tool in request.tools]
    if request.output is not None and request.means == "native":
        schema = request.output.schema
        form = {"name": request.output.name, "schema": schema, "strict": is_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    if request.output is not None and request.means == "tool":
        tools = [_tool(output_tool(request.output))]
        body["tool_choice"] = {"type": "function", "function": {"name": request.output.name}}
    if tools:
        body["tools"] = tools
    return body


def output_tool(output: OutputSchema) -> ToolDefinition:
    """Return the tool whose arguments are the answer, where a model is to answer by calling it."""
    return ToolDefinition(name=output.name, description="Give the answer.", parameters=output.schema)


def is_strict(schema: object) -> bool:
    """Return whether a schema is one that `strict` takes: every property of every object is required, and no other."""
    if isinstance(schema, list | tuple):
        return all(map(is_strict, schema))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any JSON
    if not isinstance(schema, dict):
        return True
    fields: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType] - as above
    if "properties" in fields or fields.get("type") == "object":
        properties: dict[str, Any] = fields.get("properties", {})
        if fields.get("additionalProperties") is not False or set(fields.get("required", ())) != set(properties):
            return False
    return all(map(is_strict, fields.values()))


def _messages(message: ModelMessage) -> Iterator[dict[str, Any]]:
    """Write one message as those that the protocol makes of it: each result of a tool is its own."""
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            yield {"role": "tool", "tool_call_id": part.id, "content": part.text}
    content = [_part(part) for part in message.parts if isinstance(part, TextPart | ImagePart)]
    calls = [_call(part) for part in message.parts if isinstance(part, ToolUsePart)]
    if not content and not calls:
        return
    written: dict[str, Any] = {"role": message.role}
    if all(part["type"] == "text" for part in content):
        written["content"] = "\n".join(part["text"] for part in content) if content else None
    else:
        written["content"] = content
    if calls:
        written["tool_calls"] = calls
    yield written


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    data = base64.b64encode(part.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}


def _call(part: ToolUsePart) -> dict[str, Any]:
    arguments = msgspec.json.encode(part.arguments).decode()
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments}}


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


# -- what is answered --------------------------------------------------------------------------------------------------


class FunctionPiece(Struct, frozen=True, kw_only=True):
    """A piece of the call of a function."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallPiece(Struct, frozen=True, kw_only=True):
    """A piece of the call of a tool; some servers leave `index` out, and send each call whole."""

    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None


class Delta(Struct, frozen=True, kw_only=True):
    """What was written further, or a whole message."""

    content: str | None = None
    refusal: str | None = None
    tool_calls: tuple[CallPiece, ...] | None = None


class Choice(Struct, frozen=True, kw_only=True):
    """The one answer that was asked for."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None


class InputDetails(Struct, frozen=True, kw_only=True):
    """What of the input came from a cache, or went there."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class ReportedUsage(Struct, frozen=True, kw_only=True):
    """What a request has used."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: InputDetails | None = None


class Chunk(Struct, frozen=True, kw_only=True):
    """One event of a stream, or the whole answer of a server that does not stream; the last may have no choice."""

    choices: tuple[Choice, ...] | None = None
    usage: ReportedUsage | None = None
    model: str | None = None
    error: Any = None


class UnreadableCallError(ValueError):
    """The model has called a tool with what is no object of JSON."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    whole: dict[str, Any] | None = None


@dataclass
class Assembly:
    """Puts an answer together from its chunks."""

    finish: str | None = None
    _text: list[str] = field(default_factory=list[str])
    _calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    _usage: TokenUsage = field(default_factory=TokenUsage)
    _model: str = ""
    _refused: bool = False

    def add(self, chunk: Chunk) -> str:
        """Take a chunk, and return the text that it adds."""
        self._model = chunk.model or self._model
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        written = ""
        for choice in (chunk.choices or ())[:1]:
            self.finish = choice.finish_reason or self.finish
            delta = choice.delta or choice.message or Delta()
            self._refused = self._refused or bool(delta.refusal)
            written = delta.content or delta.refusal or ""
            for piece in delta.tool_calls or ():
                self._add_call(piece)
        self._text.append(written)
        return written

    def completion(self, model: str) -> ModelCompletion:
        """Return the whole.

        Raises:
            UnreadableCallError: the arguments of a proposed call are no object.
        """
        calls = tuple(_proposed(call) for call in self._calls.values())
        finish: Finish = "tool_calls" if calls else _FINISHES.get(self.finish or "stop", "stop")
        return ModelCompletion(
            text="".join(self._text),
            finish="refused" if self._refused else finish,
            usage=self._usage,
            model=self._model or model,
            tool_calls=calls,
        )

    def _add_call(self, piece: CallPiece) -> None:
        number = piece.index
        if number is None:
            number = len(self._calls) - (not piece.id and bool(self._calls))
        call = self._calls.setdefault(number, _Call())
        call.id = piece.id or call.id
        function = piece.function or FunctionPiece()
        call.name = function.name or call.name
        if isinstance(function.arguments, dict):
            call.whole = function.arguments
        else:
            call.arguments.append(function.arguments or "")


def _proposed(call: _Call) -> ToolUsePart:
    try:
        arguments = call.whole or msgspec.json.decode("".join(call.arguments) or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise UnreadableCallError from error
    if not call.name:
        raise UnreadableCallError
    return ToolUsePart(id=call.id, name=call.name, arguments=arguments)


def _usage(usage: ReportedUsage) -> TokenUsage:
    details = usage.prompt_tokens_details or InputDetails()
    return TokenUsage(
        input=counted(usage.prompt_tokens),
        output=counted(usage.completion_tokens),
        cache_read=counted(details.cached_tokens),
        cache_write=counted(details.cache_write_tokens),
    )


def counted(tokens: int | None) -> int:
    """Return a number of tokens as it can be: a server may say anything, and budgets are kept by it."""
    return min(max(tokens or 0, 0), MAX_TOKENS)
