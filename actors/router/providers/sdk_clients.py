"""Clients of the three providers with dialects of their own, which are borrowed from pydantic-ai (extra `weft[llm]`).

Their adapters are checked with recorded traffic elsewhere. Nothing of them leaves this module: messages are translated
into theirs, answers and errors into ours. Addresses are never passed on, only bytes, so that nothing is downloaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import httpx2
from anyio import to_thread
from pydantic_ai import direct, exceptions, messages, models
from pydantic_ai import settings as model_settings
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition as SdkTool

from actors.router.provider import (
    ModelCompletion,
    ModelRequest,
    ProviderClient,
    ProviderCredentials,
    ProviderError,
    Write,
)
from actors.router.providers.errors import failure, kind_of_error, kind_of_status
from actors.router.providers.openai_dialect import IDLE_S
from actors.router.providers.openai_wire import Finish, counted, is_strict, output_tool
from actors.router.providers.reach import CONNECT_S, check_resolved, connection
from protocol.models import (
    CallErrorKind,
    ImagePart,
    ModelMessage,
    Provider,
    TextPart,
    TokenUsage,
    ToolDefinition,
    ToolResultPart,
    ToolUsePart,
)

THREADS: Final = 320
"""For the answers that a router gives at once, and what else it does in threads."""

MakeModel = Callable[[str], models.Model]
"""Makes the model of a name."""

_FINISHES: Final[dict[str, Finish]] = {
    "stop": "stop",
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "refused",
}

# -- the three ---------------------------------------------------------------------------------------------------------


def anthropic(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client of Anthropic's Messages API."""

    def load(http: httpx2.AsyncClient) -> MakeModel:
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - half a second
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - as above

        key, base_url = credentials.api_key, credentials.base_url
        retrying = AnthropicProvider(api_key=key, base_url=base_url, http_client=http)
        provider = AnthropicProvider(anthropic_client=retrying.client.with_options(max_retries=0))
        return lambda model: AnthropicModel(model, provider=provider)

    return _SdkClient(Provider.ANTHROPIC, credentials.base_url, hosts, load)


def google(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client of the Gemini API."""

    def load(http: httpx2.AsyncClient) -> MakeModel:
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - half a second
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - as above

        provider = GoogleProvider(api_key=credentials.api_key, http_client=http, base_url=credentials.base_url)
        return lambda model: GoogleModel(model, provider=provider)

    return _SdkClient(Provider.GOOGLE, credentials.base_url, hosts, load)


def bedrock(credentials: ProviderCredentials, hosts: Collection[str]) -> ProviderClient:
    """Make a client of AWS Bedrock's Converse API; it works in threads, over connections of its own."""

    def load(_: httpx2.AsyncClient) -> MakeModel:
        from pydantic_ai.models.bedrock import BedrockConverseModel  # noqa: PLC0415 - half a second
        from pydantic_ai.providers.bedrock import BedrockProvider  # noqa: PLC0415 - as above

        check_resolved(credentials.base_url, hosts)
        boto3, config = importlib.import_module("boto3"), importlib.import_module("botocore.config")  # without types
        session = boto3.Session(
            aws_access_key_id=credentials.access_key_id,
            aws_secret_access_key=credentials.secret_access_key,
            aws_session_token=credentials.session_token or None,
            region_name=credentials.region,
        )
        once = config.Config(
            retries={"total_max_attempts": 1}, connect_timeout=CONNECT_S, read_timeout=IDLE_S, proxies={}
        )
        client = session.client("bedrock-runtime", endpoint_url=credentials.base_url, config=once)
        provider = BedrockProvider(bedrock_client=client)
        return lambda model: BedrockConverseModel(model, provider=provider)

    return _SdkClient(Provider.BEDROCK, credentials.base_url, hosts, load, threads=THREADS)


# -- one client for them -----------------------------------------------------------------------------------------------


@dataclass
class _SdkClient:
    """Asks the models of one provider; see ProviderClient. `load` imports its adapter, with the first request."""

    provider: Provider
    base_url: str
    hosts: Collection[str]
    load: Callable[[httpx2.AsyncClient], MakeModel]
    threads: int = 0
    """What its adapter takes of threads: one for each answer that it waits for."""
    _opening: anyio.Lock = field(default_factory=anyio.Lock)
    _http: httpx2.AsyncClient | None = None
    _make: MakeModel | None = None
    _models: dict[str, models.Model] = field(default_factory=dict[str, models.Model])

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        """Ask a model."""
        try:
            model = await self._model(request.model)
            with anyio.fail_after(request.first_token_ms / 1_000) as limit:
                return await self._answer(model, request, write, limit)
        except ProviderError:
            raise
        except TimeoutError:
            raise failure(self.provider, CallErrorKind.TIMEOUT) from None
        except exceptions.ModelAPIError as error:
            raise _failure_of(self.provider, error) from None
        except exceptions.ContentFilterError:
            raise failure(self.provider, CallErrorKind.REFUSED) from None
        except exceptions.UserError:
            raise failure(self.provider, CallErrorKind.UNSUPPORTED) from None
        except Exception:  # noqa: BLE001 - what an adapter lets through quotes what it could not read
            raise failure(self.provider, CallErrorKind.NETWORK) from None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def _answer(
        self, model: models.Model, request: ModelRequest, write: Write | None, limit: anyio.CancelScope
    ) -> ModelCompletion:
        stream = direct.model_request_stream(
            model, _history(request), model_settings=_settings(request), model_request_parameters=_parameters(request)
        )
        async with stream as events:
            try:
                async for event in events:
                    limit.deadline = anyio.current_time() + IDLE_S
                    text = _text_of(event)
                    if text and write is not None:
                        await write(text)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):  # a thread that reads would otherwise be waited for
                    await events.cancel()
                raise
            response = events.get()
        if response.finish_reason is None:
            raise failure(self.provider, CallErrorKind.NETWORK)  # it broke off
        return _completion(self.provider, response, request.model)

    async def _model(self, name: str) -> models.Model:
        async with self._opening:
            if self._make is None:
                self._http = await connection(self.base_url, self.hosts, {})
                self._make = await to_thread.run_sync(self.load, self._http)
                limiter = to_thread.current_default_thread_limiter()
                limiter.total_tokens = max(limiter.total_tokens, self.threads)
            if name not in self._models:
                self._models[name] = self._make(name)
            return self._models[name]


# -- what is asked -----------------------------------------------------------------------------------------------------


def _settings(request: ModelRequest) -> model_settings.ModelSettings:
    chosen = model_settings.ModelSettings(max_tokens=request.max_tokens)
    if request.temperature is not None:
        chosen["temperature"] = request.temperature
    return chosen


def _parameters(request: ModelRequest) -> models.ModelRequestParameters:
    tools, output = [_tool(tool) for tool in request.tools], request.output
    if output is not None and request.means == "native":
        form = OutputObjectDefinition(
            json_schema=output.schema, name=output.name, strict=True if is_strict(output.schema) else None
        )
        return models.ModelRequestParameters(function_tools=tools, output_mode="native", output_object=form)
    if output is not None and request.means == "tool":
        answers = [_tool(output_tool(output), "output")]
        return models.ModelRequestParameters(output_mode="tool", output_tools=answers, allow_text_output=False)
    return models.ModelRequestParameters(function_tools=tools)


def _tool(tool: ToolDefinition, kind: Any = "function") -> SdkTool:
    return SdkTool(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters, kind=kind)


def _history(request: ModelRequest) -> list[messages.ModelMessage]:
    """Write the messages as theirs: what comes before the model's next turn is one request."""
    names = {
        part.id: part.name for message in request.messages for part in message.parts if isinstance(part, ToolUsePart)
    }
    history: list[messages.ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            history.append(messages.ModelResponse(parts=[_response_part(part) for part in message.parts]))
            continue
        parts = _request_parts(message, names)
        if history and isinstance(history[-1], messages.ModelRequest):
            history[-1] = messages.ModelRequest(parts=[*history[-1].parts, *parts])
        else:
            history.append(messages.ModelRequest(parts=parts))
    return history


def _request_parts(message: ModelMessage, names: dict[str, str]) -> list[messages.ModelRequestPart]:
    results: list[messages.ModelRequestPart] = [
        messages.ToolReturnPart(tool_name=names.get(part.id, "tool"), content=part.text, tool_call_id=part.id)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if message.role == "system":
        return [*results, messages.SystemPromptPart(content="\n".join(texts))]
    content: list[messages.UserContent] = [
        part.text if isinstance(part, TextPart) else messages.BinaryContent(part.data, media_type=part.media_type)
        for part in message.parts
        if isinstance(part, TextPart | ImagePart)
    ]
    return [*results, messages.UserPromptPart(content=content)] if content else results


def _response_part(part: object) -> messages.ModelResponsePart:
    if isinstance(part, ToolUsePart):
        return messages.ToolCallPart(tool_name=part.name, args=part.arguments, tool_call_id=part.id)
    return messages.TextPart(content=part.text if isinstance(part, TextPart) else "")


# -- what is answered --------------------------------------------------------------------------------------------------


def _text_of(event: object) -> str:
    """Return the text that an event adds."""
    match event:
        case messages.PartStartEvent(part=messages.TextPart(content=text)):
            return text
        case messages.PartDeltaEvent(delta=messages.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _completion(provider: Provider, response: messages.ModelResponse, model: str) -> ModelCompletion:
    calls = tuple(_call(provider, part) for part in response.parts if isinstance(part, messages.ToolCallPart))
    usage = response.usage
    return ModelCompletion(
        text="".join(part.content for part in response.parts if isinstance(part, messages.TextPart)),
        finish="tool_calls" if calls else _FINISHES.get(response.finish_reason or "stop", "stop"),
        usage=TokenUsage(
            input=counted(usage.input_tokens),
            output=counted(usage.output_tokens),
            cache_read=counted(usage.cache_read_tokens),
            cache_write=counted(usage.cache_write_tokens),
        ),
        model=response.model_name or model,
        tool_calls=calls,
    )


def _call(provider: Provider, part: messages.ToolCallPart) -> ToolUsePart:
    try:
        arguments = part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        raise failure(provider, CallErrorKind.MALFORMED) from None
    return ToolUsePart(id=part.tool_call_id, name=part.tool_name, arguments=arguments)


_KINDS: Final[tuple[tuple[type[exceptions.ModelAPIError], CallErrorKind], ...]] = (
    (exceptions.ModelRateLimitError, CallErrorKind.RATE_LIMIT),
    (exceptions.ModelQuotaExceededError, CallErrorKind.QUOTA),
    (exceptions.ModelTimeoutError, CallErrorKind.TIMEOUT),
    (exceptions.ModelRequestTimeout, CallErrorKind.TIMEOUT),
    (exceptions.ModelConnectionError, CallErrorKind.NETWORK),
    (exceptions.ModelAuthenticationError, CallErrorKind.AUTH),
    (exceptions.ModelUnavailableError, CallErrorKind.OVERLOADED),
    (exceptions.ModelServerError, CallErrorKind.OVERLOADED),
    (exceptions.ModelRequestRejectedError, CallErrorKind.UNSUPPORTED),
)


def _failure_of(provider: Provider, error: exceptions.ModelAPIError) -> ProviderError:
    """Make our error of one of theirs; their text quotes what was sent, and stays here."""
    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    refused = _private_address(error)
    if refused is not None:
        return refused
    named = next((kind for of, kind in _KINDS if isinstance(error, of)), None)
    kind = named or kind_of_error(error.body) or (kind_of_status(status) if status else CallErrorKind.NETWORK)
    after_ms = None if error.retry_after is None else int(1_000 * error.retry_after)
    return failure(provider, kind, status=status, retry_after_ms=after_ms)


def _private_address(error: BaseException | None) -> ProviderError | None:
    """Return our own refusal to connect, where that is what they wrapped."""
    while error is not None and not isinstance(error, ProviderError):
        error = error.__cause__ or error.__context__
    return error
