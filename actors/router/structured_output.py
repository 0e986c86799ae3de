"""Answers that match a JSON Schema: by the provider's own means, else by a tool, else by words; always checked here.

Servers take a schema and ignore it without a word, so that a missing error proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from anyio import to_thread
from msgspec import UNSET, Struct, UnsetType, structs

from actors.router.provider import (
    Capabilities,
    ModelCompletion,
    ModelRequest,
    ProviderClient,
    ProviderError,
    StructuredMeans,
    Write,
)
from protocol.models import CallErrorKind, ModelMessage, ModelName, OutputSchema, TextPart, TokenUsage

MEANS: Final[tuple[StructuredMeans, ...]] = ("native", "tool", "prompt")

MAX_COMPLAINTS: Final = 10
MAX_COMPLAINT_CHARS: Final = 300

_NOT_FOUND: Final = 404
"""A model that is not there: no other way of asking it helps."""


class InvalidSchemaError(ValueError):
    """What the caller wants the answer to match is no JSON Schema (2020-12), or refers to what is not in it."""


@dataclass
class LearnedCapabilities:
    """What models turned out not to be able to do, since this process lives."""

    _lacking: dict[ModelName, set[StructuredMeans]] = field(default_factory=dict[ModelName, set[StructuredMeans]])

    def left(self, name: ModelName, capabilities: Capabilities) -> list[StructuredMeans]:
        """Return by what means a model is to be asked for data, the best first; `prompt` is always left."""
        known = {"native": capabilities.native_schema, "tool": capabilities.tools, "prompt": True}
        lacking = self._lacking.get(name, set())
        return [means for means in MEANS if known[means] and means not in lacking]

    def lacks(self, name: ModelName, means: StructuredMeans) -> None:
        """Remember that a model cannot be asked so."""
        self._lacking.setdefault(name, set()).add(means)


class StructuredAnswer(Struct, frozen=True, kw_only=True):
    """An answer with the data that it comes to, and by what means; usage is that of all requests it took."""

    completion: ModelCompletion
    data: Any | UnsetType = UNSET
    means: StructuredMeans | None = None


class ModelPort(Struct, frozen=True, kw_only=True):
    """A model as it is asked: its client, its name, and what is known of what it can do."""

    client: ProviderClient
    name: ModelName
    capabilities: Capabilities
    learned: LearnedCapabilities


async def answer(port: ModelPort, request: ModelRequest, write: Write | None = None) -> StructuredAnswer:
    """Ask a model; with `request.output` the answer matches it.

    Where the model proposes to call one of the request's own tools, that is the answer, and there are no data. With an
    output nothing is streamed: pieces of JSON, from a try that may be void, are no text.

    Raises:
        InvalidSchemaError: the schema is none.
        ProviderError: there is no answer; kind SCHEMA: none that matches. Its `usage` is that of all requests.
    """
    if request.output is None:
        return StructuredAnswer(completion=await port.client.answer(request, write))
    complaint = await to_thread.run_sync(_wrong_schema, request.output.schema)
    if complaint:
        raise InvalidSchemaError(complaint)
    call = _StructuredCall(port, request, request.output)
    try:
        return await call.run()
    except ProviderError as error:
        error.usage = call.usage
        raise


@dataclass
class _StructuredCall:
    """One answer by schema, means after means."""

    port: ModelPort
    request: ModelRequest
    output: OutputSchema
    usage: TokenUsage = field(default_factory=TokenUsage)
    refused: set[StructuredMeans] = field(default_factory=set[StructuredMeans])
    """Means that the provider did not take, which another reason may have had until some other way works."""

    async def run(self) -> StructuredAnswer:
        """Try each means until one gives data that match."""
        left = self.port.learned.left(self.port.name, self.port.capabilities)
        for means in left:
            try:
                result = await self._try(means)
            except ProviderError as error:
                hopeless = error.kind not in _ANOTHER_WAY or error.status == _NOT_FOUND or means == left[-1]
                if hopeless:
                    raise
                if error.kind is CallErrorKind.UNSUPPORTED:
                    self.refused.add(means)
                continue
            if result is not None:
                for lacking in self.refused:
                    self.port.learned.lacks(self.port.name, lacking)
                return result
        raise ProviderError(CallErrorKind.SCHEMA, f"{self.port.name.model} gave no answer that matches the schema")

    async def _try(self, means: StructuredMeans) -> StructuredAnswer | None:
        """Ask by some means, and once more by words with what was wrong; None where the answer does not match."""
        request = structs.replace(self.request, means=means)
        if means == "prompt":
            request = structs.replace(request, messages=(*self.request.messages, _instruction(self.output)))
        completion = await self._ask(request)
        if completion.finish == "refused":
            raise ProviderError(CallErrorKind.REFUSED, f"{self.port.name.model} refused to answer")
        if means != "tool" and self.request.tools and completion.tool_calls:
            return StructuredAnswer(completion=structs.replace(completion, usage=self.usage), means=means)
        data, complaints = await self._read(means, completion)
        if complaints and means == "prompt":
            again = (*request.messages, _assistant_turn(completion.text), _complaint(complaints))
            completion = await self._ask(structs.replace(request, messages=again))
            data, complaints = await self._read(means, completion)
        if complaints:
            if data is UNSET and completion.finish == "stop" and means != "prompt":
                self.refused.add(means)  # it was ignored: this is no JSON at all
            return None
        return StructuredAnswer(completion=structs.replace(completion, usage=self.usage), data=data, means=means)

    async def _ask(self, request: ModelRequest) -> ModelCompletion:
        completion = await self.port.client.answer(request)
        self.usage += completion.usage
        return completion

    async def _read(self, means: StructuredMeans, completion: ModelCompletion) -> tuple[Any, list[str]]:
        """Return the data of an answer, UNSET where it has none, and what is wrong with them."""
        data: Any = UNSET
        if means == "tool":
            calls = (call.arguments for call in completion.tool_calls if call.name == self.output.name)
            data = next(calls, UNSET)
        if data is UNSET:
            data = json_in(completion.text)
        if data is UNSET:
            return UNSET, ["the answer is no JSON"]
        return data, await to_thread.run_sync(mismatches, self.output.schema, data)


_ANOTHER_WAY: Final = frozenset({CallErrorKind.UNSUPPORTED, CallErrorKind.MALFORMED})
"""Errors after which the next means may still do."""

# -- what is written and read ------------------------------------------------------------------------------------------

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def json_in(text: str) -> Any | UnsetType:
    """Return the JSON that a text is or holds, beside thoughts, a fence or words around it; UNSET where it has none."""
    for candidate in _candidates(_THOUGHTS.sub("", text).strip()):
        try:
            return msgspec.json.decode(candidate)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
    return UNSET


def _candidates(text: str) -> Iterator[str]:
    yield text
    if fenced := _FENCED.search(text):
        yield fenced[1]
    begin, end = text.find("{"), text.rfind("}")
    if begin < end:
        yield text[begin : end + 1]


def mismatches(schema: dict[str, Any], data: Any) -> list[str]:
    """Return what of the data does not match, as a model can read it; takes its time, so not on the loop."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 60 ms
    from referencing import Registry  # noqa: PLC0415 - as above
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as above

    # A registry of our own, empty: without one, what a schema refers to would be fetched.
    registry: Registry[Any] = Registry()
    validator: Any = Draft202012Validator(schema, registry=registry)
    complaints: list[str] = []
    try:
        for error in validator.iter_errors(data):
            complaints.append(f"{error.json_path}: {error.message}"[:MAX_COMPLAINT_CHARS])
            if len(complaints) == MAX_COMPLAINTS:
                break
    except (Unresolvable, RecursionError):
        complaints.append("the schema refers to what is not in it")
    return complaints


def _wrong_schema(schema: dict[str, Any]) -> str:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 60 ms
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - as above

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {error.message}"[:MAX_COMPLAINT_CHARS]
    return next((f"$ref: {ref} is not in the schema" for ref in _refs(schema) if not ref.startswith("#")), "")


def _refs(value: object) -> Iterator[str]:
    """Yield whatever a schema refers to."""
    if isinstance(value, dict):
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType] - any JSON
            if name in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            yield from _refs(inner)  # pyright: ignore[reportUnknownArgumentType] - as above
    if isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType] - as above
            yield from _refs(inner)  # pyright: ignore[reportUnknownArgumentType] - as above


def _instruction(output: OutputSchema) -> ModelMessage:
    schema = msgspec.json.encode(output.schema).decode()
    text = f"Answer with one JSON object and nothing else. It must match this JSON Schema:\n{schema}"
    return ModelMessage(role="user", parts=(TextPart(text=text),))


def _assistant_turn(text: str) -> ModelMessage:
    return ModelMessage(role="assistant", parts=(TextPart(text=text or "(nothing)"),))


def _complaint(complaints: list[str]) -> ModelMessage:
    listed = "\n".join(f"- {one}" for one in complaints)
    text = f"That does not match the schema:\n{listed}\nAnswer again, with the corrected JSON object and nothing else."
    return ModelMessage(role="user", parts=(TextPart(text=text),))
