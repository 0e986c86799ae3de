"""The states of a task on a page, and the transitions between them (001 §3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from protocol.acting.tasks import ActingStatus


class ActingTrigger(StrEnum):
    """What can happen to a task."""

    PLANNED = "planned"
    CHOSEN = "chosen"
    PERFORMED = "performed"
    STEP_SUCCEEDED = "step_succeeded"
    STEP_FAILED = "step_failed"
    STEP_OVER = "step_over"
    NOTED = "noted"
    PAUSED = "paused"
    RESUMED = "resumed"
    COMPLETED = "completed"
    GIVEN_UP = "given_up"


_S, _T = ActingStatus, ActingTrigger

_ENDS: Final = {_T.COMPLETED: _S.COMPLETED, _T.GIVEN_UP: _S.FAILED}
_JUDGED: Final = {_T.STEP_SUCCEEDED: _S.EXECUTING, _T.STEP_FAILED: _S.CORRECTING}
_AT_WORK: Final = {
    _T.PLANNED: _S.EXECUTING,
    _T.PERFORMED: _S.VERIFYING,
    _T.STEP_OVER: _S.EXECUTING,
    _T.PAUSED: _S.NEEDS_USER_INPUT,
    **_JUDGED,
    **_ENDS,
}

TRANSITIONS: Final[Mapping[ActingStatus, Mapping[ActingTrigger, ActingStatus]]] = MappingProxyType(
    {
        _S.PLANNING: {
            _T.PLANNED: _S.EXECUTING,
            _T.NOTED: _S.PLANNING,
            _T.PAUSED: _S.NEEDS_USER_INPUT,
            **_ENDS,
        },
        _S.EXECUTING: {**_AT_WORK, _T.CHOSEN: _S.EXECUTING, _T.NOTED: _S.EXECUTING},
        _S.CORRECTING: {**_AT_WORK, _T.CHOSEN: _S.CORRECTING, _T.NOTED: _S.CORRECTING},
        _S.VERIFYING: {**_JUDGED, **_ENDS, _T.PERFORMED: _S.VERIFYING, _T.PAUSED: _S.NEEDS_USER_INPUT},
        _S.NEEDS_USER_INPUT: {_T.RESUMED: _S.EXECUTING, _T.GIVEN_UP: _S.FAILED},
        _S.COMPLETED: {},
        _S.FAILED: {},
    }
)
"""What a task is at next, by what it is at and what happens; what is missing here cannot happen."""
