"""The span of each try, by OpenTelemetry's conventions for generative AI; no word of what was asked or answered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Final

from actors.router.provider import ModelCompletion
from bus.tracing import Span, Value, span, tracing_on
from protocol.models import CallModel, ModelName, Provider, RouteReason

_NAMES: Final[Mapping[Provider, str]] = MappingProxyType(
    {
        Provider.GOOGLE: "gcp.gemini",
        Provider.AZURE: "azure.ai.openai",
        Provider.BEDROCK: "aws.bedrock",
    }
)
"""What the conventions call a provider where we say otherwise."""


def model_span(name: ModelName, call: CallModel, reason: RouteReason) -> AbstractContextManager[Span]:
    """Record the request to a model inside."""
    if not tracing_on():
        return span("chat")
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _NAMES.get(name.provider, name.provider.value),
        "gen_ai.request.model": name.model,
        "gen_ai.request.max_tokens": call.max_tokens,
        "gen_ai.output.type": "text" if call.output is None else "json",
        "weft.tool": call.tool,
        "weft.route.reason": reason.value,
    }
    if call.conversation:
        attributes["gen_ai.conversation.id"] = call.conversation
    return span(f"chat {name.model}", "client", attributes)


def describe(of: Span, completion: ModelCompletion) -> None:
    """Say of a span what was answered by whom, in figures."""
    usage = completion.usage
    of.set_attribute("gen_ai.response.model", completion.model)
    of.set_attribute("gen_ai.usage.input_tokens", usage.input)
    of.set_attribute("gen_ai.usage.output_tokens", usage.output)
    of.set_attribute("gen_ai.usage.cache_read.input_tokens", usage.cache_read)
    of.set_attribute("gen_ai.usage.cache_creation.input_tokens", usage.cache_write)
