"""What a client asks of an offering actor, and what comes of it: the same over the bus whatever its era."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, InputResponseRequestParams

from actors.gateway.app_context import AppContext
from actors.gateway.mcp.offers import inputs
from actors.gateway.mcp.offers.clients import Context, declared, is_modern, need_answers
from actors.gateway.mcp.offers.handles import Handles
from actors.gateway.mcp.offers.known import Offers
from actors.gateway.mcp.offers.progress_messages import hearing
from actors.gateway.mcp.offers.written import MAX_ANSWER_BYTES, Wire, input_required, is_too_long, refusal
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import AskOffer, Wanted
from protocol.offers.results import InputRequired, OfferAnswer, Outcome, Refused
from protocol.subjects import OFFERED

MAX_ROUNDS = 10
"""How often one request may come back for something of the user."""

DEFAULT_MS = 60_000


@dataclass(frozen=True)
class Shop:
    """What is needed to have offering actors work for clients."""

    app: AppContext
    offers: Offers
    handles: Handles

    async def ask(
        self,
        context: Context,
        actor: str,
        do: Wanted,
        params: InputResponseRequestParams | None = None,
        timeout_ms: int = DEFAULT_MS,
    ) -> Outcome:
        """Have an actor do this for the client; what it wants of an older client is asked at once.

        InputRequired is answered for newer clients alone, who come again with what was wanted.

        Raises:
            FaultError: the actor failed, or is not there, or took too long.
            MCPError: the actor refused, or the client lacks what it takes.
        """
        who = context.lifespan_context.caller
        question = AskOffer(
            do=do,
            caller=who.name,
            local=who.local,
            capabilities=declared(context),
            responses=_given(params),
            state=_state(params),
        )
        async with hearing(self.offers, self.app.watchers.replica, context) as ear:
            question = msgspec.structs.replace(question, watch=ear.watch)
            said = 0
            for _ in range(MAX_ROUNDS):
                answer = await self._once(actor, question, timeout_ms)
                came, said = answer.outcome, said + answer.messages
                await ear.until(said)
                if isinstance(came, Refused):
                    raise refusal(came)
                if not isinstance(came, InputRequired):
                    return came
                if is_modern(context):
                    need_answers(context, [request.method for request in came.requests.values()])
                    return came
                responses = await inputs.answers(context, came.requests)
                question = msgspec.structs.replace(question, responses=responses, state=came.state)
        raise MCPError(INTERNAL_ERROR, f"This was not done after {MAX_ROUNDS} rounds of questions")

    async def _once(self, actor: str, question: AskOffer, timeout_ms: int) -> OfferAnswer:
        call = OFFERED.at(actor=actor)
        answer = await self.app.bus.call(call, question, timeout_ms=timeout_ms, wait_ms=self.app.grace_ms)
        if is_too_long(answer.outcome):
            message = f"The answer is longer than {MAX_ANSWER_BYTES // 1024 // 1024} MiB"
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, message))
        return answer


def unexpected(came: Outcome) -> MCPError:
    """Return the error for an answer to something else."""
    return MCPError(INTERNAL_ERROR, f"The actor that offers this answered with {type(came).__name__}")


def wanted(came: InputRequired) -> Wire:
    """Write what a client is to come back with."""
    return input_required(came.requests, came.state)


def _given(params: InputResponseRequestParams | None) -> dict[str, dict[str, Any]]:
    given = {} if params is None else params.input_responses or {}
    return {name: one.model_dump(by_alias=True, mode="json", exclude_none=True) for name, one in given.items()}


def _state(params: InputResponseRequestParams | None) -> str | None:
    return None if params is None else params.request_state
