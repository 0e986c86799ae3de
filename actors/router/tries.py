"""The tries of one model for a call: each is paid for, traced and written down, whatever comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio
import msgspec
import stamina
import structlog
from anyio import get_cancelled_exc_class
from msgspec import Struct, structs

from actors.router import pricing, structured_output
from actors.router.budget import Hold, ModelBudget
from actors.router.choosing import Chooser
from actors.router.faults import too_dear, wrong_schema
from actors.router.provider import ModelRequest, ProviderError
from actors.router.reactions import FIRST_PAUSE_S, LONGEST_PAUSE_S, pause_ms
from actors.router.recording import CallRecorder, describe, model_span, preview
from actors.router.structured_output import InvalidSchemaError, LearnedCapabilities, ModelPort, StructuredAnswer
from actors.router.text_stream import TextStream
from bus import Publisher, remaining_ms
from bus.clock import now_ms
from bus.context import new_id
from protocol.models import (
    CallErrorKind,
    CallModel,
    ModelAnswer,
    ModelAttempt,
    ModelCalled,
    ModelName,
    RouteReason,
    TokenUsage,
)

log = structlog.stdlib.get_logger()

MODEL_FAILED: Final = "model_failed"

FIRST_TOKEN_MS: Final = 60_000
LOCAL_FIRST_TOKEN_MS: Final = 240_000
"""How long it may take until a model writes; one of the operator's own may have to be loaded first."""

MOST_TRIES: Final = 5
"""Of one model; its reactions allow fewer."""


class CallDependencies(Struct, frozen=True, kw_only=True):
    """What calls are made with, the same for all."""

    bus: Publisher
    chooser: Chooser
    budget: ModelBudget
    recorder: CallRecorder
    learned: LearnedCapabilities = msgspec.field(default_factory=LearnedCapabilities)


@dataclass(kw_only=True)
class CallInHand:
    """A call that is being answered, with what has become of it so far."""

    call: CallModel
    stream: TextStream | None
    digest: str
    asked_preview: str
    call_id: str = field(default_factory=lambda: f"call_{new_id()}")
    attempts: list[ModelAttempt] = field(default_factory=list[ModelAttempt])
    spent_usd: float = 0.0


class ModelResult(Struct, frozen=True, kw_only=True):
    """What a model answered, and what that cost; None: no price is known."""

    answer: StructuredAnswer
    cost_usd: float | None

    def written_into(self, draft: ModelAnswer) -> ModelAnswer:
        """Return the answer to a call with what the model has completed; `draft.served` is who was asked."""
        completion = self.answer.completion
        return structs.replace(
            draft,
            text=completion.text,
            served=structs.replace(draft.served, model=completion.model or draft.served.model),
            finish=completion.finish,
            usage=completion.usage,
            cost_usd=self.cost_usd,
            data=self.answer.data,
            structured=self.answer.means,
            tool_calls=completion.tool_calls,
        )


@dataclass
class ModelTries:
    """Asks one model; `others`: another can be asked after it, so that it need not have all the time that is left."""

    dependencies: CallDependencies
    hand: CallInHand
    name: ModelName
    reason: RouteReason
    others: bool

    async def run(self) -> ModelResult:
        """Ask until there is an answer, or an error after which the same model is not asked again.

        Raises:
            ProviderError: there is none.
            FaultError: it may cost more than is left; the schema is none.
        """
        tries, ended = 0, anyio.current_time()

        def again(error: Exception) -> bool | float:
            pause = pause_ms(error.kind, tries, error.retry_after_ms) if isinstance(error, ProviderError) else None
            return pause / 1_000 if pause else pause is not None

        try:
            async for attempt in stamina.retry_context(
                on=again,
                attempts=MOST_TRIES,
                timeout=None,
                wait_initial=FIRST_PAUSE_S,
                wait_max=LONGEST_PAUSE_S,
                wait_jitter=FIRST_PAUSE_S,
            ):
                with attempt:
                    tries, waited_ms = tries + 1, _ms_since(ended)
                    try:
                        return await _Try(self, waited_ms).run()
                    finally:
                        ended = anyio.current_time()
        except ProviderError as error:
            self.dependencies.chooser.failed(self.name, error)
            log.info(MODEL_FAILED, provider=self.name.provider.value, model=self.name.model, kind=error.kind.value)
            raise
        raise AssertionError  # pragma: no cover - it returns or raises


@dataclass
class _Try:
    """One try."""

    tries: ModelTries
    waited_ms: int
    begun: float = field(default_factory=anyio.current_time)

    async def run(self) -> ModelResult:
        """Hold what it may cost, ask, and settle."""
        request = self._request()
        hold = await self._hold(request)
        try:
            result = await self._complete(request)
        except ProviderError as error:
            cost_usd = await self._cost(error.usage)
            self._settle(hold, None if self._began_to_answer() else cost_usd or 0.0)
            await self._record(error.kind, message=str(error), usage=error.usage, cost_usd=cost_usd)
            raise
        except get_cancelled_exc_class():
            self._settle(hold, None)
            with anyio.CancelScope(shield=True):
                await self._record(CallErrorKind.CANCELLED)
            raise
        except BaseException:
            self._settle(hold, 0.0)
            raise
        self._settle(hold, result.cost_usd)
        completion = result.answer.completion
        error_kind = CallErrorKind.REFUSED if completion.finish == "refused" else None
        cut = completion.finish == "length"
        await self._record(
            error_kind, usage=completion.usage, cost_usd=result.cost_usd, text=completion.text, truncated=cut
        )
        return result

    async def _complete(self, request: ModelRequest) -> ModelResult:
        dependencies, name, stream = self.tries.dependencies, self.tries.name, self.tries.hand.stream
        port = ModelPort(
            client=dependencies.chooser.pool.client(name.provider),
            name=name,
            capabilities=dependencies.chooser.capabilities(name.provider),
            learned=dependencies.learned,
        )
        if stream is not None:
            stream.begin()
        with model_span(name, self.tries.hand.call, self.tries.reason) as span:
            try:
                answer = await structured_output.answer(port, request, stream.write if stream is not None else None)
            except ProviderError as error:
                span.set_attribute("error.type", error.kind.value)
                span.fail(error.kind.value)
                raise
            except InvalidSchemaError as error:
                raise wrong_schema(str(error)) from None
            describe(span, answer.completion)
        return ModelResult(answer=answer, cost_usd=await self._cost(answer.completion.usage))

    def _request(self) -> ModelRequest:
        call, left_ms = self.tries.hand.call, remaining_ms()
        local = self.tries.dependencies.chooser.capabilities(self.tries.name.provider).local
        first_token_ms = LOCAL_FIRST_TOKEN_MS if local else FIRST_TOKEN_MS
        if left_ms is not None and self.tries.others:
            first_token_ms = min(first_token_ms, max(left_ms // 2, 1))
        return ModelRequest(
            model=self.tries.name.model,
            messages=call.messages,
            tools=call.tools,
            output=call.output,
            max_tokens=call.max_tokens,
            temperature=call.temperature,
            first_token_ms=first_token_ms,
        )

    async def _hold(self, request: ModelRequest) -> Hold:
        """Hold what this try may cost; a bound of the call itself goes first."""
        call, spent_usd = self.tries.hand.call, self.tries.hand.spent_usd
        kind = self.tries.dependencies.chooser.kinds[self.tries.name.provider]
        estimate_usd = await pricing.estimate(kind, request)
        if call.max_cost_usd is not None and (estimate_usd is None or spent_usd + estimate_usd > call.max_cost_usd):
            raise too_dear(self.tries.name, estimate_usd, call.max_cost_usd)
        return await self.tries.dependencies.budget.hold(call.caller, call.run, estimate_usd)

    def _began_to_answer(self) -> bool:
        """Return whether words have come, which cost as much as was held for all that anybody knows."""
        stream = self.tries.hand.stream
        return stream is not None and stream.written

    def _settle(self, hold: Hold, cost_usd: float | None) -> None:
        hold.settle(cost_usd)
        self.tries.hand.spent_usd += cost_usd or 0.0

    async def _cost(self, usage: TokenUsage) -> float | None:
        kind = self.tries.dependencies.chooser.kinds[self.tries.name.provider]
        return await pricing.cost_usd(kind, self.tries.name.model, usage)

    async def _record(  # noqa: PLR0913 - what came of a try
        self,
        error_kind: CallErrorKind | None,
        *,
        message: str = "",
        usage: TokenUsage = TokenUsage(),  # noqa: B008 - frozen
        cost_usd: float | None = None,
        text: str = "",
        truncated: bool = False,
    ) -> None:
        """Note what came of it, for the caller and in the journal."""
        hand, name, latency_ms = self.tries.hand, self.tries.name, _ms_since(self.begun)
        hand.attempts.append(
            ModelAttempt(name=name, latency_ms=latency_ms, error=error_kind, message=message, waited_ms=self.waited_ms)
        )
        line = ModelCalled(
            call_id=hand.call_id,
            at=now_ms(),
            tool=hand.call.tool,
            provider=name.provider,
            model=name.model,
            success=error_kind is None,
            latency_ms=latency_ms,
            reason=self.tries.reason,
            cost_usd=cost_usd,
            usage=usage,
            error_kind=error_kind,
            conversation=hand.call.conversation,
            caller=hand.call.caller,
            run=hand.call.run,
            digest=hand.digest,
            asked_preview=hand.asked_preview,
            answer_preview=preview(text),
            truncated=truncated,
        )
        self.tries.dependencies.chooser.count(line)
        await self.tries.dependencies.recorder.called(line)


def _ms_since(then: float) -> int:
    return round((anyio.current_time() - then) * 1_000)
