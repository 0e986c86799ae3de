"""The errors of what is asked about runs, as their contract has them (002 §7.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from actors.gateway.translate import one_line, to_error
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.browsers.errors import ERROR_CODES, ErrorCode
from protocol.faults import Action, Category, Code, Fault, FaultContext

RUNTIME_CODES: Final = frozenset(
    {
        Code.TEMPLATE_NOT_FOUND,
        Code.TEMPLATE_VERSION_UNSUPPORTED,
        Code.TRUST_LEVEL_NOT_ALLOWED,
        Code.RUN_NOT_FOUND,
        Code.RUN_TIMEOUT,
        Code.RUN_CANCELED,
        Code.STEP_EXECUTION_FAILED,
        Code.TPL_LOGIN_FIELD_NOT_FOUND,
        Code.ARTIFACT_NOT_FOUND,
        Code.ARTIFACT_EXPIRED,
    }
)
"""The codes of the layer of runs (002 §7.1); every other one is told by the code of the tool layer."""


class RunFaultDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was asked for, which part of the request is at fault, and where a run failed."""

    run_id: str | UnsetType = UNSET
    template_id: str | UnsetType = UNSET
    artifact_id: str | UnsetType = UNSET
    field: str | UnsetType = UNSET
    failed_step: str | UnsetType = UNSET
    step_error_code: str | UnsetType = UNSET


class RunFault(Struct, frozen=True, kw_only=True, rename="camel"):
    """An error about runs (002 §7.2); what follows `details` are the fields of a StructuredError, which are added."""

    error: str
    error_code: str
    recover_hint: str
    details: RunFaultDetails
    category: Category = Category.INTERNAL
    code: Code = Code.INTERNAL_ERROR
    retryable: bool = False
    recommended_actions: tuple[Action, ...] = ()
    schema_version: str = SCHEMA_VERSION
    http_status: int | UnsetType = UNSET
    field: str | UnsetType = UNSET
    context: FaultContext | UnsetType = UNSET


def to_run_fault(
    told: Fault, *, run_id: str | None = None, template_id: str | None = None, artifact_id: str | None = None
) -> RunFault:
    """Return a fault as a client that asked about runs gets it; what it named is told with it."""
    error = to_error(told)
    return RunFault(
        **{name: getattr(error, name) for name in StructuredError.__struct_fields__},
        error_code=error_code(told.code),
        recover_hint=told.actions[0].description if told.actions else _NOTHING_TO_DO,
        details=RunFaultDetails(
            run_id=run_id or UNSET,
            template_id=template_id or UNSET,
            artifact_id=artifact_id or UNSET,
            field=told.field or UNSET,
        ),
    )


def run_fault_of(told: Fault, arguments: Mapping[str, Any]) -> RunFault:
    """Return a fault of a call with these arguments, as JSON has them, whatever they were."""
    named = {name: value for name in _NAMED if isinstance(value := arguments.get(name), str)}
    return to_run_fault(
        told,
        run_id=_short(named.get("runId")),
        template_id=_short(named.get("templateId")),
        artifact_id=_short(named.get("artifactId")),
    )


def error_code(code: Code) -> str:
    """Return the code of the contract for one of ours (002 §7.1)."""
    if code in RUNTIME_CODES:
        return code.value
    if code is Code.INTERNAL_DEADLINE:  # no page was gone to here
        return ErrorCode.EXECUTION_ERROR.value
    return ERROR_CODES.get(code, ErrorCode.EXECUTION_ERROR).value


def run_fault_text(error: RunFault) -> str:
    """Write an error so that a model can act on it: what happened, then what to do."""
    again = "trying again may help" if error.retryable else "trying again unchanged will not help"
    lines = [f"{one_line(error.error)} [{error.error_code}; {again}]"]
    if error.details.field:
        lines.append(f"Argument at fault: {error.details.field}")
    lines.append(error.recover_hint)
    tools = dict.fromkeys(action.tool_to_use for action in error.recommended_actions if action.tool_to_use)
    return "\n".join([*lines, *(f"Next: {tool}" for tool in tools)])


def _short(given: str | None) -> str | None:
    return None if given is None else given[:_MAX_QUOTED_CHARS]


_NAMED: Final = ("runId", "templateId", "artifactId")
_MAX_QUOTED_CHARS: Final = 200
_NOTHING_TO_DO: Final = "Correct the request and send it again."
