"""Asks models through the router, and adds up who has answered and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec import structs

from bus import Requester
from bus.context import conversation_id, remaining_ms
from protocol.agent import TransformType
from protocol.answers import LOCAL, ServedBy, Sources
from protocol.faults import Code, FaultError, fault
from protocol.models import CallModel, ModelAnswer, ModelMessage, OutputSchema, ToolDefinition
from protocol.replicas import Watch
from protocol.subjects import CALL_MODEL

_RESERVE_MS: Final = 3_000
"""What is left of the time allowed for an answer without a model, should the models take too long."""

SUMMARIZE, ANSWER, EXTRACT, SELECT = "web_summarize", "web_answer", "web_extract", "web_select"
PLAN, PERMIT = "agent_plan", "agent_permit"
"""What models are asked for: the names by which the router routes."""

TRANSFORM_PREFIX: Final = "transform_"
"""Before the type of a text: `transform_timeline`."""

MAX_TOKENS: Final = MappingProxyType(
    {SUMMARIZE: 2_048, ANSWER: 2_048, EXTRACT: 8_192, SELECT: 1_024, PLAN: 2_048, PERMIT: 512}
    | {f"{TRANSFORM_PREFIX}{kind.value}": 8_192 for kind in TransformType}
)
"""How much a model may write."""

LOCAL_ONLY = "No model was to be asked."
NO_TIME = "No time was left to ask a model."
NO_MONEY = "What this request may cost is spent."
REFUSED = "The model refused to answer."


@dataclass
class ModelCalls:
    """The calls of models that one request takes; `served` is what they came to so far."""

    bus: Requester
    request: Sources
    served: ServedBy = field(default_factory=lambda: ServedBy(provider=LOCAL))

    async def call(  # noqa: PLR0913 - what a call of a model takes
        self,
        tool: str,
        messages: Sequence[ModelMessage],
        *,
        tools: Sequence[ToolDefinition] = (),
        output: OutputSchema | None = None,
        watch: Watch | None = None,
        among: int = 1,
    ) -> ModelAnswer:
        """Ask a model; the call is one `among` so many that share what the request may still cost.

        Raises:
            FaultError: none has answered, or none may be asked: no time or no money is left.
        """
        request = CallModel(
            tool=tool,
            messages=tuple(messages),
            tools=tuple(tools),
            output=output,
            max_tokens=MAX_TOKENS[tool],
            pin=self.request.pin,
            conversation=conversation_id() or "",
            caller=self.request.caller,
            max_cost_usd=self._money_left(among),
            watch=watch,
        )
        answer = await self.bus.call(CALL_MODEL, request, timeout_ms=_time_left_ms())
        self._add(answer)
        if answer.finish == "refused":
            raise FaultError(fault(Code.CONTENT_EMPTY, REFUSED))
        return answer

    def local(self, why: str) -> ServedBy:
        """Return who has answered where no model has, for all that was asked and paid."""
        return structs.replace(self.served, provider=LOCAL, model=None, why_local=why)

    def _money_left(self, among: int) -> float | None:
        limit = self.request.max_cost_usd
        if limit is None:
            return None
        left = limit - (self.served.cost_usd or 0.0)
        if left <= 0:
            raise FaultError(fault(Code.RATE_LIMIT_EXCEEDED, NO_MONEY))
        return left / among

    def _add(self, answer: ModelAnswer) -> None:
        served = self.served
        known = served.calls == 0 or served.cost_usd is not None
        cost = answer.cost_usd
        self.served = ServedBy(
            provider=answer.served.provider,
            model=answer.served.model,
            requested=answer.requested,
            reason=answer.reason,
            calls=served.calls + 1,
            usage=served.usage + answer.usage,
            cost_usd=(served.cost_usd or 0.0) + cost if known and cost is not None else None,
        )


def _time_left_ms() -> int | None:
    left = remaining_ms()
    if left is None:
        return None
    if left <= _RESERVE_MS:
        raise FaultError(fault(Code.INTERNAL_DEADLINE, NO_TIME))
    return min(left - _RESERVE_MS, CALL_MODEL.timeout_ms)
