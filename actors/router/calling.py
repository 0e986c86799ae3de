"""One call of a model, from the decision to the answer: the model that is decided for, or else those after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from actors.router.faults import all_failed, nobody_to_ask
from actors.router.provider import ProviderError
from actors.router.reactions import REACTIONS, SHORT_WAIT_MS
from actors.router.recording import asked_text, digest_of, preview
from actors.router.table import RoutePlan
from actors.router.text_stream import TextStream
from actors.router.tries import CallDependencies, CallInHand, ModelResult, ModelTries
from protocol.faults import Code, FaultError
from protocol.models import CallErrorKind, CallModel, ModelAnswer, ModelName, RouteReason, TokenUsage

MOST_MODELS: Final = 4
"""Models that one call asks at most."""


async def call_model(dependencies: CallDependencies, call: CallModel) -> ModelAnswer:
    """Answer a call.

    Raises:
        FaultError: CONFIG_NO_MODEL, where nobody can be asked; RATE_LIMIT_BUDGET; NETWORK_MODEL_FAILED, where nobody
            has answered; VALIDATION_INVALID_REQUEST, where the schema is none.
    """
    return await _Call(dependencies, call).run()


@dataclass
class _Call:
    dependencies: CallDependencies
    call: CallModel
    started: float = field(default_factory=anyio.current_time)

    async def run(self) -> ModelAnswer:
        """Ask one model after the other, until one answers or refuses to."""
        plan = await self._planned()
        hand = await self._in_hand()
        chooser, refusal, failure = self.dependencies.chooser, None, None
        for place, name in enumerate(plan.usable[:MOST_MODELS]):
            if place and chooser.why_not(name):
                continue  # its key was refused a moment ago
            reason = RouteReason.FALLBACK if place else plan.decision.reason
            tries = ModelTries(self.dependencies, hand, name, reason, others=place + 1 < len(plan.usable))
            try:
                result = await tries.run()
            except FaultError as error:
                if error.fault.code is not Code.RATE_LIMIT_BUDGET:
                    raise
                refusal = refusal or error  # another may cost less, or nothing
            except ProviderError as error:
                chooser.release(self.call)
                if error.kind is CallErrorKind.REFUSED:
                    return self._answer(plan, hand, name, reason, None)
                failure = error
                if not REACTIONS[error.kind].falls_back:
                    break
            else:
                chooser.answered(self.call, name, reason, plan.rule)
                return self._answer(plan, hand, name, reason, result)
        if failure is None and refusal is not None:
            raise refusal
        raise all_failed(hand.attempts, chooser.soonest_ms(plan))

    async def _planned(self) -> RoutePlan:
        """Decide, and wait a moment for who is left alone for no longer than that."""
        chooser = self.dependencies.chooser
        plan = chooser.choose(self.call)
        soonest_ms = None if plan.usable else chooser.soonest_ms(plan)
        if soonest_ms is not None and soonest_ms <= SHORT_WAIT_MS:
            await anyio.sleep(soonest_ms / 1_000)
            plan = chooser.choose(self.call)
        if not plan.usable:
            raise nobody_to_ask(self.call, plan, soonest_ms)
        return plan

    async def _in_hand(self) -> CallInHand:
        call = self.call
        stream = TextStream(self.dependencies.bus, call.watch) if call.watch is not None else None
        digest = await digest_of(call.messages)
        return CallInHand(call=call, stream=stream, digest=digest, asked_preview=preview(asked_text(call)))

    def _answer(
        self, plan: RoutePlan, hand: CallInHand, name: ModelName, reason: RouteReason, result: ModelResult | None
    ) -> ModelAnswer:
        """Return what a model answered; None: it refused."""
        answer = ModelAnswer(
            call_id=hand.call_id,
            text="",
            requested=ModelName(provider=plan.decision.provider, model=plan.decision.model),
            served=name,
            reason=reason,
            finish="refused",
            usage=TokenUsage(),
            latency_ms=round((anyio.current_time() - self.started) * 1_000),
            attempts=tuple(hand.attempts),
        )
        return answer if result is None else result.written_into(answer)
