"""Errors as clients of 001 get them: its envelope with its codes, made of what every other client gets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from protocol.browse import StructuredError
from protocol.faults import Code

CODES: Final[Mapping[Code, str]] = MappingProxyType(
    {
        Code.AUTH_INVALID_CREDENTIALS: "UNAUTHORIZED",
        Code.AUTH_INSUFFICIENT_SCOPE: "FORBIDDEN",
        Code.SECURITY_ORIGIN_REFUSED: "FORBIDDEN",
        Code.SECURITY_CHANNEL_FORBIDDEN: "CHANNEL_FORBIDDEN",
        Code.VALIDATION_INVALID_REQUEST: "VALIDATION_ERROR",
        Code.VALIDATION_UNKNOWN_TASK: "TASK_NOT_FOUND",
        Code.VALIDATION_UNKNOWN_CHAT: "SESSION_NOT_FOUND",
        Code.VALIDATION_TASK_OVER: "TASK_COMPLETED",
        Code.VALIDATION_CHAT_ARCHIVED: "SESSION_ARCHIVED",
        Code.RATE_LIMIT_EXCEEDED: "RATE_LIMIT",
        Code.RATE_LIMIT_BUDGET: "QUOTA_EXCEEDED",
        Code.INTERNAL_BUSY: "RESOURCE_CONFLICT",
        Code.INTERNAL_DEADLINE: "TIMEOUT",
        Code.NETWORK_TIMEOUT: "TIMEOUT",
        Code.NETWORK_MODEL_FAILED: "LLM_ERROR",
        Code.CONFIG_NO_MODEL: "LLM_ERROR",
        Code.CONFIG_STORAGE_FULL: "DATABASE_ERROR",
    }
)
"""The codes of 001 for ours; any other one goes by the status that it is answered with."""

_BY_STATUS: Final[Mapping[int, str]] = MappingProxyType(
    {404: "NOT_FOUND", 405: "INVALID_REQUEST", 409: "RESOURCE_CONFLICT", 413: "INVALID_REQUEST"}
    | {415: "INVALID_REQUEST", 421: "FORBIDDEN", 502: "EXTERNAL_SERVICE_ERROR", 504: "TIMEOUT"}
)
_INTERNAL: Final = "INTERNAL_ERROR"
_MS: Final = 1_000


class InteractFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """An error in the envelope of 001: `message` and `error` are the same words; `retryAfter` in seconds.

    `details` has our own code, whether trying again may help, the field at fault and what to do next.
    """

    success: Literal[False] = False
    code: str
    message: str
    error: str
    details: dict[str, Any] | UnsetType = UNSET
    retry_after: int | UnsetType = UNSET


def to_interact_failure(error: StructuredError, status: int) -> InteractFailure:
    """Put an error that is answered with a status into the envelope of 001."""
    usual = CODES.get(error.code, _INTERNAL)
    code = usual if usual not in {"VALIDATION_ERROR", _INTERNAL} else _BY_STATUS.get(status, usual)
    delays = [one.suggested_delay_ms for one in error.recommended_actions if one.suggested_delay_ms]
    details: dict[str, Any] = {"code": error.code, "retryable": error.retryable}
    if error.field is not UNSET:
        details["field"] = error.field
    if error.recommended_actions:
        details["recommendedActions"] = error.recommended_actions
    return InteractFailure(
        code=code,
        message=error.error,
        error=error.error,
        details=details,
        retry_after=max(min(delays) // _MS, 1) if delays and error.retryable else UNSET,
    )
