"""Records each try of a call, by a line of the journal and a span, and what checks have found of its answer."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import anyio
import msgspec
import structlog
from anyio import to_thread

from actors import redact
from actors.router.provider import ModelCompletion
from bus.clock import now_ms
from bus.stores import JournalLog
from bus.tracing import Span, Value, span, tracing_on
from protocol.faults import FaultError
from protocol.models import (
    CallLine,
    CallModel,
    CallOutcome,
    ModelCalled,
    ModelJudged,
    ModelMessage,
    ModelName,
    Provider,
    RouteReason,
    TextPart,
)

log = structlog.stdlib.get_logger()

NOT_WRITTEN: Final = "model_call_not_written"

WRITE_S: Final = 2.0
"""What writing a line may take; an answer is not kept back longer for its sake."""

PREVIEW_CHARS: Final = 200
_READ_CHARS: Final = 1_000
_LARGE_BYTES: Final = 200_000
MOST_CALLS: Final = 10_000
"""Calls that may still be judged; those that were answered longest ago are forgotten."""

_PROVIDER_NAMES: Final[Mapping[Provider, str]] = MappingProxyType(
    {
        Provider.GOOGLE: "gcp.gemini",
        Provider.AZURE: "azure.ai.openai",
        Provider.BEDROCK: "aws.bedrock",
    }
)
"""What the conventions call a provider where we say otherwise."""


@dataclass
class CallRecorder:
    """Writes the lines of this replica's calls; it alone takes down what is found of their answers, once each."""

    journal: JournalLog[CallLine]
    clock: Callable[[], int] = now_ms
    _answered: OrderedDict[str, str] = field(default_factory=OrderedDict[str, str], init=False)

    async def called(self, line: ModelCalled) -> None:
        """Write a try."""
        if line.success:
            self._answered[line.call_id] = line.tool
            if len(self._answered) > MOST_CALLS:
                self._answered.popitem(last=False)
        await self._write(line.tool, line)

    async def judged(self, outcome: CallOutcome) -> None:
        """Write what was found of an answer that this replica has given."""
        tool = self._answered.pop(outcome.call_id, None)
        if tool is not None:
            line = ModelJudged(call_id=outcome.call_id, at=self.clock(), tool=tool, verified=outcome.verified)
            await self._write(tool, line)

    async def _write(self, tool: str, line: CallLine) -> None:
        try:
            with anyio.fail_after(WRITE_S, shield=True):
                await self.journal.append(topic_of(tool), line)
        except (FaultError, TimeoutError) as error:
            log.warning(NOT_WRITTEN, reason=type(error).__name__)


def model_span(name: ModelName, call: CallModel, reason: RouteReason) -> AbstractContextManager[Span]:
    """Record the request to a model inside, by OpenTelemetry's conventions for generative AI."""
    if not tracing_on():
        return span("chat")
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDER_NAMES.get(name.provider, name.provider.value),
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
    """Set the attributes of a span: what was answered by whom, in figures."""
    usage = completion.usage
    of.set_attribute("gen_ai.response.model", completion.model)
    of.set_attribute("gen_ai.usage.input_tokens", usage.input)
    of.set_attribute("gen_ai.usage.output_tokens", usage.output)
    of.set_attribute("gen_ai.usage.cache_read.input_tokens", usage.cache_read)
    of.set_attribute("gen_ai.usage.cache_creation.input_tokens", usage.cache_write)


def topic_of(tool: str) -> str:
    """Return the topic of a tool's calls: one token of a subject."""
    return tool.replace(".", "-")


def preview(text: str) -> str:
    """Return the beginning of a text without credentials."""
    beginning = text[:_READ_CHARS]
    if len(beginning) < len(text):
        beginning = beginning.rpartition(" ")[0]  # a credential that was cut in two would not be known as one
    return redact.text(beginning)[:PREVIEW_CHARS]


def asked_text(call: CallModel) -> str:
    """Return what was asked last."""
    for message in reversed(call.messages):
        if message.role == "user":
            return next((part.text for part in message.parts if isinstance(part, TextPart)), "")
    return ""


async def digest_of(messages: Sequence[ModelMessage]) -> str:
    """Return the SHA-256 of what is asked, in hex."""
    encoded = msgspec.json.encode(messages)
    if len(encoded) > _LARGE_BYTES:
        return await to_thread.run_sync(_sha256, encoded)
    return _sha256(encoded)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
