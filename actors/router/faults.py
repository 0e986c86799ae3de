"""The faults of calls of models: why there is no answer, and the way out. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from actors.router.table import KEYLESS, RoutePlan
from protocol.actions import ANSWER_LOCALLY, REPORT, RETRY, Action, ranked
from protocol.faults import Code, FaultError, fault
from protocol.models import CallModel, ModelAttempt, ModelName


def nobody_to_ask(call: CallModel, plan: RoutePlan, soonest_ms: int | None) -> FaultError:
    """Return why no model can be asked; `soonest_ms`: when one can that is only left alone for a while."""
    reasons = ", ".join(f"{_named(one.name)}: {one.why_not}" for one in plan.decision.candidates if one.why_not)
    if soonest_ms is not None:
        message = f"No model can be asked at the moment ({reasons})."
        return FaultError(fault(Code.NETWORK_MODEL_FAILED, message, actions=_later(soonest_ms)))
    if call.pin is not None:
        message = f"{_named(call.pin)} cannot be asked: {plan.decision.candidates[0].why_not}."
        return FaultError(fault(Code.CONFIG_NO_MODEL, message, field="model"))
    if {one.why_not for one in plan.decision.candidates} == {KEYLESS}:
        message = "No provider of models has credentials."
        return FaultError(fault(Code.CONFIG_NO_MODEL, message))
    return FaultError(fault(Code.CONFIG_NO_MODEL, f"No model can be asked ({reasons})."))


def all_failed(attempts: Sequence[ModelAttempt], soonest_ms: int | None) -> FaultError:
    """Return how the tries of a call have failed, each model by its last one."""
    last = {attempt.name: attempt for attempt in attempts}
    failures = "; ".join(f"{_named(name)}: {attempt.message or attempt.error}" for name, attempt in last.items())
    message = f"No model has answered ({failures})."
    return FaultError(fault(Code.NETWORK_MODEL_FAILED, message, actions=_later(soonest_ms)))


def too_dear(name: ModelName, estimate_usd: float | None, limit_usd: float) -> FaultError:
    """Return that a model may cost more than the call allows."""
    may = "has no known price" if estimate_usd is None else f"may cost {estimate_usd:.4f} USD"
    message = f"{_named(name)} {may}, and this call may cost {limit_usd:g} USD."
    return FaultError(fault(Code.RATE_LIMIT_BUDGET, message, field="maxCostUsd"))


def wrong_schema(what: str) -> FaultError:
    """Return what is wrong with the schema of a call."""
    message = f"output.schema is no JSON Schema (2020-12): {what}"
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="schema"))


def _later(soonest_ms: int | None) -> tuple[Action, ...]:
    wait = structs.replace(RETRY, suggested_delay_ms=max(soonest_ms, 1)) if soonest_ms else RETRY
    return ranked((wait, ANSWER_LOCALLY, REPORT))


def _named(name: ModelName) -> str:
    return f"{name.provider}/{name.model}"
